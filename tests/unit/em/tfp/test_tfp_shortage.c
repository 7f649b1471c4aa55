/* Time-forward processing whose allocations fail, each in its turn. */
#include <pems/tfp.h>

#include <check.h>
#include <errno.h>
#include <stdbool.h>

#include "check_main.h"
#include "check_memory.h"

enum { NODES = 3000, WIDTH = 500 };

struct message {
  uint64_t to, value;
};

/* Each node sends to the one a layer later; a thread of the queue's may call
   it, so it checks by what it returns. */
static int visit(void *arg, struct pems_tfp_visit *v, struct pems_error *e) {
  (void)arg;
  const struct message *const got = v->messages;
  const bool first = v->node < WIDTH;
  if (v->received != !first || (!first && got->value != v->node - WIDTH)) {
    return EDOM;
  }
  const struct message out = {v->node + WIDTH, v->node};
  return out.to < NODES ? pems_tfp_send(v, &out, 1, e) : 0;
}

static int layer(void *arg, uint64_t first, uint64_t *next,
                 struct pems_error *e) {
  (void)arg, (void)e;
  *next = first + WIDTH;
  return 0;
}

static int use(void *arg) {
  return pems_tfp_run(arg, NULL, NULL);
}

START_TEST(a_run) {
  struct pems_tfp_options o = {
      .mode = (enum pems_tfp_mode)_i,
      .nodes = NODES,
      .message = sizeof(struct message),
      .visit = visit,
      .layer = layer,
      .threads = 2,
      .scratch = {.io = "mem"},
      .block = 8192,
  };
  o.memory = pems_tfp_least_memory(&o);
  memory_every(use, &o, ENOMEM, MEMORY_SPARED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("tfp_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, a_run, PEMS_TFP_SEQUENTIAL, PEMS_TFP_BULK + 1);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
