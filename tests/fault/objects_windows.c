/* Windows of all kinds but shared ones, with epochs open, locks held and
   requests not asked for: see objects.h. Who comes first to the end of a step
   has been saved when others change its memory. */
#include "objects.h"

enum { SLOTS = 2, LATE = 3, CELLS = 64 };

static MPI_Win made, given, dynamic, passive, posted, fenced;
static MPI_Group all, others;
static long *mine, *memory, attached[LATE][CELLS], far[CELLS];
static MPI_Aint *addresses;
static MPI_Errhandler handler;
static MPI_Info info;
static MPI_Request request = MPI_REQUEST_NULL;
static long counter, on_window = 77;
static int errors, keyval, holding, starting, showing;

static void failed(MPI_Win *win, int *code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  errors += class + (*win == dynamic);
}

static void attach(void) {
  MPI_Aint here;
  MPI_Win_attach(dynamic, attached, sizeof(attached));
  MPI_Win_attach(dynamic, far, sizeof(far));
  MPI_Get_address(attached, &here);
  addresses = malloc((size_t)size * sizeof(*addresses));
  MPI_Allgather(&here, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void make_groups(void) {
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &rank, &others);
}

static void objects_make(void) {
  static long on_stack_of_main[CELLS];
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  mine = calloc(SLOTS * CELLS, sizeof(*mine));
  MPI_Win_create(mine, SLOTS * CELLS * sizeof(long), sizeof(long), info,
                 MPI_COMM_WORLD, &made);
  MPI_Win_allocate(SLOTS * CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &given);
  memset(memory, 0, SLOTS * CELLS * sizeof(long));
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_create(&counter, sizeof(counter), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &passive);
  MPI_Win_create(on_stack_of_main, sizeof(on_stack_of_main), sizeof(long),
                 MPI_INFO_NULL, MPI_COMM_WORLD, &posted);
  MPI_Win_create(rank % 2 ? NULL : far, rank % 2 ? 0 : sizeof(far),
                 sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &fenced);
  attach();
  make_groups();
  MPI_Win_set_name(given, "a name");
  MPI_Win_create_errhandler(failed, &handler);
  MPI_Win_set_errhandler(dynamic, handler);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval,
                        NULL);
  MPI_Win_set_attr(given, keyval, &on_window);
  MPI_Win_lock_all(0, given);
  MPI_Win_lock_all(0, passive);
  MPI_Win_lock_all(0, dynamic);
  MPI_Win_fence(0, fenced);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* In the slot of the step before nobody writes. */
static void read_old(int s) {
  const int old = (s + 1) % SLOTS;
  note_bytes(mine + old * CELLS, CELLS * sizeof(long));
  note_bytes(memory + old * CELLS, CELLS * sizeof(long));
  /* Accesses to this one of two steps before were waited for in the last. */
  note_bytes(attached[(s + 1) % LATE], sizeof(attached[0]));
}

/* To all; those of the dynamic window are waited for in the next step. */
static void put_to(int to, int s) {
  const long value = 1000 * s + 10 * rank + to;
  const MPI_Aint at = (s % SLOTS) * CELLS + rank;
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, made);
  MPI_Put(&value, 1, MPI_LONG, to, at, 1, MPI_LONG, made);
  MPI_Win_unlock(to, made);
  MPI_Accumulate(&value, 1, MPI_LONG, to, at, 1, MPI_LONG, MPI_SUM, given);
  MPI_Put(&value, 1, MPI_LONG, to,
          addresses[to] + ((s % LATE) * CELLS + rank) * (MPI_Aint)sizeof(long),
          1, MPI_LONG, dynamic);
}

static void count(void) {
  const long one = 1;
  long before;
  MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, passive);
  MPI_Win_flush(0, passive);
  expect(before >= 0 && before < 1000 * size, "the counter");
}

/* A lock that is held from one step to the next, of a neighbour that nobody
   else locks exclusively. */
static void hold_lock(int s) {
  const int to = (rank + 1) % size;
  holding = s % 2 == 0;
  if (holding) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, posted);
  } else {
    const long value = s;
    MPI_Put(&value, 1, MPI_LONG, to, CELLS - 1, 1, MPI_LONG, posted);
    MPI_Win_unlock(to, posted);
  }
}

