#define _GNU_SOURCE
#include "vp/binding.h"

#include "check_main.h"
#include "config/options.h"

#include <check.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct pems_error error;
static char list[256];

static void release(void) {
  binding_end();
}

/* A job on a machine that hwloc makes up; `allowed` is a list of CPUs, NULL for
   all. */
static int start(const char *machine, const char *allowed, int bind, int n,
                 int k, int host_rank, int host_size) {
  hwloc_topology_t t;
  hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
  ck_assert_int_eq(hwloc_topology_init(&t), 0);
  ck_assert_int_eq(hwloc_topology_set_synthetic(t, machine), 0);
  ck_assert_int_eq(hwloc_topology_load(t), 0);
  if (allowed) {
    ck_assert_int_eq(hwloc_bitmap_list_sscanf(cpus, allowed), 0);
  } else {
    hwloc_bitmap_copy(cpus, hwloc_topology_get_allowed_cpuset(t));
  }
  error.text[0] = '\0';
  const int failed =
      binding_start_on(t, cpus, bind, n, k, host_rank, host_size, &error);
  hwloc_bitmap_free(cpus);
  hwloc_topology_destroy(t);
  return failed;
}

static const char *cpus(int vp, int slot) {
  return binding_cpus(vp, slot, list, sizeof(list));
}

/* --- made-up machines ----------------------------------------------------- */

#define TWO_NODES "numa:2 core:2 pu:2" /* CPUs 0-3 and 4-7 */
#define ONE_NODE "numa:1 core:4 pu:1"

START_TEST(none_binds_nothing) {
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_NONE, 4, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "none");
  ck_assert_str_eq(cpus(0, 0), "");
  ck_assert_int_eq(binding_node(0), -1);
}
END_TEST

START_TEST(auto_is_numa_where_there_are_nodes) {
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_AUTO, 4, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "2 NUMA nodes");
  ck_assert_int_eq(start(ONE_NODE, NULL, BIND_AUTO, 4, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "none");
  /* Only one of the nodes may be used. */
  ck_assert_int_eq(start(TWO_NODES, "4-7", BIND_AUTO, 4, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "none");
  /* More at once than cores is no reason to fail. */
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_AUTO, 99, 99, 0, 1), 0);
  ck_assert_int_eq(start(TWO_NODES, "", BIND_AUTO, 1, 1, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "none");
}
END_TEST

START_TEST(each_slot_has_a_core_whoever_runs_there) {
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_CORE, 9, 4, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "4 cores");
  static const char *const of_slot[] = {"0-1", "2-3", "4-5", "6-7"};
  for (int vp = 0; vp < 9; vp++) {
    for (int slot = 0; slot < 4; slot++) {
      ck_assert_str_eq(cpus(vp, slot), of_slot[slot]);
    }
  }
  ck_assert_int_eq(binding_node(0), -1);
}
END_TEST

START_TEST(cores_left_over_are_shared_out) {
  ck_assert_int_eq(start("numa:1 core:8 pu:1", NULL, BIND_CORE, 9, 3, 0, 1), 0);
  ck_assert_str_eq(cpus(0, 0), "0-1");
  ck_assert_str_eq(cpus(0, 1), "2-4");
  ck_assert_str_eq(cpus(0, 2), "5-7");
  ck_assert_int_eq(start("numa:1 core:8 pu:1", NULL, BIND_CORE, 9, 1, 0, 1), 0);
  ck_assert_str_eq(cpus(8, 0), "0-7");
}
END_TEST

