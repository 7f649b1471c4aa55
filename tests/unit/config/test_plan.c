#define _GNU_SOURCE
#include "check_main.h"
#include "config/plan.h"
#include "config/size.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static struct plan p;
static struct options o;
static struct machine m;
static struct plan_site site;
static struct pems_error error;

/* One process on a machine of 4 cores, 8 GiB and a large disk. */
static void reset(void) {
  o = (struct options){0};
  m = (struct machine){.cores = 4,
                       .memory = 16 * GIB,
                       .available = 8 * GIB,
                       .limit = UINT64_MAX};
  site = (struct plan_site){.nprocs = 1,
                            .nprocs_host = 1,
                            .disk_free = 1024 * GIB,
                            .base_rss = 32 * MIB};
  error.text[0] = '\0';
}

static int make(void) {
  return plan_make(&p, &o, &m, &site, &error);
}

#define MADE() ck_assert_msg(make() == 0, "%s", error.text)

/* What holds in every plan. */
static void check_plan(void) {
  ck_assert_uint_eq(p.memory.memory,
                    memory_plan_overhead(&p.memory) + p.resident);
  ck_assert_uint_ge(p.resident, p.mu);
  ck_assert_int_ge(p.k, 1);
  ck_assert_int_le(p.own, p.v_local);
  ck_assert_int_le(p.k, p.own);
  ck_assert_uint_ge(p.mu, 64 * KIB);
  ck_assert_uint_eq(p.mu % (p.mu < 2 * MIB ? 64 * KIB : 2 * MIB), 0);
  const uint64_t most = p.resident > p.mu ? p.resident : p.mu;
  const uint64_t with_stack =
      p.mu + MEMORY_PLAN_STACK < most ? p.mu + MEMORY_PLAN_STACK : most;
  ck_assert_int_eq(p.needs_disk,
                   site.on_disk || (uint64_t)p.own * with_stack > p.resident);
}

START_TEST(without_options_it_is_a_normal_mpi_program) {
  site.nprocs = 6;
  site.nprocs_host = 2;
  MADE();
  check_plan();
  ck_assert_int_eq(p.v, 6);
  ck_assert_int_eq(p.nprocs, 6);
  ck_assert_int_eq(p.v_local, 1);
  ck_assert_int_eq(p.k, 1);
  ck_assert(!p.needs_disk);
  ck_assert_uint_gt(p.mu, p.resident - 2 * MIB);
}
END_TEST

START_TEST(memory_is_the_machines_less_a_tenth) {
  site.nprocs_host = 4;
  site.nprocs = 4;
  MADE();
  ck_assert_uint_eq(p.memory.memory, 2 * GIB - 2 * GIB / 10);
}
END_TEST

START_TEST(memory_is_what_the_cgroup_leaves) {
  m.limit = 3 * GIB;
  m.limit_used = 1 * GIB;
  site.nprocs_host = 2;
  MADE();
  ck_assert_uint_eq(p.memory.memory, GIB - GIB / 10);
  m.limit = 12 * GIB; /* more than the machine has */
  MADE();
  ck_assert_uint_eq(p.memory.memory, 4 * GIB - 4 * GIB / 10);
}
END_TEST

START_TEST(a_process_has_a_cgroup_for_itself) {
  m.limit = 257 * MIB;
  m.limit_used = MIB;
  site.base_rss = 10 * MIB;
  MADE();
  ck_assert_uint_eq(p.memory.memory, 250 * MIB);
  m.limit = 4 * GIB;
  m.limit_used = 0;
  MADE();
  ck_assert_uint_eq(p.memory.memory, 4 * GIB - 66 * MIB);
  m.limit = 9 * GIB; /* more than the machine has */
  MADE();
  ck_assert_uint_eq(p.memory.memory, 8 * GIB - 8 * GIB / 10);
}
END_TEST

START_TEST(given_memory_is_taken) {
  o.memory = 1 * GIB;
  o.v = 8;
  MADE();
  check_plan();
  ck_assert_uint_eq(p.memory.memory, GIB);
  ck_assert_uint_eq(p.memory.sigma, 64 * MIB);
  ck_assert_uint_eq(memory_plan_overhead(&p.memory) - p.memory.sigma / 4 * 3,
                    32 * MIB + 8 * 64 * KIB + 16 * MIB);
}
END_TEST

