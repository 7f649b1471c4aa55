/* Where a program linked by pemscc begins (src/interpose/program/start.c calls
   pems_main): lays out the job, loads one copy of the program per VP, runs
   them, and reports. */
#define _GNU_SOURCE
#include "base/counters.h"
#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "base/stop.h"
#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "config/split.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "context/context.h"
#include "context/image/image.h"
#include "context/image/original.h"
#include "disk/choice.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/disk.h"
#include "disk/paged.h"
#include "drivers/driver.h"
#include "em/core/host.h"
#include "interpose/dlfcn.h"
#include "interpose/malloc.h"
#include "interpose/steps.h"
#include "interpose/tag.h"
#include "mpi/check/check_buffers.h"
#include "mpi/coll/call/mailbox.h"
#include "mpi/coll/move/coll_remote.h"
#include "mpi/comm/service.h"
#include "mpi/comm/spawn_child.h"
#include "mpi/comm/universe.h"
#include "mpi/io/file_owner.h"
#include "mpi/job/job_report.h"
#include "mpi/job/mapped.h"
#include "mpi/job/progress.h"
#include "mpi/job/stats.h"
#include "mpi/job/status.h"
#include "mpi/object/comm.h"
#include "mpi/object/errhandler.h"
#include "mpi/p2p/p2p.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "mpi/verify/check_leaks.h"
#include "mpi/verify/deadlock.h"
#include "mpi_abi/refuse.h"
#include "mpi_below/goodbye.h"
#include "mpi_below/keeper.h"
#include "mpi_below/link.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "net/deferred.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/native.h"
#include "os/pages.h"
#include "os/standard.h"
#include "report/report.h"
#include "report/trace.h"
#include "vp/binding.h"
#include "vp/run_queue.h"
#include "vp/stack.h"
#include "vp/vp.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
  struct options options;
  struct machine machine;
  struct disks *disks;
  struct image_file *program;
  int place_rank, place_size; /* among processes that share its cores */
  struct pems_error error;    /* why the last check failed */
};

/* Where there are several hosts, it is this one's. */
static void say_error(const struct job *job) {
  char host[256] = "";
  if (net_host_size() == net_size() || gethostname(host, sizeof(host) - 1)) {
    msg_warn("%s", job->error.text);
  } else {
    msg_warn("host %s: %s", host, job->error.text);
  }
}

/* A check is made by all processes; if any failed, the first one that did says
   why and all end, before a rank has started. */
static void agree(const struct job *job, int failed) {
  const int first = net_first_failed(failed);
  if (first < 0) {
    return;
  }
  if (first == net_rank()) {
    say_error(job);
  }
  net_finish();
  msg_quit(MSG_USAGE);
}

static const char *driver_name(const struct job *job) {
  return job->options.io ? job->options.io : "unix";
}

static const char *driver_used(const struct job *job) {
  return job->disks ? disks_driver(job->disks) : driver_name(job);
}

/* The driver that really does it, whatever stands before it for tests; NULL if
   there is none of that name. */
static const struct driver *innermost(const struct job *job) {
  const char *args;
  const struct driver *driver = driver_find(driver_name(job), &args);
  return driver ? driver_innermost(driver, args) : NULL;
}

static bool uses_disks(const struct job *job) {
  const struct driver *driver = innermost(job);
  return !driver || !driver->in_memory;
}

static uint64_t free_space(const struct job *job, int n) {
  return uses_disks(job)
             ? disks_free_for(job->options.disk, n, job->options.stripe)
             : job->machine.available;
}

/* Whether contexts go to disk though all fit in memory. */
static bool lies_on_disk(const struct job *job) {
  const struct driver *driver = innermost(job);
  return (driver && driver->map) || getenv(CONTEXT_EVICT_ALWAYS);
}

/* The network writes to memory by system calls, which fail there. */
static int check_tracking(struct job *job) {
  if (job->options.track != TRACK_FAULT || net_size() == 1) {
    return 0;
  }
  return failure(
      &job->error, EINVAL,
      "--pems-track=fault: with %d processes: it cannot be used with more "
      "than one: give --pems-track=auto",
      net_size());
}

/* Several processes: the threads of net/am.h. */
static int check_threads(struct job *job) {
  if (net_thread_multiple() || (vps.plan.k == 1 && net_size() == 1)) {
    return 0;
  }
  if (net_size() > 1) {
    return failure(
        &job->error, ENOTSUP,
        "the MPI library: gives less than MPI_THREAD_MULTIPLE, which %d "
        "processes need: use --pems-procs=1",
        net_size());
  }
  return failure(&job->error, ENOTSUP,
                 "the MPI library: gives less than MPI_THREAD_MULTIPLE: use "
                 "--pems-k=1");
}

