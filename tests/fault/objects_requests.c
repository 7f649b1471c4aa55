/* Generalized requests, requests of files and, where MPI has them, persistent
   collective calls, partitioned messages and sessions: see objects.h. Those of
   neighbours and some partitioned ones are under way between steps. */
#include "objects.h"

enum { N = 32, PARTS = 4 };

static MPI_Request grequest = MPI_REQUEST_NULL, done = MPI_REQUEST_NULL;
static long state = 5, asked, freed, cancelled;
static MPI_Comm gone;
static MPI_Request on_gone;
static int from_gone;

static int query(void *arg, MPI_Status *status) {
  asked += *(long *)arg;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = (int)state;
  status->MPI_TAG = 11;
  return MPI_SUCCESS;
}

static int forget(void *arg) {
  freed += *(long *)arg;
  return MPI_SUCCESS;
}

static int cancel(void *arg, int complete) {
  cancelled += *(long *)arg + complete;
  return MPI_SUCCESS;
}

/* One that is done is asked for in the next step; the other is done then. */
static void use_generalized(void) {
  MPI_Status status;
  int n;
  if (done != MPI_REQUEST_NULL) {
    MPI_Wait(&done, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    note(n + status.MPI_TAG);
    MPI_Cancel(&grequest);
    MPI_Grequest_complete(grequest);
    MPI_Wait(&grequest, &status);
    note(status.MPI_SOURCE);
  }
  MPI_Grequest_start(query, forget, cancel, &state, &done);
  MPI_Grequest_complete(done);
  MPI_Grequest_start(query, forget, cancel, &state, &grequest);
  note(asked);
  note(freed);
  note(cancelled);
}

/* On a communicator that was freed. */
static void use_freed(int s) {
  if (s % 2 == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Irecv(&from_gone, 1, MPI_INT, (rank + 1) % size, 3, gone, &on_gone);
    const int value = 10 * s + rank;
    MPI_Send(&value, 1, MPI_INT, (rank + size - 1) % size, 4, gone);
    MPI_Send(&value, 1, MPI_INT, (rank + size - 1) % size, 3, gone);
    int early;
    MPI_Recv(&early, 1, MPI_INT, (rank + 1) % size, 4, gone, MPI_STATUS_IGNORE);
    MPI_Comm_free(&gone);
  } else {
    MPI_Wait(&on_gone, MPI_STATUS_IGNORE);
    note(from_gone);
  }
}

#if MPI_VERSION >= 4
static MPI_Session session;
static MPI_Comm of_session;
static MPI_Errhandler handler;
static MPI_Request bcast, fold, gather, barrier, psend, precv;
static MPI_Op op;
static MPI_Datatype pair;
static MPI_Comm ring;
static MPI_Request around, halves[2]; /* under way */
static int to_both[2 * N], from_both[2 * N], parts_out[PARTS * N],
    parts_in[PARTS * N];
static int word[N], sum[2 * N], mine[2 * N], all[64 * N], counts[64],
    places[64], out[PARTS * N], in[PARTS * N];
static int errors, rounds;

static void failed(MPI_Session *at, int *code, ...) {
  errors += *at == session && *code != MPI_SUCCESS;
}

static void add_pairs(void *from, void *to, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < 2 * *n; i++) {
    ((int *)to)[i] += ((int *)from)[i];
  }
}

static void make_session(void) {
  MPI_Group group;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
  MPI_Session_create_errhandler(failed, &handler);
  MPI_Session_init(info, handler, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "a tag", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                             &of_session);
  MPI_Group_free(&group);
}

static void make_persistent(void) {
  MPI_Op_create(add_pairs, 1, &op);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < size; i++) {
    counts[i] = i % 3;
    places[i] = 3 * i;
  }
  MPI_Bcast_init(word, N, MPI_INT, 1, of_session, MPI_INFO_NULL, &bcast);
  MPI_Allreduce_init(mine, sum, N, pair, op, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &fold);
  MPI_Allgatherv_init(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &gather);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
  MPI_Psend_init(out, PARTS, N, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &psend);
  MPI_Precv_init(in, 1, PARTS * N, MPI_INT, (rank + size - 1) % size, 5,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &precv);
  MPI_Type_free(&pair);
}

