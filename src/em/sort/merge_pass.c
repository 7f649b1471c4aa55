#include "em/sort/merge_pass.h"

#include <errno.h>

#include "base/failure.h"
#include "em/sort/progress.h"

int merge_pass_copy(struct sort *s, struct merger *m, struct run_writer *w,
                    struct pems_error *error) {
  void *space;
  size_t room, n;
  int failed;
  do {
    failed = run_writer_space(w, &space, &room, error);
    if (!failed) {
      failed = merger_fill(m, space, room, &n, error);
    }
    if (!failed) {
      failed = run_writer_filled(w, n, error);
    }
    if (!failed) {
      failed = progress_add(s, n, error);
    }
  } while (!failed && n == room);
  return failed ? failed : run_writer_finish(w, error);
}

int merge_pass_merge(struct sort *s, const struct sort_merge_plan *plan,
                     size_t first, size_t count, struct run *out,
                     struct pems_error *error) {
  struct merger *m;
  struct run_writer *w = NULL;
  size_t blocks = 0;
  int failed = merger_new(&m, s, plan, first, count, 0, error);
  if (failed) {
    return failed;
  }
  for (size_t i = 0; i < count; i++) {
    blocks += s->runs.run[first + i].blocks;
  }
  if (run_resize(&s->runs, out, blocks)) {
    failed = failure(error, ENOMEM,
                     "memory: %zu blocks of a run: free some of it", blocks);
  }
  if (!failed) {
    failed = run_writer_new(&w, s, plan->write_buffers, out, NULL, error);
  }
  if (!failed) {
    failed = merge_pass_copy(s, m, w, error);
  }
  run_writer_free(w);
  merger_free(m);
  return failed;
}

static int plan_for(const struct sort *s, struct sort_merge_plan *plan,
                    struct pems_error *error) {
  uint64_t blocks = 0;
  for (size_t i = 0; i < s->runs.count; i++) {
    blocks += s->runs.run[i].blocks;
  }
  if (sort_merge_plan(plan, &s->o, s->kernel, s->counts.disks, s->plan.block,
                      s->runs.count, blocks)) {
    return failure(error, ENOMEM,
                   "memory for merging: %llu bytes: give more, or a smaller "
                   "block than %zu bytes",
                   (unsigned long long)s->o.merge_memory, s->plan.block);
  }
  return 0;
}

/* Closes the gaps in the list of runs. */
static void compact(struct runs *all) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++) {
    if (all->run[i].records) {
      all->run[kept++] = all->run[i];
    }
  }
  all->count = kept;
}

/* One pass over as many runs as are too many; each is merged once at most. */
static int reduce_once(struct sort *s, const struct sort_merge_plan *plan,
                       struct pems_error *error) {
  size_t excess = s->runs.count - plan->runs;
  int failed = 0;
  for (size_t first = 0; excess && first + 1 < s->runs.count && !failed;) {
    const size_t left = s->runs.count - first;
    size_t count = excess + 1 < plan->runs ? excess + 1 : plan->runs;
    count = count < left ? count : left;
    struct run out = {0};
    failed = merge_pass_merge(s, plan, first, count, &out, error);
    for (size_t i = 0; i < count; i++) {
      runs_drop(&s->runs, &s->runs.run[first + i]);
    }
    s->runs.run[first] = out;
    excess -= count - 1;
    first += count;
  }
  compact(&s->runs);
  return failed;
}

int merge_pass_reduce(struct sort *s, struct sort_merge_plan *plan,
                      struct pems_error *error) {
  int failed = plan_for(s, plan, error);
  while (!failed && plan->runs < s->runs.count) {
    s->counts.passes++;
    failed = reduce_once(s, plan, error);
    if (!failed) {
      failed = plan_for(s, plan, error);
    }
  }
  s->counts.passes++;
  s->counts.read_buffers = plan->read_buffers;
  s->counts.prefetch_buffers = plan->prefetch;
  s->counts.write_buffers = plan->write_buffers;
  return failed;
}
