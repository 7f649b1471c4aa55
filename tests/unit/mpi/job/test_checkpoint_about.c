/* What checkpoints are of. Several processes are played. */
#define _GNU_SOURCE
#include "mpi/job/checkpoint_about.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "mpi/job/restart.h"
#include "mpi_below/net.h"
#include "os/native.h"

enum { MOST = 5 };

static const char *host[MOST]; /* of other processes */
static int size;
static struct manifest before;
static bool restarted;

int __wrap_net_size(void);
void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n);

int __wrap_net_size(void) {
  return size;
}

void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n) {
  for (int q = 0; q < size; q++) {
    memcpy(all + q * n, mine, (size_t)n * sizeof(*mine));
    if (host[q]) {
      strcpy((char *)(all + q * n), host[q]);
    }
  }
}

const struct manifest *restart_from(void) {
  return restarted ? &before : NULL;
}

uint64_t restart_landmark(void) {
  return 6;
}

START_TEST(each_host_is_named_once) {
  char own[256] = "", all[600];
  gethostname(own, sizeof(own) - 1);
  size = 1;
  char *names = checkpoint_about_hosts();
  ck_assert_str_eq(names, own);
  native_free(names);
  size = MOST;
  host[1] = "node";
  host[2] = "node2";
  host[3] = "node";
  snprintf(all, sizeof(all), "%s, node, node2", own);
  names = checkpoint_about_hosts();
  ck_assert_str_eq(names, all);
  native_free(names);
}
END_TEST

START_TEST(it_is_this_program) {
  struct manifest m;
  char path[4096];
  char *argv[] = {"a", "b", NULL};
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[n] = '\0';
  ck_assert_int_eq(chdir("/tmp"), 0);
  ck_assert_int_eq(checkpoint_about(&m, 3, "h, i", 2, argv, NULL), 0);
  ck_assert_str_eq(m.program, path);
  ck_assert_str_eq(m.directory, "/tmp");
  ck_assert_str_eq(m.hosts, "h, i");
  ck_assert_ptr_eq(m.argument, argv);
  ck_assert(m.arguments == 2 && m.v == 3 && m.sequence == 1 && m.landmark == 6);
  ck_assert_uint_eq(m.stack_limit, fixed_stack_limit());
  m.rank[2].bytes = 1;
}
END_TEST

START_TEST(it_goes_on_with_what_it_was) {
  struct manifest m;
  char *argv[] = {"a", NULL}, *was[] = {"x", "y", "z", NULL};
  restarted = true;
  before = (struct manifest){
      .directory = "/usr", .argument = was, .arguments = 3, .sequence = 7};
  ck_assert_int_eq(checkpoint_about(&m, 3, "h", 1, argv, NULL), 0);
  ck_assert_str_eq(m.directory, "/usr");
  ck_assert_ptr_eq(m.argument, was);
  ck_assert(m.arguments == 3 && m.sequence == 8);
}
END_TEST

int main(void) {
  return check_main("checkpoint_about",
                    (const TTest *[]){each_host_is_named_once,
                                      it_is_this_program,
                                      it_goes_on_with_what_it_was, NULL});
}