static void use_persistent(int s) {
  MPI_Request *const now[] = {&bcast, &fold, &gather, &barrier};
  for (int i = 0; i < N; i++) {
    word[i] = rank == 1 ? 100 * s + i : -1;
    mine[2 * i] = rank + s;
    mine[2 * i + 1] = i;
  }
  for (int i = 0; i < 4; i++) {
    MPI_Start(now[(i + rank) % 4]);
  }
  for (int i = 0; i < 4; i++) {
    MPI_Wait(now[(i + rank + 1) % 4], MPI_STATUS_IGNORE);
  }
  note_bytes(word, sizeof(word));
  note_bytes(sum, sizeof(sum));
  for (int i = 0; i < size; i++) {
    note_bytes(all + places[i], (size_t)counts[i] * sizeof(int));
  }
}

static void use_partitioned(int s) {
  for (int i = 0; i < PARTS * N; i++) {
    out[i] = 1000 * s + i + rank;
  }
  MPI_Start(&psend);
  for (int i = 0; i < PARTS; i++) {
    MPI_Pready((i + s) % PARTS, psend);
  }
  MPI_Start(&precv);
  MPI_Wait(&precv, MPI_STATUS_IGNORE);
  note_bytes(in, sizeof(in));
  MPI_Wait(&psend, MPI_STATUS_IGNORE);
}

static void make_open(void) {
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
  MPI_Neighbor_alltoall_init(to_both, N, MPI_INT, from_both, N, MPI_INT, ring,
                             MPI_INFO_NULL, &around);
  MPI_Psend_init(parts_out, PARTS, N, MPI_INT, (rank + 1) % size, 6,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &halves[0]);
  MPI_Precv_init(parts_in, 2, PARTS / 2 * N, MPI_INT, (rank + size - 1) % size,
                 6, MPI_COMM_WORLD, MPI_INFO_NULL, &halves[1]);
}

/* Rank 2 comes to its neighbours' call late, and every other step begins to
   receive late. */
static void begin_open(int s) {
  for (int i = 0; i < PARTS * N; i++) {
    parts_out[i] = 100 * s + i + 7 * rank;
    to_both[i % (2 * N)] = 50 * s + i % (2 * N) + rank;
  }
  if (rank != 2) {
    MPI_Start(&around);
  }
  MPI_Start(&halves[0]);
  MPI_Pready(0, halves[0]);
  MPI_Pready(2, halves[0]);
  if (s % 2) {
    MPI_Start(&halves[1]);
  }
}

static void end_open(int s) {
  int there = 0;
  if (rank == 2) {
    MPI_Start(&around);
  }
  MPI_Wait(&around, MPI_STATUS_IGNORE);
  note_bytes(from_both, sizeof(from_both));
  if (s % 2 == 0) {
    MPI_Start(&halves[1]);
  }
  MPI_Pready(1, halves[0]);
  while (s > 0 && !there) {
    MPI_Parrived(halves[1], 0, &there);
  }
  MPI_Pready(3, halves[0]);
  MPI_Waitall(2, halves, MPI_STATUSES_IGNORE);
  note_bytes(parts_in, sizeof(parts_in));
}

static void use_session(void) {
  MPI_Info info;
  char level[64] = "";
  int n, flag;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
  note(n);
  MPI_Session_get_info(session, &info);
  MPI_Info_get(info, "thread_level", sizeof(level) - 1, level, &flag);
  note_bytes(level, strlen(level));
  MPI_Info_free(&info);
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  MPI_Comm_size(of_session, &n);
  note(n + 100 * errors);
}

static void free_new(void) {
  MPI_Request *const every[] = {&bcast, &fold,   &gather,    &barrier,  &psend,
                                &precv, &around, &halves[0], &halves[1]};
  for (int i = 0; i < 9; i++) {
    MPI_Request_free(every[i]);
  }
  MPI_Comm_free(&ring);
  MPI_Op_free(&op);
  MPI_Comm_free(&of_session);
  MPI_Errhandler_free(&handler);
  MPI_Session_finalize(&session);
}
#endif

static void objects_make(void) {
#if MPI_VERSION >= 4
  make_session();
  make_persistent();
  make_open();
#endif
}

static void objects_use(int s) {
  use_generalized();
  use_freed(s);
#if MPI_VERSION >= 4
  if (rounds > 0) {
    end_open(s - 1);
  }
  use_session();
  use_persistent(s);
  use_partitioned(s);
  begin_open(s);
  rounds++;
#endif
}

static void objects_free(void) {
  MPI_Wait(&done, MPI_STATUS_IGNORE);
  MPI_Grequest_complete(grequest);
  MPI_Wait(&grequest, MPI_STATUS_IGNORE);
  if (on_gone != MPI_REQUEST_NULL) {
    MPI_Wait(&on_gone, MPI_STATUS_IGNORE);
  }
#if MPI_VERSION >= 4
  if (rounds > 0) {
    end_open(rounds - 1);
  }
  free_new();
#endif
}
