#include "disk/dealer.h"

/* The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t next_random(uint64_t *state) {
  return mix(*state += 0x9e3779b97f4a7c15u);
}

/* Below n, without a division; the bias is below n / 2^32. */
static int below(uint64_t *state, int n) {
  return (int)((next_random(state) >> 32) * (uint64_t)n >> 32);
}

void pems_dealer_begin(struct pems_dealer *dealer, enum pems_deal deal,
                       uint64_t seed) {
  *dealer = (struct pems_dealer){.deal = deal, .random = mix(seed)};
  dealer->order = next_random(&dealer->random);
}

/* Element i of the random permutation of 0 ... n - 1 that `seed` stands for: n
   steps, nothing beside the block that moves. */
static int permuted(uint64_t seed, int n, int i) {
  int order[DISK_MOST];
  for (int j = 0; j < n; j++) {
    const int k = below(&seed, j + 1);
    order[j] = order[k];
    order[k] = j;
  }
  return order[i];
}

int dealer_next(struct pems_dealer *dealer, int disks) {
  const int turn = (int)(dealer->dealt++ % (uint64_t)disks);
  if (disks == 1) {
    return 0;
  }
  switch (dealer->deal) {
  case PEMS_DEAL_STRIPE:
    return turn;
  case PEMS_DEAL_RANDOM:
    return below(&dealer->random, disks);
  case PEMS_DEAL_CYCLIC:
    break;
  }
  return permuted(dealer->order, disks, turn);
}