START_TEST(more_than_the_cgroup_has_is_told) {
  o.memory = 3 * GIB;
  MADE();
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
  m.limit = 4 * GIB;
  m.limit_used = 1 * GIB;
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
  site.nprocs_host = 2;
  ck_assert(plan_exceeds(&p, &o, &m, &site, &error));
  ck_assert_int_eq(error.code, ENOMEM);
  ck_assert_ptr_nonnull(strstr(error.text, "--pems-memory: 3.0 GiB"));
  ck_assert_ptr_nonnull(strstr(error.text, "1.5 GiB left"));
  o.memory = 0; /* what is chosen never does */
  MADE();
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
}
END_TEST

START_TEST(more_than_the_machine_has_is_told) {
  o.memory = 16 * GIB;
  MADE();
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
  o.memory = 1000 * GIB;
  MADE();
  ck_assert(plan_exceeds(&p, &o, &m, &site, &error));
  ck_assert_int_eq(error.code, ENOMEM);
  ck_assert_str_eq(error.text,
                   "--pems-memory: 1000.0 GiB: the machine has 16.0 GiB for "
                   "this process, and the system kills what takes more: give "
                   "less");
  o.memory = 9 * GIB; /* by each of two */
  site.nprocs = site.nprocs_host = 2;
  MADE();
  ck_assert(plan_exceeds(&p, &o, &m, &site, &error));
}
END_TEST

/* 8 ranks, whose contexts are on disk when others need the memory. */
START_TEST(a_disk_that_is_memory_counts) {
  o.v = 8;
  site.memory_dir = "/dev/shm";
  site.memory_free = 8 * GIB;
  MADE(); /* all but a tenth of what is left, and 8 GiB beside it */
  ck_assert(plan_exceeds(&p, &o, &m, &site, &error));
  ck_assert_int_eq(error.code, ENOMEM);
  ck_assert_msg(strncmp(error.text,
                        "scratch directory: /dev/shm: lies in memory: up to "
                        "8.0 GiB there beside 7.2 GiB of --pems-memory are "
                        "more than the 8.0 GiB left",
                        60) == 0,
                "%s", error.text);
  site.memory_free = 64 * MIB; /* where it is full before that harms */
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
  site.memory_free = 8 * GIB;
  site.memory_dir = NULL;
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
}
END_TEST

START_TEST(a_disk_that_is_memory_may_have_room_for_all) {
  o.v = 8;
  o.memory = 256 * MIB;
  o.context = 64 * MIB;
  site.memory_dir = "/dev/shm";
  site.memory_free = 8 * GIB;
  MADE();
  ck_assert(p.needs_disk);
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
  m.limit = 600 * MIB; /* of the cgroup, in which that memory counts */
  ck_assert(plan_exceeds(&p, &o, &m, &site, &error));
  o.context = 16 * MIB; /* all fit in memory */
  MADE();
  ck_assert(!p.needs_disk);
  ck_assert(!plan_exceeds(&p, &o, &m, &site, &error));
}
END_TEST

START_TEST(what_makes_contexts_larger_is_known) {
  o.v = 8;
  o.memory = GIB;
  MADE();
  ck_assert_str_eq(p.more, "more --pems-memory");
  o.reserve = RESERVE_ALL;
  MADE();
  ck_assert_str_eq(p.more, "--pems-reserve=used");
  o.k = 1;
  MADE();
  ck_assert_str_eq(p.more, "more --pems-memory");
  site.disk_free = 2 * GIB;
  MADE();
  ck_assert_uint_lt(p.mu, 256 * MIB);
  ck_assert_str_eq(p.more, "scratch directories with more room, or "
                           "--pems-reserve=used");
  o.context = 16 * MIB;
  MADE();
  ck_assert_str_eq(p.more, "more --pems-context");
}
END_TEST

START_TEST(small_memory_has_small_buffers) {
  o.memory = 64 * MIB;
  MADE();
  check_plan();
  ck_assert_uint_eq(p.memory.sigma, 8 * MIB);
  ck_assert_uint_eq(memory_plan_overhead(&p.memory) - p.memory.sigma / 4 * 3,
                    32 * MIB + 64 * KIB + 8 * MIB);
  o.sigma = 2 * MIB;
  MADE();
  check_plan();
  ck_assert_uint_eq(p.memory.sigma, 2 * MIB);
}
END_TEST

