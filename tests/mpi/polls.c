/* Ranks that ask until something has happened, by every call that asks, and by
   those that wait for some of several requests; most of them cannot run at the
   same time. Each kind has three patterns:

   busy: everybody sends to everybody, so that there is much to be found;
   star: rank 0 asks for one message of each of the others, who wait for it to
         begin and send in turn;
   idle: all but rank 0 ask in vain while that computes, and then sends.

   Arguments: the pace (see test.h); the kind that alone is run; for how many
   milliseconds rank 0 computes each time.

   In a round every rank waits at least once in each pattern, but for rank 0 in
   the last one: polls_count.sh counts how often ranks are brought in. */
#include "test.h"

#include <time.h>

enum { ROUNDS = 10 };

static int work_ms = 2;

static MPI_Request *request;
static MPI_Status *status;
static int *in, *out, *place, *came;
static MPI_Win window;
static int *shown; /* the window's memory */

static void work(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 +
               (now.tv_nsec - begin.tv_nsec) / 1000000 <
           work_ms);
}

static int arrived(int i) {
  if (in[i] != 1000 * i + rank) {
    fail("from %d: %d", i, in[i]);
  }
  came[i]++;
  return 1;
}

/* Those that ask for all of n requests, or for one after the other. */

static void by_test(int n) {
  for (int left = n; left;) {
    for (int i = 0; i < n; i++) {
      int flag = 0;
      if (request[i] == MPI_REQUEST_NULL) {
        continue;
      }
      MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
      left -= flag;
    }
  }
}

static void by_testall(int n) {
  int flag = 0;
  while (!flag) {
    MPI_Testall(n, request, &flag, status);
  }
}

static void by_testany(int n) {
  int flag, i;
  for (int left = n; left; left -= flag) {
    MPI_Testany(n, request, &i, &flag, MPI_STATUS_IGNORE);
  }
}

static void by_testsome(int n) {
  int some;
  for (int left = n; left; left -= some) {
    MPI_Testsome(n, request, &some, place, status);
  }
}

static void by_waitany(int n) {
  int i;
  for (int left = n; left; left--) {
    MPI_Waitany(n, request, &i, MPI_STATUS_IGNORE);
  }
}

static void by_waitsome(int n) {
  int some;
  for (int left = n; left; left -= some) {
    MPI_Waitsome(n, request, &some, place, status);
  }
}

static void by_get_status(int n) {
  for (int i = 0; i < n; i++) {
    int flag = 0;
    while (!flag) {
      MPI_Request_get_status(request[i], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request[i], MPI_STATUS_IGNORE);
  }
}

typedef void complete_fn(int n);

static void send_to_all(void) {
  for (int i = 0; i < size; i++) {
    if (i != rank) {
      out[i] = 1000 * rank + i;
      MPI_Send(&out[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    }
  }
}

/* Receives from the ranks first .. first + n - 1, but itself. */
static void receive(int first, int n, complete_fn *complete) {
  int m = 0;
  for (int i = first; i < first + n; i++) {
    if (i != rank) {
      MPI_Irecv(&in[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &request[m++]);
    }
  }
  if (n == size) {
    send_to_all();
  }
  complete(m);
  for (int i = first; i < first + n; i++) {
    if (i != rank) {
      arrived(i);
    }
  }
}

static void by_iprobe(int n) {
  for (int left = n; left;) {
    MPI_Status s;
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &s);
    if (!flag) {
      continue;
    }
    MPI_Recv(&in[s.MPI_SOURCE], 1, MPI_INT, s.MPI_SOURCE, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    left -= arrived(s.MPI_SOURCE);
  }
}

/* Asks one after the other. */
static void by_improbe(int n) {
  for (int from = 0, left = n; left; from = (from + 1) % size) {
    MPI_Message message;
    int flag = 0;
    if (from != rank) {
      MPI_Improbe(from, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    }
    if (!flag) {
      continue;
    }
    MPI_Mrecv(&in[from], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    left -= arrived(from);
  }
}

/* Others write to the window; its owner looks at it. */
static void look(int first, int n, int round) {
  for (int i = first; i < first + n; i++) {
    if (i != rank) {
      do {
        MPI_Win_sync(window);
      } while (((volatile int *)shown)[i] < round);
    }
  }
}

static void show(int first, int n, const int *round) {
  for (int to = first; to < first + n; to++) {
    if (to != rank) {
      MPI_Put(round, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    }
  }
  MPI_Win_flush_all(window);
}

struct kind {
  const char *name;
  complete_fn *complete;
  int probes, looks;
};
static const struct kind kinds[] = {
    {"test", by_test, 0, 0},
    {"testall", by_testall, 0, 0},
    {"testany", by_testany, 0, 0},
    {"testsome", by_testsome, 0, 0},
    {"waitany", by_waitany, 0, 0},
    {"waitsome", by_waitsome, 0, 0},
    {"get_status", by_get_status, 0, 0},
    {"iprobe", by_iprobe, 1, 0},
    {"improbe", by_improbe, 1, 0},
    {"window", NULL, 0, 1},
};

/* In MPICH 4.0 with UCX what was put never comes to one who only looks. */
enum { LOOKS = !MPICH_4 };

static void busy(const struct kind *k, int round) {
  if (k->looks) {
    show(0, size, &round);
    look(0, size, round);
  } else if (k->probes) {
    send_to_all();
    k->complete(size - 1);
  } else {
    receive(0, size, k->complete);
  }
}

static void star(const struct kind *k) {
  int go = 0;
  if (rank) {
    MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    out[0] = 1000 * rank;
    MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < size; i++) {
    MPI_Send(&go, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
  }
  if (k->probes) {
    k->complete(size - 1);
  } else {
    receive(1, size - 1, k->complete);
  }
}

static void idle(const struct kind *k, int round) {
  if (rank == 0) {
    work();
    if (k->looks) {
      show(1, size - 1, &round);
    }
    for (int i = 1; i < size && !k->looks; i++) {
      out[i] = i;
      MPI_Send(&out[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    }
  } else if (k->looks) {
    look(0, 1, round);
  } else if (k->probes) {
    k->complete(1);
  } else {
    receive(0, 1, k->complete);
  }
}

static void run(const struct kind *k) {
  char what[40];
  for (int i = 0; i < size; i++) {
    came[i] = shown[i] = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < ROUNDS; i++) {
    busy(k, 2 * i + 1);
    if (!k->looks) {
      star(k);
    }
    idle(k, 2 * i + 2);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  mix(came, (size_t)size * sizeof(*came));
  snprintf(what, sizeof(what), "%s", k->name);
  report(what);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const size_t n = (size_t)size;
  if (argc > 3) {
    work_ms = atoi(argv[3]);
  }
  request = malloc(n * sizeof(*request));
  status = malloc(n * sizeof(*status));
  in = malloc(n * sizeof(*in));
  out = malloc(n * sizeof(*out));
  place = malloc(n * sizeof(*place));
  came = malloc(n * sizeof(*came));
  MPI_Win_allocate((MPI_Aint)(n * sizeof(*shown)), sizeof(*shown),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
    if (argc < 3 ? !kinds[i].looks || LOOKS
                 : strcmp(argv[2], kinds[i].name) == 0) {
      run(&kinds[i]);
    }
  }
  MPI_Win_free(&window);
  return end();
}
