/* The tools' interface: every control variable, performance variable, category
   and enumeration can be asked for, and the answers fit together. */
#include "test.h"

enum { TEXT = 256 };

static void category_of(int index) {
  char name[TEXT], description[TEXT], again[TEXT];
  int n = TEXT, m = TEXT, cvars = -1, pvars = -1, categories = -1, found = -1;
  if (MPI_T_category_get_info(index, name, &n, description, &m, &cvars, &pvars,
                              &categories) != MPI_SUCCESS) {
    return;
  }
  if (MPI_T_category_get_index(name, &found) != MPI_SUCCESS) {
    fail("category %s is not found", name);
  }
  n = TEXT;
  MPI_T_category_get_info(found, again, &n, NULL, NULL, &cvars, &pvars,
                          &categories);
  if (strcmp(name, again) != 0) {
    fail("category %s is %s", name, again);
  }
  int *all = calloc((size_t)(cvars + pvars + categories) + 1, sizeof(*all));
  if (MPI_T_category_get_cvars(found, cvars, all) != MPI_SUCCESS ||
      MPI_T_category_get_pvars(found, pvars, all + cvars) != MPI_SUCCESS ||
      MPI_T_category_get_categories(found, categories, all + cvars + pvars) !=
          MPI_SUCCESS) {
    fail("category %s", name);
  }
  for (int i = 0; i < cvars + pvars + categories; i++) {
    if (all[i] < 0) {
      fail("category %s: member %d is %d", name, i, all[i]);
    }
  }
  free(all);
}

static void categories(void) {
  int n = 0, stamp = -1, later = -1;
  MPI_T_category_changed(&stamp);
  MPI_T_category_get_num(&n);
  if (n < 10) {
    fail("%d categories", n);
  }
  for (int i = 0; i < n; i++) {
    category_of(i);
  }
  MPI_T_category_changed(&later);
  if (stamp < 0 || later < stamp) {
    fail("categories changed: %d, then %d", stamp, later);
  }
  if (MPI_T_category_get_index("no such category", &n) == MPI_SUCCESS) {
    fail("a category that is not there");
  }
}

/* The names and numbers of an enumeration. */
static int items(MPI_T_enum values, const char *variable) {
  char name[TEXT];
  int n = -1, length = TEXT, value;
  if (MPI_T_enum_get_info(values, &n, name, &length) != MPI_SUCCESS || n < 1) {
    fail("%s: an enumeration of %d", variable, n);
    return 0;
  }
  for (int i = 0; i < n; i++) {
    length = TEXT;
    if (MPI_T_enum_get_item(values, i, &value, name, &length) != MPI_SUCCESS ||
        !*name) {
      fail("%s: item %d", variable, i);
    }
  }
  return n;
}

static void write_back(int index, const char *name, int scope) {
  MPI_T_cvar_handle handle;
  int n = 0, value = -1, again = -2;
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &n) != MPI_SUCCESS) {
    return;
  }
  const int readable = MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
  const int code = MPI_T_cvar_write(handle, &value);
  const int never =
      scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY;
  if (never && code != MPI_T_ERR_CVAR_SET_NEVER) {
    fail("%s: writing it: %d", name, code);
  }
  MPI_T_cvar_read(handle, &again);
  /* Open MPI 5 does not read another name of a variable. */
  if (readable ? value != again : strncmp(name, "btl_vader_", 10) != 0) {
    fail("%s: %d, then %d", name, value, again);
  }
  MPI_T_cvar_handle_free(&handle);
}

static void controls(void) {
  int n = 0, enumerations = 0, named = 0;
  MPI_T_cvar_get_num(&n);
  for (int i = 0; i < n; i++) {
    char name[TEXT], description[TEXT];
    int length = TEXT, m = TEXT, verbosity, bind, scope, found = -1;
    MPI_Datatype type;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &values,
                            description, &m, &bind, &scope) != MPI_SUCCESS) {
      continue;
    }
    named += MPI_T_cvar_get_index(name, &found) == MPI_SUCCESS && found == i;
    if (values != MPI_T_ENUM_NULL && ++enumerations <= 20) {
      items(values, name);
    }
    if (type == MPI_INT && i % 10 == 0) {
      write_back(i, name, scope);
    }
  }
  if (named < 100 || enumerations < 5) {
    fail("%d variables have names, %d are enumerations", named, enumerations);
  }
  if (MPI_T_cvar_get_info(-1, NULL, NULL, &n, NULL, NULL, NULL, NULL, &n, &n) ==
      MPI_SUCCESS) {
    fail("control variable -1");
  }
}