START_TEST(k_is_the_cores_of_a_process) {
  o.v = 64;
  MADE();
  check_plan();
  ck_assert_int_eq(p.k, 4);
  site.nprocs = site.nprocs_host = 2;
  MADE();
  ck_assert_int_eq(p.k, 2);
  site.nprocs = site.nprocs_host = 16; /* more than cores */
  MADE();
  ck_assert_int_eq(p.k, 1);
  o.v = 3;
  site.nprocs = site.nprocs_host = 1;
  MADE();
  ck_assert_int_eq(p.k, 3);
}
END_TEST

START_TEST(a_context_may_take_all_memory) {
  o.v = 32;
  o.k = 2;
  o.memory = 512 * MIB;
  MADE();
  check_plan();
  ck_assert_int_eq(p.k, 2);
  ck_assert_uint_gt(p.mu, p.resident - 2 * MIB);
  ck_assert(p.needs_disk);
}
END_TEST

START_TEST(many_contexts_have_room_for_addresses) {
  o.v = 4096;
  o.memory = 6 * GIB;
  MADE();
  check_plan();
  ck_assert_uint_le(p.mu, 2 * GIB);
  ck_assert_uint_ge(p.mu, p.resident / 4 - 2 * MIB);
}
END_TEST

START_TEST(all_at_once_need_no_disk) {
  o.v = 4;
  o.reserve = RESERVE_ALL;
  site.disk_free = 0;
  MADE();
  check_plan();
  ck_assert_int_eq(p.k, 4);
  ck_assert_uint_gt(p.mu, p.resident / 4 - 2 * MIB);
  ck_assert(!p.needs_disk);
}
END_TEST

START_TEST(a_small_disk_makes_small_contexts) {
  o.reserve = RESERVE_ALL;
  o.v = 32;
  o.k = 2;
  o.memory = 1 * GIB;
  site.nprocs_host = 2;
  site.disk_free = 8 * GIB;
  MADE();
  check_plan();
  /* 80 % of 8 GiB for 2 processes with 32 contexts each. */
  ck_assert_uint_eq(p.mu, 102 * MIB);
  ck_assert(p.needs_disk);
}
END_TEST

START_TEST(without_disk_contexts_fit_in_memory) {
  o.reserve = RESERVE_ALL;
  o.v = 32;
  o.k = 2;
  o.memory = 1 * GIB;
  site.disk_free = 100 * MIB;
  MADE();
  check_plan();
  ck_assert_uint_ge(p.mu, 26 * MIB);
  ck_assert(!p.needs_disk);
}
END_TEST

START_TEST(what_is_not_reserved_is_not_bounded_by_the_disk) {
  o.v = 32;
  o.k = 2;
  o.memory = 1 * GIB;
  for (int on_disk = 0; on_disk < 2; on_disk++) {
    site.on_disk = on_disk;
    site.disk_free = 0;
    MADE();
    check_plan();
    const uint64_t mu = p.mu;
    ck_assert_uint_gt(mu, p.resident - 2 * MIB);
    ck_assert(p.needs_disk);
    site.disk_free = 1024 * GIB;
    MADE();
    ck_assert_uint_eq(p.mu, mu);
  }
}
END_TEST

/* ext4 has files of 16 TiB. */
START_TEST(all_fit_in_one_file) {
  static const struct {
    int v;
    uint64_t memory;
  } large[] = {{1700, 24 * GIB}, {34, 1024 * GIB}, {65536, 4096 * GIB}};
  m.available = 4096 * GIB;
  site.disk_free = 65536 * GIB;
  for (int i = 0; i < 6; i++) {
    o.v = large[i / 2].v;
    o.k = 2;
    o.memory = large[i / 2].memory;
    o.reserve = i % 2 ? RESERVE_ALL : RESERVE_USED;
    site.file_most = 14 * 1024 * GIB;
    MADE();
    check_plan();
    ck_assert_uint_le(p.mu * (uint64_t)p.own, site.file_most);
    ck_assert_uint_gt((p.mu + 2 * MIB) * (uint64_t)p.own, 7 * 1024 * GIB);
    site.file_most = GIB;
    MADE();
    ck_assert(p.mu * (uint64_t)p.own <= GIB || p.mu == 64 * KIB);
  }
}
END_TEST