START_TEST(only_allowed_cpus_are_used) {
  ck_assert_int_eq(start(TWO_NODES, "1,6-7", BIND_CORE, 4, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "2 cores");
  ck_assert_str_eq(cpus(0, 0), "1");
  ck_assert_str_eq(cpus(0, 1), "6-7");
  ck_assert_int_eq(start(TWO_NODES, "1,6-7", BIND_NUMA, 4, 2, 0, 1), 0);
  ck_assert_str_eq(cpus(0, 0), "1");
  ck_assert_str_eq(cpus(1, 0), "6-7");
  ck_assert_int_eq(start(TWO_NODES, "1,4,6", BIND_CORE, 4, 1, 0, 1), 0);
  ck_assert_str_eq(cpus(0, 0), "1,4,6");
}
END_TEST

START_TEST(too_few_cores_are_refused) {
  ck_assert_int_eq(start(TWO_NODES, "0-3", BIND_CORE, 4, 3, 0, 1), EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-bind: core: this process has 2 cores for "
                   "--pems-k=3: use a smaller --pems-k or "
                   "--pems-bind=none");
  ck_assert_str_eq(binding_describe(), "none");
  ck_assert_str_eq(cpus(0, 0), "");
  ck_assert_int_eq(start("numa:1 core:2 pu:1", NULL, BIND_CORE, 4, 1, 0, 3),
                   EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-bind: core: this process has 0 cores for "
                   "--pems-k=1: use fewer processes or "
                   "--pems-bind=none");
  ck_assert_int_eq(start(TWO_NODES, "", BIND_CORE, 4, 1, 0, 1), ENODEV);
  ck_assert_str_eq(error.text,
                   "--pems-bind: core: no core was found that may be "
                   "used: use --pems-bind=none");
  ck_assert_int_eq(start(TWO_NODES, "", BIND_NUMA, 4, 1, 0, 1), ENODEV);
  ck_assert_str_eq(error.text,
                   "--pems-bind: numa: no core was found that may be "
                   "used: use --pems-bind=none");
}
END_TEST

/* A failed start after a good one leaves nothing of that. */
START_TEST(a_failed_start_binds_nothing) {
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_NUMA, 4, 1, 0, 1), 0);
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_CORE, 9, 9, 0, 1), EINVAL);
  ck_assert_str_eq(binding_describe(), "none");
  ck_assert_int_eq(binding_node(0), -1);
}
END_TEST

START_TEST(processes_have_disjoint_cores) {
  for (int size = 1; size <= 8; size++) {
    hwloc_bitmap_t all = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
    for (int rank = 0; rank < size; rank++) {
      ck_assert_int_eq(start("numa:1 core:8 pu:2", NULL, BIND_CORE, 8 / size,
                             8 / size, rank, size),
                       0);
      for (int slot = 0; slot < 8 / size; slot++) {
        hwloc_bitmap_list_sscanf(one, cpus(0, slot));
        ck_assert(!hwloc_bitmap_iszero(one));
        ck_assert(!hwloc_bitmap_intersects(all, one));
        hwloc_bitmap_or(all, all, one);
      }
    }
    ck_assert_int_eq(hwloc_bitmap_weight(all), 16);
    hwloc_bitmap_free(all);
    hwloc_bitmap_free(one);
  }
}
END_TEST

START_TEST(processes_have_disjoint_nodes) {
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_AUTO, 4, 2, 1, 2), 0);
  ck_assert_str_eq(binding_describe(), "1 NUMA node");
  for (int vp = 0; vp < 4; vp++) {
    ck_assert_str_eq(cpus(vp, 0), "4-7");
    ck_assert_int_eq(binding_node(vp), 1);
  }
  ck_assert_int_eq(start(TWO_NODES, NULL, BIND_NUMA, 4, 1, 1, 4), 0);
  ck_assert_str_eq(cpus(0, 0), "2-3"); /* half a node each */
  ck_assert_int_eq(start("numa:2 core:3 pu:1", NULL, BIND_NUMA, 4, 1, 1, 3), 0);
  ck_assert_str_eq(binding_describe(), "2 NUMA nodes");
  ck_assert_str_eq(cpus(0, 0), "2"); /* one across both */
  ck_assert_str_eq(cpus(1, 0), "3");
}
END_TEST

START_TEST(more_processes_than_cores_share_nodes) {
  for (int rank = 0; rank < 10; rank++) {
    ck_assert_int_eq(start(TWO_NODES, NULL, BIND_NUMA, 2, 1, rank, 10), 0);
    ck_assert_str_eq(binding_describe(), "1 NUMA node");
    ck_assert_str_eq(cpus(1, 0), rank < 5 ? "0-3" : "4-7");
  }
}
END_TEST

START_TEST(neighbouring_vps_are_on_different_nodes) {
  ck_assert_int_eq(start("numa:4 core:2 pu:1", NULL, BIND_NUMA, 16, 8, 0, 1),
                   0);
  for (int vp = 0; vp < 16; vp += 4) {
    int seen = 0;
    for (int i = 0; i < 4; i++) {
      seen |= 1 << binding_node(vp + i);
    }
    ck_assert_int_eq(seen, 15);
  }
  /* The slot does not matter. */
  ck_assert_str_eq(cpus(1, 0), "2-3");
  ck_assert_str_eq(cpus(1, 7), "2-3");
}
END_TEST

