/* A random program: from a seed all ranks draw the same legal mix of calls, on
   communicators that come and go, with operations that stay under way over
   others; what a rank received is folded into a sum that does not depend on
   timing. Prints the sum after every step.

     random [-s SEED] [-n SEEDS] [-t STEPS] [-f FEATURES] [-k COLLECTIVE] [-v]

   FEATURES: a list like p2p,coll, of: types p2p probe persistent coll icoll
   comm inter topo neighbor ineighbor rma; or all; -rma leaves one out.
   COLLECTIVE: the only one to be drawn. -v tells what each rank does, -vv what
   it folds, too.

   What Open MPI 4.1.4 does wrong is not drawn: see "Open MPI" in the parts. */
#include "random.h"
#include "random_coll.h"
#include "random_comm.h"
#include "random_neighbor.h"
#include "random_p2p.h"
#include "random_rma.h"

#include <stdbool.h>

static const char *const names[FEATURES] = {
    "types", "p2p",   "probe", "persistent", "coll",      "icoll",
    "comm",  "inter", "topo",  "neighbor",   "ineighbor", "rma"};

enum { EVERYTHING = (1 << FEATURES) - 1 };

static unsigned parse_features(char *list) {
  unsigned set = 0;
  for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
    const int minus = *name == '-';
    unsigned these = 0;
    for (int i = 0; i < FEATURES; i++) {
      if (strcmp(name + minus, "all") == 0 ||
          strcmp(name + minus, names[i]) == 0) {
        these |= 1u << i;
      }
    }
    if (!these) {
      die(name);
    }
    if (minus && !set) {
      set = EVERYTHING;
    }
    set = minus ? set & ~these : set | these;
  }
  return set;
}

/* --- memory that no call touches --- */

enum { BLOCKS = 6 };
static struct {
  char *memory;
  size_t n;
  uint64_t seed;
} blocks[BLOCKS];
static char bystander[9000]; /* among the globals */
static int bystander_filled;

static void block_check(int i) {
  char *twin = malloc(blocks[i].n + 1);
  fill(twin, blocks[i].n, blocks[i].seed);
  if (memcmp(twin, blocks[i].memory, blocks[i].n) != 0) {
    die("memory that no call was given has changed");
  }
  free(twin);
}

/* The program's own life: it allocates, writes and frees. */
static void live_on(void) {
  const int i = own(BLOCKS);
  if (blocks[i].memory) {
    block_check(i);
    free(blocks[i].memory);
    blocks[i].memory = NULL;
  } else {
    blocks[i].n = (size_t)own(own(4) ? 5000 : 300000) + 1;
    blocks[i].memory = malloc(blocks[i].n);
    blocks[i].seed = own_state | 1;
    fill(blocks[i].memory, blocks[i].n, blocks[i].seed);
  }
  if (bystander_filled) {
    char twin[sizeof(bystander)];
    fill(twin, sizeof(twin), 77 + (uint64_t)rank);
    if (memcmp(twin, bystander, sizeof(twin)) != 0) {
      die("globals that no call was given have changed");
    }
  }
  fill(bystander, sizeof(bystander), 77 + (uint64_t)rank);
  bystander_filled = 1;
}

static void live_end(void) {
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].memory) {
      block_check(i);
      free(blocks[i].memory);
      blocks[i].memory = NULL;
    }
  }
}

/* -------------------------------------------------------------------------- */

static void blocking_step(void) {
  coll_step(true);
}

static void nonblocking_step(void) {
  coll_step(false);
}

/* Any of those that the features allow. */
static const struct {
  unsigned feature;
  void (*step)(void);
  int weight;
} groups_of_calls[] = {
    {COMM, comm_step, 2},
    {P2P, p2p_step, 3},
    {PERSISTENT, persistent_step, 1},
    {COLL, blocking_step, 2},
    {ICOLL, nonblocking_step, 2},
    {NEIGHBOR, neighbor_step, 1},
    {INEIGHBOR, neighbor_step, 1},
    {RMA, rma_step, 1},
};