START_TEST(what_lies_on_disk_nevertheless_must_fit_there) {
  o.reserve = RESERVE_ALL;
  for (o.v = 2; o.v <= 32; o.v += 30) {
    o.k = 2;
    o.memory = 1 * GIB;
    site.disk_free = 100 * MIB;
    site.on_disk = 1;
    MADE();
    check_plan();
    ck_assert_uint_le(p.mu * (uint64_t)o.v, 80 * MIB);
    ck_assert_uint_ge(p.mu * (uint64_t)o.v, 64 * MIB);
    ck_assert(p.needs_disk);
  }
}
END_TEST

START_TEST(a_disk_too_small_for_any_context_is_left_to_its_opening) {
  o.reserve = RESERVE_ALL;
  o.v = 8192;
  o.k = 1;
  o.memory = 32 * MIB + 8192 * 64 * KIB + 16 * MIB + 64 * MIB + 64 * MIB;
  site.disk_free = 0;
  MADE();
  check_plan();
  ck_assert_uint_eq(p.mu, 64 * KIB);
  ck_assert(p.needs_disk);
}
END_TEST

START_TEST(given_contexts_are_rounded_up) {
  static const uint64_t cases[][2] = {
      {64 * KIB, 64 * KIB}, {65 * KIB, 128 * KIB},  {2 * MIB - 1, 2 * MIB},
      {2 * MIB, 2 * MIB},   {2 * MIB + 1, 4 * MIB}, {100 * MIB, 100 * MIB},
  };
  o.v = 8;
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    o.context = cases[i][0];
    MADE();
    check_plan();
    ck_assert_uint_eq(p.mu, cases[i][1]);
  }
}
END_TEST

START_TEST(given_contexts_that_all_fit_need_no_disk) {
  o.v = 32;
  o.context = 16 * MIB;
  o.memory = 1 * GIB;
  MADE();
  check_plan();
  ck_assert(!p.needs_disk);
  o.context = 64 * MIB;
  MADE();
  check_plan();
  ck_assert(p.needs_disk);
}
END_TEST

START_TEST(contexts_need_not_all_fit_at_once) {
  o.v = 32;
  o.memory = 1 * GIB;
  o.context = 300 * MIB;
  MADE();
  check_plan();
  ck_assert_int_eq(p.k, 4);
  o.context = 800 * MIB;
  MADE();
  check_plan();
  ck_assert_int_eq(p.k, 4);
  o.k = 2; /* together with the context, that is a promise */
  ck_assert_int_eq(make(), ENOMEM);
}
END_TEST

START_TEST(k_gives_way_to_little_memory) {
  m.cores = 128;
  o.v = 128;
  /* 2 MiB remain for contexts. */
  o.sigma = 1 * MIB;
  o.memory = 67 * MIB;
  MADE();
  check_plan();
  ck_assert_int_lt(p.k, 128);
  ck_assert_uint_ge(p.mu, 64 * KIB);
  ck_assert_uint_ge(p.resident, (uint64_t)p.k * 64 * KIB);
}
END_TEST

START_TEST(fewer_vps_than_processes) {
  o.v = 5;
  site.nprocs = 8;
  ck_assert_int_eq(make(), EINVAL);
  ck_assert_str_eq(error.text,
                   "fewer ranks than processes: 5 with 8 processes: give 8 "
                   "ranks or more (pemsrun -n, --pems-v), or fewer processes "
                   "(--pems-procs)");
}
END_TEST

START_TEST(k_over_v_by_p) {
  o.v = 9;
  o.k = 6;
  site.nprocs = 2;
  ck_assert_int_eq(make(), EINVAL);
  ck_assert_str_eq(error.text,
                   "k > v/P: --pems-k=6 with 9 virtual processors on 2 "
                   "processes: give --pems-k=5 or less");
  o.k = 5;
  MADE();
  ck_assert_int_eq(p.k, 5);
}
END_TEST

/* The number after "--pems-memory=" is just enough. */
static void check_advice(void) {
  const char *const advice = strstr(error.text, "need --pems-memory=");
  ck_assert_msg(advice != NULL, "%s", error.text);
  uint64_t least;
  char size[32] = "";
  const char *const number = advice + strlen("need --pems-memory=");
  memcpy(size, number, strcspn(number, " "));
  ck_assert_int_eq(size_parse(size, &least), 0);
  o.memory = least;
  MADE();
  check_plan();
  o.memory = least - 2 * MIB;
  ck_assert_int_eq(make(), ENOMEM);
}