static uint64_t report_memory(const struct job *job, int n) {
  return job->options.report ? trace_memory(n) : 0;
}

/* Where the plan is made, for a process that may have n VPs. */
static struct plan_site site_for(const struct job *job, int n) {
  return (struct plan_site){
      .nprocs = net_size(),
      .nprocs_host = net_host_size(),
      .nprocs_cores = job->place_size,
      .disk_free = free_space(job, n),
      .on_disk = lies_on_disk(job),
      .base_rss = machine_rss() + report_memory(job, n),
  };
}

static struct split_offer offer_of(const struct job *job) {
  const int even = (job->options.v - 1) / net_size() + 1;
  const struct plan_site site = site_for(job, even);
  struct split_offer offer = plan_offer(&job->options, &job->machine, &site);
  offer.disks = uses_disks(job) ? disks_named(job->options.disk) : 1;
  return offer;
}

static bool same_everywhere(uint64_t x) {
  uint64_t least = x, most = x;
  net_min(&least);
  net_max(&most, 1);
  return least == most;
}

/* All processes must deal the same ranks in the same way. */
static int check_same(struct job *job) {
  const char *name = NULL;
  if (!job->options.v) {
    job->options.v = net_size();
  }
  if (!same_everywhere(job->options.v)) {
    name = "v";
  } else if (!same_everywhere(job->options.split)) {
    name = "split";
  } else if (!same_everywhere(job->options.universe)) {
    name = "universe";
  }
  if (!name) {
    return 0;
  }
  return failure(&job->error, EINVAL,
                 "--pems-%s: not the same in all processes: give all the same",
                 name);
}

/* Ranks that MPI_Comm_spawn may start. */
static int dormant_of(const struct job *job) {
  const int all = job->options.universe;
  return all > job->options.v ? all - job->options.v : 0;
}

static int check_universe(struct job *job) {
  if (job->options.universe && job->options.universe < job->options.v) {
    return failure(&job->error, EINVAL,
                   "--pems-universe: %d: the job starts with %d ranks: give as "
                   "many or more",
                   job->options.universe, job->options.v);
  }
  if (dormant_of(job) && job->options.report && net_size() > 1) {
    return failure(&job->error, EINVAL,
                   "--pems-report: cannot be used with --pems-universe on %d "
                   "processes: leave one out, or give --pems-procs=1",
                   net_size());
  }
  return 0;
}

static void deal_by_offers(struct job *job) {
  const struct split_offer mine = offer_of(job);
  enum { WORDS = sizeof(mine) / sizeof(uint64_t) };
  struct split_offer *all =
      need_alloc(net_size() * sizeof(*all), "the split of ranks");
  net_gather((const uint64_t *)&mine, (uint64_t *)all, WORDS);
  split_by_offers(vps.split, net_size(), job->options.v, all);
  native_free(all);
}

static int most_on_a_process(const struct job *job) {
  int most = 0;
  for (int q = 0; q < net_size(); q++) {
    const int n = vps.split[q + 1] - vps.split[q];
    most = n > most ? n : most;
  }
  return most + (dormant_of(job) + net_size() - 1) / net_size();
}

/* Fewer ranks than processes: the plan says so. */
static void deal_ranks(struct job *job) {
  const int v = job->options.v;
  vps.split = need_alloc((net_size() + 1) * sizeof(int), "the split of ranks");
  if (job->options.split == SPLIT_AUTO && v >= net_size()) {
    deal_by_offers(job);
  } else {
    split_even(vps.split, net_size(), v);
  }
  vps.first_rank = vps.split[net_rank()];
  vps.n = vps.split[net_rank() + 1] - vps.first_rank;
  vps.process = net_rank();
  vps.universe = dormant_of(job) ? job->options.universe : 0;
  vps.dormant = (dormant_of(job) + net_size() - 1 - net_rank()) / net_size();
  vps.n += vps.dormant;
}

static int make_plan(struct job *job) {
  deal_ranks(job);
  const int most = most_on_a_process(job);
  const int own = job->options.split == SPLIT_AUTO ? vps.n : most;
  struct plan_site site = site_for(job, own);
  site.own = own;
  site.most = most;
  vps.policy = policy_table[job->options.order];
  return plan_make(&vps.plan, &job->options, &job->machine, &site, &job->error);
}

static int check_memory(struct job *job) {
  const struct plan_site site = site_for(job, most_on_a_process(job));
  if (!plan_exceeds(&vps.plan, &job->options, &job->machine, &site,
                    &job->error)) {
    return 0;
  }
  if (job->options.strict) {
    return ENOMEM;
  }
  msg_notice("%s", job->error.text);
  return 0;
}