/* Odd ranks show their memory in one step, to be written to in the next. */
static MPI_Win pscw;
static long shown[CELLS];

static void end_show(void) {
  if (starting) {
    MPI_Win_complete(pscw);
  } else if (showing) {
    MPI_Win_wait(pscw);
    note_bytes(shown, sizeof(shown));
  }
  starting = showing = 0;
}

static void show(int s) {
  MPI_Group even, odd;
  int ranges[2][3] = {{0, size - 1, 2}, {1, size - 1, 2}};
  MPI_Group_range_incl(all, 1, &ranges[0], &even);
  MPI_Group_range_incl(all, 1, &ranges[1], &odd);
  if (s % 3 == 0 && rank % 2) {
    MPI_Win_post(even, 0, pscw);
    showing = 1;
  } else if (s % 3 == 1 && rank % 2 == 0) {
    MPI_Win_start(odd, 0, pscw);
    starting = 1;
    for (int to = 1; to < size; to += 2) {
      const long value = 100 * s + rank;
      MPI_Put(&value, 1, MPI_LONG, to, rank, 1, MPI_LONG, pscw);
    }
  } else if (s % 3 == 2) {
    end_show();
  }
  MPI_Group_free(&even);
  MPI_Group_free(&odd);
}

/* Asked for in the next step. */
static void ask(int s) {
  static long to[CELLS];
  if (request != MPI_REQUEST_NULL) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note_bytes(to, sizeof(to));
  }
  if (s % 2) {
    MPI_Rget(to, CELLS, MPI_LONG, (rank + 1) % size, ((s + 1) % SLOTS) * CELLS,
             CELLS, MPI_LONG, given, &request);
  }
}

static void look(void) {
  char name[MPI_MAX_OBJECT_NAME] = "", value[64] = "";
  int n, flag, *model;
  long *on;
  MPI_Aint *bytes;
  MPI_Info has;
  MPI_Group group;
  MPI_Win_get_name(given, name, &n);
  note_bytes(name, (size_t)n);
  MPI_Win_get_info(made, &has);
  MPI_Info_get(has, "accumulate_ordering", sizeof(value) - 1, value, &flag);
  note_bytes(value, strlen(value));
  MPI_Info_free(&has);
  MPI_Win_get_attr(given, keyval, (void *)&on, &flag);
  note(flag ? *on : -1);
  MPI_Win_get_attr(given, MPI_WIN_SIZE, (void *)&bytes, &flag);
  note(flag ? *bytes : -1);
  MPI_Win_get_attr(dynamic, MPI_WIN_CREATE_FLAVOR, (void *)&model, &flag);
  note(flag ? *model : -1);
  MPI_Win_get_group(dynamic, &group);
  MPI_Group_size(group, &n);
  note(n);
  MPI_Group_free(&group);
  MPI_Win_attach(dynamic, NULL, -1);
  note(errors);
}

static void fence(int s) {
  const long value = 7 * s + rank;
  MPI_Put(&value, 1, MPI_LONG, (rank + 2) % size / 2 * 2, rank, 1, MPI_LONG,
          fenced);
  MPI_Win_fence(0, fenced);
  note_bytes(far, sizeof(far));
}

static void objects_use(int s) {
  if (s == 0) {
    MPI_Win_create(shown, sizeof(shown), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &pscw);
  }
  MPI_Win_flush_all(dynamic);
  read_old(s);
  look();
  ask(s);
  fence(s);
  show(s);
  hold_lock(s);
  for (int to = 0; to < size; to++) {
    put_to(to, s);
  }
  count();
  MPI_Win_flush_all(given);
}

static void objects_free(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (request != MPI_REQUEST_NULL) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (holding) {
    MPI_Win_unlock((rank + 1) % size, posted);
  }
  end_show();
  MPI_Win_unlock_all(given);
  MPI_Win_unlock_all(passive);
  MPI_Win_unlock_all(dynamic);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced);
  if (rank == 0) {
    printf("counted %ld\n", counter);
  }
  MPI_Win *const every[] = {&made,   &given,  &dynamic, &passive,
                            &posted, &fenced, &pscw};
  for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++) {
    MPI_Win_free(every[i]);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Info_free(&info);
  MPI_Errhandler_free(&handler);
  MPI_Win_free_keyval(&keyval);
  free(addresses);
  free(mine);
}