/* A variable that is bound to nothing, or to a communicator. Those of networks
   that the machine lacks are left out: Open MPI itself crashes on them. */
static void measure(MPI_T_pvar_session session, int index, const char *name,
                    int bind, int readonly, int continuous) {
  static union {
    double real;
    unsigned long long number;
    char bytes[1 << 12];
  } value;
  MPI_T_pvar_handle handle;
  MPI_Comm comm = MPI_COMM_WORLD;
  int n = -1;
  if (strncmp(name, "pml_ob1", 7) != 0 && strncmp(name, "mpool", 5) != 0) {
    return;
  }
  const int code = MPI_T_pvar_handle_alloc(
      session, index, bind == MPI_T_BIND_NO_OBJECT ? NULL : &comm, &handle, &n);
  if (code != MPI_SUCCESS) {
    if (bind == MPI_T_BIND_NO_OBJECT) {
      fail("%s: no handle: %d", name, code);
    }
    return;
  }
  const int started = MPI_T_pvar_start(session, handle);
  if (continuous != (started == MPI_T_ERR_PVAR_NO_STARTSTOP)) {
    fail("%s: starting it: %d", name, started);
  }
  if ((size_t)n <= sizeof(value) / 8) {
    if (MPI_T_pvar_read(session, handle, &value) != MPI_SUCCESS) {
      fail("%s: reading it", name);
    }
    MPI_T_pvar_readreset(session, handle, &value);
    if (!readonly && MPI_T_pvar_write(session, handle, &value) != MPI_SUCCESS) {
      fail("%s: writing it", name);
    }
  }
  MPI_T_pvar_reset(session, handle);
  const int stopped = MPI_T_pvar_stop(session, handle);
  if (continuous != (stopped == MPI_T_ERR_PVAR_NO_STARTSTOP)) {
    fail("%s: stopping it: %d", name, stopped);
  }
  if (MPI_T_pvar_handle_free(session, &handle) != MPI_SUCCESS ||
      handle != MPI_T_PVAR_HANDLE_NULL) {
    fail("%s: freeing it", name);
  }
}

static void performance(void) {
  MPI_T_pvar_session session;
  char value[16];
  int n = -1;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_num(&n);
  for (int i = 0; i < n; i++) {
    char name[TEXT], description[TEXT];
    int length = TEXT, m = TEXT, verbosity, class, bind, readonly, continuous,
        atomic, found = -1;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type,
                            &values, description, &m, &bind, &readonly,
                            &continuous, &atomic) != MPI_SUCCESS) {
      continue;
    }
    if (MPI_T_pvar_get_index(name, class, &found) != MPI_SUCCESS ||
        found != i) {
      fail("performance variable %s is %d, not %d", name, found, i);
    }
    measure(session, i, name, bind, readonly, continuous);
  }
  if (n < 0 || MPI_T_pvar_get_index("no such name", 0, &n) == MPI_SUCCESS) {
    fail("performance variables: %d", n);
  }
  /* A session without handles: there is nothing to start. */
  if (MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS ||
      MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS ||
      MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS) {
    fail("all handles of none");
  }
  if (MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, value) !=
          MPI_T_ERR_INVALID_HANDLE ||
      MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, value) !=
          MPI_T_ERR_INVALID_HANDLE ||
      MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, value) !=
          MPI_T_ERR_INVALID_HANDLE) {
    fail("all handles are no variable");
  }
  MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv) {
  int provided = -1;
  begin(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  categories();
  MPI_Barrier(MPI_COMM_WORLD);
  controls();
  performance();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_T_finalize();
  return end();
}