START_TEST(nodes_have_vps_as_they_have_cores) {
  int vps[2] = {0};
  ck_assert_int_eq(
      start("numa:2 core:6 pu:1", "0-5,6-7", BIND_NUMA, 400, 8, 0, 1), 0);
  for (int vp = 0; vp < 400; vp++) {
    ck_assert_int_eq(binding_node(vp), *cpus(vp, 0) == '0' ? 0 : 1);
    vps[binding_node(vp)]++;
    /* At any time, not only in the end. */
    ck_assert_int_le(abs(vps[0] - 3 * vps[1]), 4);
  }
  ck_assert_int_eq(vps[0], 300);
}
END_TEST

START_TEST(nodes_are_those_next_to_the_core) {
  /* Two kinds of memory for the same cores: the first is the usual one. */
  ck_assert_int_eq(
      start("pack:2 [numa] [numa] core:2 pu:1", NULL, BIND_AUTO, 2, 2, 0, 1),
      0);
  ck_assert_str_eq(binding_describe(), "2 NUMA nodes");
  ck_assert_str_eq(cpus(0, 0), "0-1");
  ck_assert_str_eq(cpus(1, 0), "2-3");
  ck_assert_int_ne(binding_node(0), binding_node(1));
  ck_assert_int_eq(
      start("pack:1 [numa] [numa] core:2 pu:1", NULL, BIND_AUTO, 2, 2, 0, 1),
      0);
  ck_assert_str_eq(binding_describe(), "none");
  /* Memory of the package, and that of each half of it. */
  ck_assert_int_eq(start("pack:1 [numa] group:2 [numa] core:2 pu:1", NULL,
                         BIND_AUTO, 2, 2, 0, 1),
                   0);
  ck_assert_str_eq(binding_describe(), "2 NUMA nodes");
  ck_assert_str_eq(cpus(0, 0), "0-1");
  ck_assert_str_eq(cpus(1, 0), "2-3");
}
END_TEST

START_TEST(many_cpus_fit) {
  ck_assert_int_eq(
      start("numa:16 core:64 pu:2", NULL, BIND_CORE, 2000, 1024, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "1024 cores");
  ck_assert_str_eq(cpus(1999, 1023), "2046-2047");
  ck_assert_int_eq(
      start("numa:16 core:64 pu:2", NULL, BIND_NUMA, 2000, 1024, 0, 1), 0);
  ck_assert_str_eq(cpus(1999, 0), "1920-2047");
}
END_TEST

START_TEST(a_short_list_is_cut) {
  ck_assert_int_eq(
      start("numa:1 core:8 pu:1", "0,2,4,6", BIND_CORE, 1, 1, 0, 1), 0);
  char small[8] = "1234567";
  ck_assert_ptr_eq(binding_cpus(0, 0, small, 4), small);
  ck_assert_str_eq(small, "0,2");
  ck_assert_str_eq(small + 4, "567");
}
END_TEST

/* --- this machine --------------------------------------------------------- */

static cpu_set_t allowed;
static int first_cpu, last_cpu;

static void note_cpus(void) {
  ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  first_cpu = -1;
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &allowed)) {
      last_cpu = i;
      if (first_cpu < 0) {
        first_cpu = i;
      }
    }
  }
}

