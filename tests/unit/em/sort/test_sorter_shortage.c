/* A sorter whose allocations fail, each in its turn. */
#include <pems/sort.h>

#include <check.h>
#include <errno.h>

#include "check_main.h"
#include "check_memory.h"

enum { RECORDS = 150000, PIECE = 1000 };

static int push_all(struct pems_sorter *p) {
  int code = 0;
  for (uint64_t i = 0; i < RECORDS && !code; i += PIECE) {
    uint64_t v[PIECE];
    for (uint64_t j = 0; j < PIECE; j++) {
      v[j] = (i + j) * UINT64_C(0x9e3779b97f4a7c15);
    }
    code = pems_sorter_push(p, v, PIECE, NULL);
  }
  return code;
}

static int pull_all(struct pems_sorter *p) {
  size_t n = 1, all = 0;
  int code = pems_sorter_finish(p, NULL);
  while (!code && n) {
    const void *records;
    code = pems_sorter_pull(p, &records, &n, NULL);
    all += code ? 0 : n;
  }
  ck_assert(code || all == RECORDS);
  return code;
}

static int sort(void *arg) {
  struct pems_sorter *p = NULL;
  int code = pems_sorter_new(&p, arg, NULL);
  if (code) {
    ck_assert_ptr_null(p);
    return code;
  }
  code = push_all(p);
  code = code ? code : pull_all(p);
  pems_sorter_free(p);
  return code;
}

static struct pems_sort_options options(void) {
  return (struct pems_sort_options){
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .memory = 700 << 10,
      .block = 16384,
      .threads = 2,
      .scratch = {.io = "mem"},
  };
}

START_TEST(a_sorter) {
  struct pems_sort_options o = options();
  memory_every(sort, &o, ENOMEM, MEMORY_SPARED);
}
END_TEST

START_TEST(a_sorter_with_long_runs) {
  struct pems_sort_options o = options();
  o.runs = PEMS_RUNS_LONG;
  memory_every(sort, &o, ENOMEM, MEMORY_SPARED);
}
END_TEST

START_TEST(a_sorter_on_two_disks) {
  const char *const path[] = {"/var/tmp", "/var/tmp"};
  struct pems_sort_options o = options();
  o.scratch =
      (struct pems_disks_options){.path = path, .count = 2, .io = "unix"};
  memory_every(sort, &o, ENOMEM, MEMORY_SPARED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_sorter, a_sorter_with_long_runs,
                                a_sorter_on_two_disks, NULL};
  return check_main("sorter_shortage", tests);
}
