/* What surrounds a program: its environment's info, control of profiling, and
   the tools' variables. */
#include "test.h"

static void say_key_of(MPI_Info info, const char *key) {
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int there = 0, length = -1;
  MPI_Info_get_valuelen(info, key, &length, &there);
  if (!there) {
    length = -1;
  }
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
  printf("rank %d: %s: %d %d %s\n", rank, key, there, length,
         there ? value : "");
}

/* A copy says the same. */
static void say_key(const char *key) {
  MPI_Info copy;
  say_key_of(MPI_INFO_ENV, key);
  MPI_Info_dup(MPI_INFO_ENV, &copy);
  say_key_of(copy, key);
  MPI_Info_free(&copy);
}

static void infos(void) {
  char value[20] = "";
  int there = 0, n = 0;
  MPI_Info info, copy;
#ifdef OPEN_MPI /* MPICH does not say: pems does */
  say_key("maxprocs");
#endif
  say_key("arch");
  say_key("no such key");
  MPI_Info_create(&info);
  MPI_Info_set(info, "a", "1");
  MPI_Info_set(info, "maxprocs", "many");
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "a");
  MPI_Info_get_nkeys(info, &n);
  MPI_Info_get(copy, "a", 19, value, &there);
  if (n != 1 || !there || strcmp(value, "1") != 0) {
    fail("info: %d keys, \"%s\"", n, value);
  }
  MPI_Info_get(copy, "maxprocs", 19, value, &there);
  if (strcmp(value, "many") != 0) {
    fail("info: \"%s\"", value);
  }
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  report("infos");
}

static void begin_tools(void) {
  int provided = -1;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
    fail("MPI_T_init_thread");
  }
  if (provided < MPI_THREAD_SINGLE || provided > MPI_THREAD_MULTIPLE) {
    fail("MPI_T_init_thread provides %d", provided);
  }
}

/* MPICH can be built without looking at what is wrong, as PyPI's is. */
static bool looks(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return !strstr(version, "MPICH");
}

/* Not before it is begun, nor once it has ended, whatever other ranks do. */
static void are_away(const char *when) {
  int n = -1;
  MPI_T_pvar_session session;
  if (!looks()) {
    return;
  }
  if (MPI_T_cvar_get_num(&n) != MPI_T_ERR_NOT_INITIALIZED ||
      MPI_T_pvar_session_create(&session) != MPI_T_ERR_NOT_INITIALIZED) {
    fail("the tools are there %s", when);
  }
}

static void tools(void) {
  int variables = -1, index = -1, n = 0, value = -1;
  MPI_T_cvar_handle handle;
  MPI_T_pvar_session session;
  are_away("at first");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0) {
    begin_tools();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 != 0) {
    are_away("where another rank has begun");
    begin_tools();
  }
  MPI_T_init_thread(MPI_THREAD_SINGLE, &n); /* twice */
  MPI_T_finalize();
  MPI_T_cvar_get_num(&variables);
  if (variables < 100) {
    fail("%d control variables", variables);
  }
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &n) != MPI_SUCCESS ||
      MPI_T_cvar_read(handle, &value) != MPI_SUCCESS || n != 1) {
    fail("a control variable: %d of it", n);
  } else {
    MPI_T_cvar_handle_free(&handle);
  }
  if (MPI_T_cvar_handle_alloc(variables + 1000, NULL, &handle, &n) ==
      MPI_SUCCESS) {
    fail("a control variable that is not there");
  }
  if (MPI_T_pvar_session_create(&session) != MPI_SUCCESS ||
      MPI_T_pvar_session_free(&session) != MPI_SUCCESS) {
    fail("a session");
  }
  if (rank % 2 == 0) {
    MPI_T_finalize();
    are_away("once they have ended");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 != 0) {
    MPI_T_finalize();
    are_away("at last");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  infos();
  MPI_Pcontrol(0);
  MPI_Pcontrol(2, 1, 2.0);
  tools();
  return end();
}