START_TEST(memory_smaller_than_k_contexts) {
  o.v = 8;
  o.k = 4;
  o.context = 64 * MIB;
  o.memory = 256 * MIB;
  ck_assert_int_eq(make(), ENOMEM);
  ck_assert_str_eq(error.text,
                   "too little memory: 256.0 MiB (--pems-memory): 4 "
                   "contexts of 64.0 MiB at once, of 8, and pems itself "
                   "need --pems-memory=337M or more");
  check_advice();
}
END_TEST

START_TEST(memory_smaller_than_one_context) {
  o.v = 8;
  o.context = 1 * GIB;
  o.memory = 1 * GIB;
  ck_assert_int_eq(make(), ENOMEM);
  ck_assert_ptr_nonnull(
      strstr(error.text, "1 context of 1.0 GiB at once, of 8"));
  check_advice();
}
END_TEST

START_TEST(memory_smaller_than_pems_itself) {
  o.v = 65536;
  o.memory = 1 * GIB;
  ck_assert_int_eq(make(), ENOMEM);
  check_advice();
  reset();
  o.memory = 16 * MIB;
  ck_assert_int_eq(make(), ENOMEM);
  check_advice();
}
END_TEST

START_TEST(sigma_larger_than_memory) {
  o.memory = 64 * MIB;
  o.sigma = 1 * GIB;
  ck_assert_int_eq(make(), ENOMEM);
  check_advice();
}
END_TEST

START_TEST(a_full_machine) {
  m.limit = 100 * MIB;
  m.limit_used = 100 * MIB;
  ck_assert_int_eq(make(), ENOMEM);
  ck_assert_str_eq(error.text,
                   "too little memory: 0 B left for this process: 1 "
                   "context of 64.0 KiB at once, of 1, and pems itself "
                   "need 42M: free some, or use more hosts");
}
END_TEST

START_TEST(alpha_is_dynamic_unless_it_is_given) {
  MADE();
  ck_assert_int_eq(p.alpha, 0);
  o.alpha = 100;
  MADE();
  ck_assert_int_eq(p.alpha, 100);
}
END_TEST

START_TEST(every_plan_holds_together) {
  static const int vs[] = {1, 2, 3, 7, 16, 64, 1000};
  static const int procs[] = {1, 2, 5};
  static const uint64_t memories[] = {0, 64 * MIB, 512 * MIB, 64 * GIB};
  static const uint64_t contexts[] = {0, 100 * KIB, 3 * MIB, 200 * MIB};
  static const uint64_t frees[] = {0, 100 * MIB, 100 * GIB};
  int made = 0;
  for (int i = 0; i < 7 * 3 * 4 * 4 * 3; i++) {
    reset();
    o.v = vs[i % 7];
    site.nprocs = procs[i / 7 % 3];
    site.nprocs_host = site.nprocs;
    o.memory = memories[i / 21 % 4];
    o.context = contexts[i / 84 % 4];
    site.disk_free = frees[i / 336];
    if (make() == 0) {
      check_plan();
      made++;
    } else {
      ck_assert_str_ne(error.text, "");
    }
  }
  ck_assert_int_gt(made, 500);
}
END_TEST

START_TEST(a_process_with_few_ranks_plans_for_those) {
  o.v = 40;
  o.memory = 1 * GIB;
  site.nprocs = 2;
  site.own = 4;
  site.most = 36;
  MADE();
  check_plan();
  ck_assert_int_eq(p.v_local, 36);
  ck_assert_int_eq(p.own, 4);
  ck_assert_int_eq(p.k, 4);
  ck_assert_uint_eq(memory_plan_overhead(&p.memory) - p.memory.sigma,
                    32 * MIB + 4 * 64 * KIB + 16 * MIB);
  o.k = 5;
  ck_assert_int_eq(make(), EINVAL);
  ck_assert_str_eq(error.text,
                   "k > v/P: --pems-k=5 with 4 of the 40 virtual "
                   "processors on this process: give --pems-k=4 or less");
}
END_TEST

static struct split_offer offer(void) {
  return plan_offer(&o, &m, &site);
}

START_TEST(an_offer_is_what_an_even_plan_would_have) {
  o.v = 32;
  site.nprocs = 2;
  MADE();
  ck_assert_uint_eq(offer().cores, 4);
  ck_assert_uint_eq(offer().least, 1);
  ck_assert_uint_eq(offer().given, 0);
  ck_assert_uint_eq(offer().context, 1814 * MIB); /* a share of each core */
  ck_assert_uint_eq(offer().room, 1024 * GIB / 10 * 8);
  o.k = 2;
  MADE();
  ck_assert_uint_eq(offer().cores, 2);
  ck_assert_uint_eq(offer().least, 2);
  ck_assert_uint_ge(offer().context, p.mu / 2 - 2 * MIB);
  ck_assert_uint_le(offer().context, p.mu / 2);
}
END_TEST

