/* Programs with event loops, generated from a seed: ranks that compute and look
   for messages between steps beside ranks that only look, by every call that
   looks, with every kind of pause between looks. Most contexts cannot be in
   memory at the same time. In each round, for one way of looking:

   steps:   some ranks compute in steps and look in vain after each, then tell
            the others, who do nothing but look;
   clock:   ranks look in vain until a time is over, of which no message tells,
            and then tell their neighbour;
   ring:    a word goes round, each rank looks until it comes.

   All of it ends however few contexts are in memory, since each rank that can
   run has its turn whatever others do.

   Arguments: the pace (see test.h); MiB of a rank; "threads": a second thread
   looks. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { WAYS = 8, STEPS = 40, TAG = 7, TAGS = 3, VAIN = 8 };

static char *memory;
static size_t memory_size;
static MPI_Win window;
static int *shown; /* the window's memory: a word for each rank and tag */
static uint64_t seed = 88172645463325252u;

/* The same numbers on all ranks. */
static unsigned draw(unsigned below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (unsigned)(seed >> 33) % below;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- between looks --- */

static void nothing(void) {
}

static void yield(void) {
  sched_yield();
}

static void sleep_briefly(void) {
  const struct timespec t = {0, 100000};
  nanosleep(&t, NULL);
}

static void touch(void) {
  static size_t at;
  memory[at]++;
  memory[at]--;
  at = (at + 40961) % memory_size;
}

static void (*const pauses[])(void) = {nothing, yield, sleep_briefly, touch};

/* --- looking for the word of another rank --- */

/* What a rank looks for. */
struct sought {
  int from, word, tag;
  MPI_Request request[2]; /* the second one is never sent */
  int unsent;
};

static void seek(struct sought *s, int way, int from, int tag) {
  *s = (struct sought){.from = from, .tag = tag};
  s->request[0] = s->request[1] = MPI_REQUEST_NULL;
  if (way < 5) {
    MPI_Irecv(&s->word, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &s->request[0]);
  }
  if (way == 1 || way == 2) {
    MPI_Irecv(&s->unsent, 1, MPI_INT, from, tag + 1000, MPI_COMM_WORLD,
              &s->request[1]);
  }
}

/* Where in the window a rank tells another. */
static MPI_Aint place_of(int from, int tag) {
  return (MPI_Aint)from * TAGS + (tag - TAG) % TAGS;
}

static bool look_at_window(struct sought *s) {
  int word = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Get(&word, 1, MPI_INT, rank, place_of(s->from, s->tag), 1, MPI_INT,
          window);
  MPI_Win_unlock(rank, window);
  s->word = word;
  return word != 0;
}

static bool receive_if(struct sought *s, int flag) {
  if (flag) {
    MPI_Recv(&s->word, 1, MPI_INT, s->from, s->tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  return flag;
}

static bool look(struct sought *s, int way) {
  int flag = 0, index[2], count = 0;
  MPI_Message message;
  switch (way) {
  case 0:
    MPI_Test(&s->request[0], &flag, MPI_STATUS_IGNORE);
    return flag;
  case 1:
    MPI_Testany(2, s->request, index, &flag, MPI_STATUS_IGNORE);
    return flag;
  case 2:
    MPI_Testsome(2, s->request, &count, index, MPI_STATUSES_IGNORE);
    return count > 0;
  case 3:
    MPI_Testall(1, s->request, &flag, MPI_STATUSES_IGNORE);
    return flag;
  case 4:
    MPI_Request_get_status(s->request[0], &flag, MPI_STATUS_IGNORE);
    return flag;
  case 5:
    MPI_Iprobe(s->from, s->tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return receive_if(s, flag);
  case 6:
    MPI_Improbe(s->from, s->tag, MPI_COMM_WORLD, &flag, &message,
                MPI_STATUS_IGNORE);
    if (flag) {
      MPI_Mrecv(&s->word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    return flag;
  default:
    return look_at_window(s);
  }
}

static void found(struct sought *s, int way) {
  if (way == 4) {
    MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
  }
  if (s->request[1] != MPI_REQUEST_NULL) {
    MPI_Cancel(&s->request[1]);
    MPI_Wait(&s->request[1], MPI_STATUS_IGNORE);
  }
  if (way == 7) {
    const int none = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    MPI_Put(&none, 1, MPI_INT, rank, place_of(s->from, s->tag), 1, MPI_INT,
            window);
    MPI_Win_unlock(rank, window);
  }
  mix(&s->word, sizeof(s->word));
}

static void tell(int way, int to, int word, int tag) {
  if (way == 7) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
    MPI_Put(&word, 1, MPI_INT, to, place_of(rank, tag), 1, MPI_INT, window);
    MPI_Win_unlock(to, window);
  } else {
    MPI_Send(&word, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
  }
}

/* Between vain looks. Processes of plain MPI are more than there are cores, and
   another may have to run: after some looks all yield. */
static void rest(int pause) {
  static int looks;
  pauses[pause]();
  if (++looks % 16 == 0) {
    yield();
  }
}

static int looking_way, looking_from, looking_tag, looking_pause;

static void *look_until_found(void *unused) {
  struct sought s;
  (void)unused;
  seek(&s, looking_way, looking_from, looking_tag);
  while (!look(&s, looking_way)) {
    rest(looking_pause);
  }
  found(&s, looking_way);
  return NULL;
}

static bool by_threads;

static void await_word(int way, int from, int tag, int pause) {
  pthread_t thread;
  looking_way = way;
  looking_from = from;
  looking_tag = tag;
  looking_pause = pause;
  if (by_threads) {
    pthread_create(&thread, NULL, look_until_found, NULL);
    pthread_join(thread, NULL);
  } else {
    look_until_found(NULL);
  }
}

/* --- patterns --- */

/* A step of work: from next to nothing to some 100 us. */
static void work(unsigned amount) {
  for (unsigned i = 0; i < amount; i++) {
    memory[(size_t)i * 4099 % memory_size] += (char)i;
  }
}

static void look_in_vain(int way) {
  struct sought s;
  int flag = 0;
  seek(&s, way, rank, TAG + 500); /* no rank sends that to itself yet */
  for (int i = 0; i < 2; i++) {
    flag |= look(&s, way);
  }
  if (flag) {
    fail("a word that was not sent");
  }
  if (way < 5) {
    tell(way, rank, 1, TAG + 500);
    if (way == 1 || way == 2) {
      MPI_Cancel(&s.request[1]);
      MPI_Wait(&s.request[1], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&s.request[0], MPI_STATUS_IGNORE);
  }
}

static void steps(int way) {
  const int worker = (int)draw((unsigned)size);
  const unsigned amount = draw(3) ? draw(4) : 20000;
  const int pause = (int)draw(4);
  if (rank != worker) {
    await_word(way, worker, TAG, pause);
    return;
  }
  for (int i = 0; i < STEPS; i++) {
    work(amount);
    if (i % VAIN == 0) {
      look_in_vain(way);
    } else {
      int flag;
      MPI_Iprobe(MPI_ANY_SOURCE, 3 * TAG, MPI_COMM_WORLD, &flag,
                 MPI_STATUS_IGNORE);
    }
  }
  for (int to = 0; to < size; to++) {
    if (to != rank) {
      tell(way, to, 1000 * (rank + 1) + to, TAG);
    }
  }
}

static void until_late(int way) {
  const double late = now() + 0.005 * (1 + rank % 3);
  const int pause = (int)draw(4);
  while (now() < late) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 3 * TAG, MPI_COMM_WORLD, &flag,
               MPI_STATUS_IGNORE);
    rest(pause);
  }
  tell(way, (rank + 1) % size, 5 + rank, TAG + 1);
  await_word(way, (rank + size - 1) % size, TAG + 1, pause);
}

static void ring(int way) {
  const int pause = (int)draw(4), first = (int)draw((unsigned)size);
  const int before = (rank + size - 1) % size, after = (rank + 1) % size;
  if (rank == first) {
    tell(way, after, 77, TAG + 2);
  }
  await_word(way, before, TAG + 2, pause);
  if (rank != first) {
    tell(way, after, 77 + rank, TAG + 2);
  }
}

int main(int argc, char **argv) {
  int level;
  by_threads = argc > 3;
  if (by_threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  } else {
    begin(&argc, &argv);
  }
  if (argc > 1 && argv[1][0] == '-') { /* for compare.sh */
    MPI_Finalize();
    return 0;
  }
  memory_size = (size_t)(argc > 2 ? atoi(argv[2]) : 1) << 20;
  memory = malloc(memory_size);
  memset(memory, rank + 1, memory_size);
  MPI_Win_allocate((MPI_Aint)sizeof(int) * TAGS * size, sizeof(int),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
  memset(shown, 0, sizeof(int) * TAGS * (size_t)size);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int way = 0; way < WAYS && size > 1; way++) {
    steps(way);
    until_late(way);
    ring(way);
    MPI_Barrier(MPI_COMM_WORLD);
    report("a way to look");
  }
  mix(memory, memory_size);
  report("memory");
  MPI_Win_free(&window);
  free(memory);
  return end();
}