static cpu_set_t here(void) {
  cpu_set_t set;
  ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

static void allow_one(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static int start_here(int bind, int n, int k, int host_rank, int host_size) {
  error.text[0] = '\0';
  return binding_start(bind, n, k, host_rank, host_size, &error);
}

static bool missing_cores(int n) {
  if (first_cpu != last_cpu && start_here(BIND_CORE, n, n, 0, 1) == 0) {
    return false;
  }
  printf("SKIP: this process may use fewer than %d cores\n", n);
  return true;
}

START_TEST(a_thread_is_bound_to_the_core_of_its_slot) {
  if (missing_cores(2)) {
    return;
  }
  cpu_set_t zero, one, both;
  binding_thread(5, 0);
  zero = here();
  binding_thread(3, 1);
  one = here();
  CPU_AND(&both, &zero, &one);
  ck_assert_int_ge(CPU_COUNT(&zero), 1);
  ck_assert_int_ge(CPU_COUNT(&one), 1);
  ck_assert_int_eq(CPU_COUNT(&both), 0);
  CPU_OR(&both, &zero, &one);
  ck_assert(CPU_EQUAL(&both, &allowed));
  binding_thread(5, 0);
  both = here();
  ck_assert(CPU_EQUAL(&both, &zero));
}
END_TEST

START_TEST(a_thread_that_stays_is_left_alone) {
  if (missing_cores(2)) {
    return;
  }
  errno = 77;
  binding_thread(0, 0);
  sched_setaffinity(0, sizeof(allowed), &allowed); /* what the program does */
  binding_thread(0, 0);
  cpu_set_t now = here();
  ck_assert(CPU_EQUAL(&now, &allowed));
  ck_assert_int_eq(errno, 77);
  /* What the thread remembers is of this job only. */
  binding_end();
  ck_assert_int_eq(start_here(BIND_CORE, 2, 2, 0, 1), 0);
  binding_thread(0, 0);
  now = here();
  ck_assert(!CPU_EQUAL(&now, &allowed));
}
END_TEST

static void *bound_elsewhere(void *set) {
  binding_thread(1, 1);
  *(cpu_set_t *)set = here();
  return NULL;
}

START_TEST(only_the_calling_thread_is_bound) {
  if (missing_cores(2)) {
    return;
  }
  cpu_set_t other, mine;
  pthread_t thread;
  binding_thread(0, 0);
  pthread_create(&thread, NULL, bound_elsewhere, &other);
  pthread_join(thread, NULL);
  mine = here();
  ck_assert(!CPU_EQUAL(&mine, &other));
}
END_TEST

START_TEST(processes_share_this_machine) {
  if (missing_cores(2)) {
    return;
  }
  cpu_set_t set[2], both;
  for (int rank = 0; rank < 2; rank++) {
    ck_assert_int_eq(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
    ck_assert_int_eq(start_here(BIND_CORE, 1, 1, rank, 2), 0);
    binding_thread(0, 0);
    set[rank] = here();
  }
  CPU_AND(&both, &set[0], &set[1]);
  ck_assert_int_eq(CPU_COUNT(&both), 0);
}
END_TEST

START_TEST(the_affinity_of_the_process_is_respected) {
  if (missing_cores(2)) {
    return;
  }
  allow_one(last_cpu);
  ck_assert_int_eq(start_here(BIND_CORE, 2, 2, 0, 1), EINVAL);
  ck_assert_ptr_nonnull(
      strstr(error.text, "this process has 1 core for --pems-k=2"));
  ck_assert_int_eq(start_here(BIND_CORE, 2, 1, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "1 core");
  char number[16];
  snprintf(number, sizeof(number), "%d", last_cpu);
  ck_assert_str_eq(cpus(0, 0), number);
  binding_thread(0, 0);
  const cpu_set_t now = here();
  ck_assert_int_eq(CPU_COUNT(&now), 1);
  ck_assert(CPU_ISSET(last_cpu, &now));
}
END_TEST

START_TEST(none_leaves_threads_alone) {
  ck_assert_int_eq(start_here(BIND_NONE, 2, 99, 0, 1), 0);
  binding_thread(1, 98);
  binding_memory(1, NULL, 4096);
  const cpu_set_t now = here();
  ck_assert(CPU_EQUAL(&now, &allowed));
  ck_assert_str_eq(binding_describe(), "none");
}
END_TEST

START_TEST(auto_works_here_whatever_here_is) {
  ck_assert_int_eq(start_here(BIND_AUTO, 3, 2, 0, 1), 0);
  for (int vp = 0; vp < 3; vp++) {
    binding_thread(vp, vp % 2);
  }
}
END_TEST

START_TEST(hwloc_may_describe_another_machine) {
  setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
  ck_assert_int_eq(start_here(BIND_AUTO, 3, 2, 0, 1), 0);
  ck_assert_str_eq(binding_describe(), "none");
  ck_assert_int_eq(start_here(BIND_CORE, 3, 1, 0, 1), ENODEV);
  ck_assert_str_eq(error.text,
                   "--pems-bind: core: hwloc cannot tell the cores of "
                   "this machine: use --pems-bind=none");
}
END_TEST

/* Taken away after the start, or never there. */
START_TEST(cpus_that_are_gone_are_survived) {
  ck_assert_int_eq(start("numa:1 core:2 pu:1(indexes=7998,7999)", NULL,
                         BIND_CORE, 2, 2, 0, 1),
                   0);
  int pipes[2];
  char said[256] = "";
  ck_assert_int_eq(pipe(pipes), 0);
  const int stderr_copy = dup(2);
  dup2(pipes[1], 2);
  binding_thread(0, 0);
  binding_thread(0, 1);
  dup2(stderr_copy, 2);
  close(pipes[1]);
  ck_assert_int_gt(read(pipes[0], said, sizeof(said) - 1), 0);
  ck_assert_str_eq(said, "pems: binding a thread: 2 cores: Invalid argument: "
                         "going on without\n");
  const cpu_set_t now = here();
  ck_assert(CPU_EQUAL(&now, &allowed));
}
END_TEST

START_TEST(memory_prefers_the_node_of_its_vp) {
  const size_t n = 1 << 20;
  ck_assert_int_eq(start_here(BIND_NUMA, 2, 1, 0, 1), 0);
  char *const p =
      mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  errno = 77;
  binding_memory(0, p, n / 2);
  ck_assert_int_eq(errno, 77);
  int policy = -1;
  unsigned long nodes[16] = {0};
  const int node = binding_node(0);
  if (node < 0 ||
      syscall(SYS_get_mempolicy, &policy, nodes, 1024, p, MPOL_F_ADDR) != 0) {
    printf("SKIP: this kernel does not tell where memory is\n");
  } else {
    ck_assert_int_eq(policy, MPOL_PREFERRED);
    for (int i = 0; i < 16; i++) {
      ck_assert_uint_eq(nodes[i], i == node / 64 ? 1ul << node % 64 : 0);
    }
    ck_assert_int_eq(syscall(SYS_get_mempolicy, &policy, nodes, 1024, p + n / 2,
                             MPOL_F_ADDR),
                     0);
    ck_assert_int_eq(policy, MPOL_DEFAULT);
  }
  memset(p, 1, n);
  munmap(p, n);
}
END_TEST

START_TEST(memory_of_a_node_that_is_not_here_is_survived) {
  ck_assert_int_eq(start("numa:64 core:1 pu:1", NULL, BIND_NUMA, 64, 64, 0, 1),
                   0);
  ck_assert_int_eq(binding_node(63), 63);
  char *const p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  binding_memory(63, p, 4096);
  *p = 1;
  munmap(p, 4096);
}
END_TEST

START_TEST(colors_tell_cpus_apart) {
  if (first_cpu == last_cpu) {
    return;
  }
  const int all = binding_color();
  ck_assert_int_ge(all, 0);
  ck_assert_int_eq(binding_color(), all);
  allow_one(first_cpu);
  const int first = binding_color();
  allow_one(last_cpu);
  const int last = binding_color();
  ck_assert_int_ge(last, 0);
  ck_assert_int_ne(all, first);
  ck_assert_int_ne(all, last);
  ck_assert_int_ne(first, last);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("place");
  TCase *const t = tcase_create("made-up machines");
  tcase_set_timeout(t, 30);
  tcase_add_checked_fixture(t, NULL, release);
  tcase_add_test(t, none_binds_nothing);
  tcase_add_test(t, auto_is_numa_where_there_are_nodes);
  tcase_add_test(t, each_slot_has_a_core_whoever_runs_there);
  tcase_add_test(t, cores_left_over_are_shared_out);
  tcase_add_test(t, only_allowed_cpus_are_used);
  tcase_add_test(t, too_few_cores_are_refused);
  tcase_add_test(t, a_failed_start_binds_nothing);
  tcase_add_test(t, processes_have_disjoint_cores);
  tcase_add_test(t, processes_have_disjoint_nodes);
  tcase_add_test(t, more_processes_than_cores_share_nodes);
  tcase_add_test(t, neighbouring_vps_are_on_different_nodes);
  tcase_add_test(t, nodes_have_vps_as_they_have_cores);
  tcase_add_test(t, nodes_are_those_next_to_the_core);
  tcase_add_test(t, many_cpus_fit);
  tcase_add_test(t, a_short_list_is_cut);
  suite_add_tcase(s, t);
  TCase *const h = tcase_create("this machine");
  tcase_set_timeout(h, 30);
  tcase_add_checked_fixture(h, note_cpus, release);
  tcase_add_test(h, a_thread_is_bound_to_the_core_of_its_slot);
  tcase_add_test(h, a_thread_that_stays_is_left_alone);
  tcase_add_test(h, only_the_calling_thread_is_bound);
  tcase_add_test(h, processes_share_this_machine);
  tcase_add_test(h, the_affinity_of_the_process_is_respected);
  tcase_add_test(h, none_leaves_threads_alone);
  tcase_add_test(h, auto_works_here_whatever_here_is);
  tcase_add_test(h, hwloc_may_describe_another_machine);
  tcase_add_test(h, cpus_that_are_gone_are_survived);
  tcase_add_test(h, memory_prefers_the_node_of_its_vp);
  tcase_add_test(h, memory_of_a_node_that_is_not_here_is_survived);
  tcase_add_test(h, colors_tell_cpus_apart);
  suite_add_tcase(s, h);
  return check_run(s);
}