START_TEST(an_offer_of_room_is_memory_or_disk) {
  o.v = 32;
  o.memory = 1 * GIB;
  site.nprocs = site.nprocs_host = 2;
  MADE();
  ck_assert_uint_eq(offer().room, 1024 * GIB / 10 * 8 / 2);
  site.disk_free = 100 * MIB;
  ck_assert_uint_eq(offer().room, p.resident);
  site.on_disk = 1;
  ck_assert_uint_eq(offer().room, 100 * MIB / 10 * 8 / 2);
}
END_TEST

START_TEST(an_offer_has_no_more_cores_than_given_contexts_in_memory) {
  o.v = 32;
  o.memory = 1 * GIB;
  o.context = 300 * MIB + 1;
  ck_assert_uint_eq(offer().cores, 3);
  ck_assert_uint_eq(offer().context, 302 * MIB);
  ck_assert_uint_eq(offer().given, 1);
  o.context = 2 * GIB; /* that it does not fit is for plan_make to say */
  ck_assert_uint_eq(offer().cores, 1);
  o.k = 4;
  ck_assert_uint_eq(offer().cores, 4);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("plan");
  TCase *const t = tcase_create("plan");
  tcase_add_checked_fixture(t, reset, NULL);
  tcase_add_test(t, without_options_it_is_a_normal_mpi_program);
  tcase_add_test(t, memory_is_the_machines_less_a_tenth);
  tcase_add_test(t, a_process_has_a_cgroup_for_itself);
  tcase_add_test(t, memory_is_what_the_cgroup_leaves);
  tcase_add_test(t, given_memory_is_taken);
  tcase_add_test(t, more_than_the_cgroup_has_is_told);
  tcase_add_test(t, more_than_the_machine_has_is_told);
  tcase_add_test(t, a_disk_that_is_memory_counts);
  tcase_add_test(t, a_disk_that_is_memory_may_have_room_for_all);
  tcase_add_test(t, what_makes_contexts_larger_is_known);
  tcase_add_test(t, small_memory_has_small_buffers);
  tcase_add_test(t, k_is_the_cores_of_a_process);
  tcase_add_test(t, a_context_may_take_all_memory);
  tcase_add_test(t, many_contexts_have_room_for_addresses);
  tcase_add_test(t, all_at_once_need_no_disk);
  tcase_add_test(t, a_small_disk_makes_small_contexts);
  tcase_add_test(t, without_disk_contexts_fit_in_memory);
  tcase_add_test(t, what_is_not_reserved_is_not_bounded_by_the_disk);
  tcase_add_test(t, what_lies_on_disk_nevertheless_must_fit_there);
  tcase_add_test(t, all_fit_in_one_file);
  tcase_add_test(t, a_disk_too_small_for_any_context_is_left_to_its_opening);
  tcase_add_test(t, given_contexts_are_rounded_up);
  tcase_add_test(t, given_contexts_that_all_fit_need_no_disk);
  tcase_add_test(t, contexts_need_not_all_fit_at_once);
  tcase_add_test(t, k_gives_way_to_little_memory);
  tcase_add_test(t, fewer_vps_than_processes);
  tcase_add_test(t, k_over_v_by_p);
  tcase_add_test(t, memory_smaller_than_k_contexts);
  tcase_add_test(t, memory_smaller_than_one_context);
  tcase_add_test(t, memory_smaller_than_pems_itself);
  tcase_add_test(t, sigma_larger_than_memory);
  tcase_add_test(t, a_full_machine);
  tcase_add_test(t, alpha_is_dynamic_unless_it_is_given);
  tcase_add_test(t, every_plan_holds_together);
  tcase_add_test(t, a_process_with_few_ranks_plans_for_those);
  tcase_add_test(t, an_offer_is_what_an_even_plan_would_have);
  tcase_add_test(t, an_offer_of_room_is_memory_or_disk);
  tcase_add_test(t, an_offer_has_no_more_cores_than_given_contexts_in_memory);
  suite_add_tcase(s, t);
  return check_run(s);
}
