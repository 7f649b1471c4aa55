/* Contexts whose pages are on disk, for the tests of this room. */
#ifndef PEMS_TESTS_UNIT_STORE_CONTEXTS_H
#define PEMS_TESTS_UNIT_STORE_CONTEXTS_H

#include "config/memory_plan.h"
#include "context/calls/create.h"
#include "context/store/store.h"
#include "disk/contexts/disk.h"
#include "os/pages.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { MOST_CONTEXTS = 8 };

static const size_t data_len = 2 * PAGE;
static char dir[64]; /* removed at the end, must then be empty */
static struct pems_error error;
static struct disks *disks;
static char *data[MOST_CONTEXTS];
static size_t
    stack_range_bytes; /* bytes of addresses for a stack; 0: there is none
                        */
static size_t stack_top_bytes; /* of them, for thread-local data */

static void make_dir(void) {
  strcpy(dir, "/var/tmp/test_contexts-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_all(void) {
  contexts_destroy();
  disks_close(disks);
  disks = NULL;
  ck_assert_int_eq(rmdir(dir), 0);
}

/* Gives context i data of the program: bytes 'a' + i. */
static int adopt(int i) {
  data[i] = mmap(NULL, data_len, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct image image = {.data = data[i], .data_len = data_len};
  memset(data[i], 'a' + i, data_len);
  return context_adopt(context_get(i), &image, i, &error);
}

static void create_empty(const char *io, int n, size_t mu, size_t resident) {
  const struct disks_options on = {.dirs = dir, .io = io};
  const size_t most = mu + (stack_range_bytes ? MEMORY_PLAN_STACK : 0);
  ck_assert_msg(disks_open(&disks, &on, n, most, &error) == 0, "%s",
                error.text);
  const struct contexts_options o = {.n = n,
                                     .mu = mu,
                                     .stack = stack_range_bytes,
                                     .stack_top = stack_top_bytes,
                                     .stacks_leave = stack_range_bytes != 0,
                                     .resident = resident,
                                     .disks = disks,
                                     .bounce_count = 2,
                                     .bounce_bytes = 128 * KIB,
                                     .boundary_bytes = MIB,
                                     .swapin = SWAPIN_EAGER};
  ck_assert_int_eq(contexts_create(&o, &error), 0);
}

__attribute__((unused)) static void create(const char *io, int n, size_t mu,
                                           size_t resident) {
  create_empty(io, n, mu, resident);
  for (int i = 0; i < n; i++) {
    ck_assert_msg(adopt(i) == 0, "%s", error.text);
  }
}

#endif