static void one_call(void) {
  const int n = sizeof(groups_of_calls) / sizeof(*groups_of_calls);
  int total = 0, i = 0;
  for (int j = 0; j < n; j++) {
    total += has(groups_of_calls[j].feature) ? groups_of_calls[j].weight : 0;
  }
  if (!total) {
    return;
  }
  for (int left = draw(total);; i++) {
    if (has(groups_of_calls[i].feature)) {
      left -= groups_of_calls[i].weight;
    }
    if (left < 0) {
      break;
    }
  }
  groups_of_calls[i].step();
}

static void one_operation(void) {
  operation++;
  if (verbose > 1) {
    say("state %llx", (unsigned long long)shared_state);
  }
  own_state = scramble(operation * 1000 + (uint64_t)rank, shared_state);
  one_call();
  if (own(3) == 0) {
    live_on();
  }
  if (own(3) == 0 || n_under_way > 12) {
    wait_among(1 + own(3), NULL);
  }
}

/* Whether all ranks have drawn the same so far: a mistake of this test. */
static void agree(void) {
  uint64_t first = shared_state;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (first != shared_state) {
    die("ranks have drawn different programs");
  }
}

static void renew_buffer(void) {
  void *old;
  int n;
  MPI_Buffer_detach(&old, &n);
  if (old != buffered || n != BUFFERED) {
    die("MPI_Buffer_detach");
  }
  MPI_Buffer_attach(buffered, BUFFERED);
  buffered_used = 0;
}

static void one_step(int number) {
  const int operations = 3 + draw(14), settle = draw(2);
  budget = 1500000;
  for (int i = 0; i < operations; i++) {
    one_operation();
  }
  if (settle) {
    wait_all();
  }
  if (has(P2P)) {
    renew_buffer();
  }
  agree();
  if (verbose) {
    printf("rank %d: step %d: %016llx\n", rank, number,
           (unsigned long long)sum);
  }
}

static void one_program(uint64_t seed, int steps) {
  shared_state = scramble(seed, (uint64_t)size);
  operation = 0;
  sum = 0;
  coms_begin();
  for (int i = 0; i < steps; i++) {
    one_step(i);
  }
  own_state = shared_state;
  persistent_end();
  wait_all();
  coms_end();
  for (int i = 0; i < 2; i++) {
    com_forget(&coms[i]);
  }
  live_end();
  printf("rank %d: seed %llu: %016llx\n", rank, (unsigned long long)seed,
         (unsigned long long)sum);
}

int main(int argc, char **argv) {
  char stack_pool[POOL];
  uint64_t seed = 1;
  int seeds = 1, steps = 4;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 1024);
  pools[STACK].base = stack_pool;
  features = EVERYTHING;
  for (int i = 1; i < argc; i++) {
    char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "-s") == 0) {
      seed = strtoull(value, NULL, 0), i++;
    } else if (strcmp(argv[i], "-n") == 0) {
      seeds = atoi(value), i++;
    } else if (strcmp(argv[i], "-t") == 0) {
      steps = atoi(value), i++;
    } else if (strcmp(argv[i], "-f") == 0) {
      features = parse_features(value), i++;
    } else if (strcmp(argv[i], "-k") == 0) {
      only_kind = value, i++;
    } else if (strcmp(argv[i], "-v") == 0) {
      verbose = 1;
    } else if (strcmp(argv[i], "-vv") == 0) {
      verbose = 2;
    } else if (strcmp(argv[i], "-h") == 0) {
      seeds = 0;
    } else {
      die(argv[i]);
    }
  }
  /* It takes one neighbour for the other. */
  if (MPICH_4 && features == EVERYTHING) {
    features &= ~(unsigned)(NEIGHBOR | INEIGHBOR);
  }
  if (size > MOST_RANKS) {
    die("too many ranks");
  }
  sums_begin();
  MPI_Buffer_attach(buffered, BUFFERED);
  for (int i = 0; i < seeds; i++) {
    one_program(seed + (uint64_t)i, steps);
  }
  void *old;
  int n;
  MPI_Buffer_detach(&old, &n);
  sums_end();
  printf("rank %d: end\n", rank);
  MPI_Finalize();
  return 0;
}