static void find_machine(struct job *job) {
  (void)machine_find(&job->machine, "");
  net_host_split(binding_color(), &job->place_rank, &job->place_size);
  msg_set_noticing(job->place_rank == 0);
}

static int bind_threads(struct job *job) {
  return binding_start(job->options.bind, vps.n, vps.plan.k, job->place_rank,
                       job->place_size, &job->error);
}

/* What all processes must share: which messages are small depends on it. */
static void share_plan(void) {
  net_min(&vps.plan.memory.sigma);
}

static struct disks_options disks_options(const struct job *job) {
  return (struct disks_options){
      .dirs = job->options.disk,
      .io = driver_name(job),
      .stripe = job->options.stripe,
      .depth = job->options.depth,
      .reserve = job->options.reserve == RESERVE_ALL,
      .strict = job->options.strict,
  };
}

/* On each host, though nothing may ever go there. */
static int check_disks(struct job *job) {
  const struct disks_options o = disks_options(job);
  return disks_try(&o, &job->error);
}

/* With --pems-reserve=all a full disk is found before work starts. */
static int open_disks(struct job *job) {
  if (innermost(job) && !vps.plan.needs_disk) {
    return 0;
  }
  const struct disks_options o = disks_options(job);
  const uint64_t most = vps.plan.mu + MEMORY_PLAN_STACK;
  return disks_open(&job->disks, &o, vps.n, most, &job->error);
}

static int create_contexts(struct job *job) {
  const struct plan *plan = &vps.plan;
  stack_choose_size(bits_round_up(job->options.stack, PAGE));
  const struct contexts_options o = {
      .n = vps.n,
      .mu = plan->mu,
      .stack = stack_range(),
      .stacks_leave = stacks_may_leave(),
      .mu_chosen = job->options.context != 0,
      .resident = plan->resident,
      .disks = job->disks,
      .k = plan->k,
      .bounce_count = plan->k + 1,
      .bounce_bytes = memory_plan_bytes(&plan->memory, MEMORY_STAGING),
      .boundary_bytes = memory_plan_bytes(&plan->memory, MEMORY_BOUNDARY),
      .policy = policy_table[job->options.order],
      .place = binding_memory,
      .swapin = job->options.swapin,
      .compress = job->options.compress,
      .compress_level = job->options.compress_level,
      .compress_bytes = memory_plan_bytes(&plan->memory, MEMORY_COMPRESS),
      .track = job->options.track,
      .strict = job->options.strict,
  };
  return contexts_create(&o, &job->error);
}

static int open_program(struct job *job) {
  return link_check_order(*(void **)&real.Init, &job->error) ||
         image_open(&job->program, "/proc/self/exe", &job->error) ||
         image_find_libraries(job->program, job->options.shared, &job->error) ||
         original_start(job->program, &job->error);
}

static char **copy_arguments(int argc, char **argv) {
  char **copy = need_zalloc(argc + 1, sizeof(*copy), "arguments");
  for (int i = 0; i < argc; i++) {
    const size_t n = strlen(argv[i]) + 1;
    copy[i] = memcpy(need_alloc(n, "arguments"), argv[i], n);
  }
  return copy;
}

static int load_one(struct job *job, struct vp *vp, int argc, char **argv) {
  struct image image;
  char dir[PATH_MAX];
  choice_first_dir(job->options.disk, dir, sizeof(dir));
  const int code = image_load(&image, job->program, vp->rank,
                              image_wants_name() ? dir : NULL, &job->error);
  if (code) {
    return code;
  }
  vp->context = context_get(vp->index);
  vp->argc = argc;
  vp->argv = copy_arguments(argc, argv);
  const int bad = context_adopt(vp->context, &image, vp->rank, &job->error);
  if (bad) {
    return bad;
  }
  return dlfcn_begin(vp, image_wants_name() ? dir : NULL) == 0
             ? 0
             : failure(&job->error, ENOMEM,
                       "out of memory: rank %d: free memory", vp->rank);
}

static int load_all(struct job *job, int argc, char **argv) {
  vps.item = need_zalloc(vps.n, sizeof(*vps.item), "virtual processors");
  int code = 0;
  for (int i = 0; i < vps.n && !code; i++) {
    struct vp *vp = &vps.item[i];
    vp->index = i;
    vp->rank = vp_rank(i);
    vp->dormant = i >= vps.n - vps.dormant;
    code = load_one(job, vp, argc, argv);
  }
  return code;
}

/* A report that cannot be written is found before the job starts. */
static int check_report(struct job *job) {
  return job->options.report
             ? report_check_dir(job->options.report, &job->error)
             : 0;
}

