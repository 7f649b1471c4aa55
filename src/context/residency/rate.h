/* What so many of something take: a part for each, and one for each time, so
   that small amounts are not taken for slow, nor large ones for as slow as
   these. A straight line through what was measured, newer ones counting more.
   Zeroed: nothing is known. */
#ifndef PEMS_CONTEXT_RESIDENCY_RATE_H
#define PEMS_CONTEXT_RESIDENCY_RATE_H

/* Sums of weights, amounts, times and products. */
struct rate {
  double n, x, t, xx, xt;
};

/* `amount` took `ns`; of all amounts about the last `most` count. */
void rate_learn(struct rate *r, double amount, double ns, double most);
/* What `amount` takes in ns; 0 if nothing is known. */
double rate_at(const struct rate *r, double amount);

#endif