static int start_tags(struct job *job) {
  if (!job->options.tag || tag_start() == 0) {
    return 0;
  }
  return failure(&job->error, ENOMEM,
                 "out of memory: --pems-tag: leave it out");
}

static int write_report(struct job *job) {
  bool mine;
  const bool written = job_report_write(&job->options, &mine, &job->error);
  if (mine) {
    say_error(job);
  }
  return written ? 0 : MSG_FAILED;
}

static int check_mapped(struct job *job) {
  const int first = net_first_failed(mapped_check(job->disks, &job->error));
  if (first == net_rank()) {
    say_error(job);
  }
  return first < 0 ? 0 : MSG_FAILED;
}

static void prepare(struct job *job, int *argc, char **argv, char **envp) {
  agree(job, options_parse(&job->options, argc, argv, envp, &job->error));
  agree(job, options_keep_places(&job->options, &job->error));
  agree(job, check_report(job));
  agree(job, check_same(job));
  agree(job, check_universe(job));
  find_machine(job);
  agree(job, check_disks(job));
  agree(job, make_plan(job));
  agree(job, check_memory(job));
  agree(job, check_threads(job));
  agree(job, check_tracking(job));
  agree(job, bind_threads(job));
  share_plan();
  agree(job, open_program(job));
  agree(job, open_disks(job));
  agree(job, create_contexts(job));
  dlfcn_start(job->options.strict);
  malloc_note_objects(); /* copies that follow are the ranks' */
  agree(job, load_all(job, *argc, argv));
  agree(job, job_report_start(&job->options, driver_used(job), &job->error));
  agree(job, start_tags(job));
}

static void clean_up(struct job *job) {
  if (!vps_left_threads()) { /* they end with the process */
    contexts_destroy();
  }
  binding_end();
  if (job->disks) {
    disks_close(job->disks);
  }
  original_end();
  image_close(job->program);
  native_free(vps.split);
  options_free(&job->options);
}

static _Noreturn void end_job(int status) {
  self_enter();
  net_abort(status);
}

static void start_messages(const char *dir) {
  mailbox_start();
  coll_remote_prepare();
  file_owner_start();
  service_start();
  universe_start(spawn_child_hear);
  win_start_remote();
  deadlock_prepare();
  check_leaks_prepare();
  paged_start(dir, memory_plan_bytes(&vps.plan.memory, MEMORY_RECORDS));
  p2p_start(dir);
  deferred_start(memory_plan_bytes(&vps.plan.memory, MEMORY_LETTERS), dir);
}

static void notice_line(const char *line) {
  msg_notice("%s", line);
}

/* The external-memory library counts and notices for this job. */
static void attach_em(void) {
  static struct pems_em_host host = {sizeof(host), notice_line, NULL};
  if (pems_em_attach(&host)) {
    msg_fail(MSG_USAGE, "libpems-em: of another version than libpems: install "
                        "both from one build");
  }
  counters_joined = host.counters;
}

__attribute__((visibility("default"))) int pems_main(int argc, char **argv,
                                                     char **envp) {
  static struct job job;
  char dir[PATH_MAX];
  const uint64_t start = clock_ns();
  standard_occupy();
  stop_allow();
  msg_set_end(end_job);
  net_start(&argc, &argv);
  msg_set_first(net_first_to_fail, net_failure_told);
  image_on_copy(keeper_note_file);
  attach_em();
  prepare(&job, &argc, argv, envp);
  errhandler_install();
  ranks_create();
  check_buffers_on = job.options.check;
  choice_first_dir(job.options.disk, dir, sizeof(dir));
  start_messages(dir);
  am_start();
  status_start(argv[0]);
  progress_start(job.options.progress && net_rank() == 0);
  mapped_watch(job.disks);
  deadlock_watch();
  int status = vps_run(envp, dir, &steps);
  deadlock_watch_end();
  check_leaks_send();
  am_stop();
  deferred_end();
  if (check_leaks_report()) {
    status = status ? status : MSG_FAILED;
  }
  mapped_watch_end();
  const int unwritten = check_mapped(&job);
  status = status ? status : unwritten;
  progress_stop();
  status_stop();
  ranks_destroy(requests_forget);
  p2p_end();
  if (job.options.stats) {
    dlfcn_print_shared();
    stats_print(driver_used(&job), clock_ns() - start);
  }
  paged_end();
  const int unreported = write_report(&job);
  status = status ? status : unreported;
  net_finish();
  clean_up(&job);
  fflush(NULL);
  /* Ranks have run their own handlers of exit, or chose not to. */
  goodbye_quit(status);
}
