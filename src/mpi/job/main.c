/* Where a program linked by pemscc begins (src/interpose/program/start.c calls
   pems_main): lays out the job, loads one copy of the program per VP, runs
   them, and reports. */
#define _GNU_SOURCE
#include "base/counters.h"
#include "base/failure.h"
#include "base/limit.h"
#include "base/message.h"
#include "base/self.h"
#include "base/stop.h"
#include "config/plan.h"
#include "context/calls/create.h"
#include "context/calls/oversize.h"
#include "context/context.h"
#include "context/image/identity.h"
#include "context/image/image.h"
#include "context/image/original.h"
#include "context/image/thread_data.h"
#include "disk/choice.h"
#include "disk/contexts/disk.h"
#include "disk/paged.h"
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
#include "mpi/job/checkpoint.h"
#include "mpi/job/interrupted.h"
#include "mpi/job/job.h"
#include "mpi/job/job_deal.h"
#include "mpi/job/job_load.h"
#include "mpi/job/job_report.h"
#include "mpi/job/job_site.h"
#include "mpi/job/mapped.h"
#include "mpi/job/progress.h"
#include "mpi/job/restart.h"
#include "mpi/job/stats.h"
#include "mpi/job/status.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/errhandler.h"
#include "mpi/p2p/p2p.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "mpi/verify/check_leaks.h"
#include "mpi/verify/deadlock.h"
#include "mpi/verify/standstill.h"
#include "mpi_abi/refuse.h"
#include "mpi_below/goodbye.h"
#include "mpi_below/keeper.h"
#include "mpi_below/net.h"
#include "mpi_below/thread_level.h"
#include "net/am.h"
#include "net/deferred.h"
#include "net/neighbour.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/memory_file.h"
#include "os/native.h"
#include "os/pages.h"
#include "os/standard.h"
#include "os/thread_zeros.h"
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
#include <unistd.h>

/* The network writes to memory by system calls, which fail there. */
static int check_tracking(struct job_setup *job) {
  if (job->options.track != TRACK_FAULT || net_size() == 1) {
    return 0;
  }
  return failure(
      &job->error, EINVAL,
      "--pems-track=fault: with %d processes: it cannot be used with more "
      "than one: give --pems-track=auto",
      net_size());
}

static int find_neighbours(struct job_setup *job) {
  return neighbours_find((enum option_between)job->options.between,
                         &job->error);
}

static int check_threads(struct job_setup *job) {
  return thread_level_check(net_thread_level(), net_size(), vps.plan.k,
                            &job->error);
}

static int make_plan(struct job_setup *job) {
  job_deal_ranks(job);
  limit_share_files((unsigned)vps.n);
  const int most = job_deal_most(job);
  const int own = job->options.split == SPLIT_AUTO ? vps.n : most;
  struct plan_site site = job_site_for(job, own);
  site.own = own;
  site.most = most;
  vps.policy = policy_table[job->options.order];
  return plan_make(&vps.plan, &job->options, &job->machine, &site, &job->error);
}

static int check_memory(struct job_setup *job) {
  const struct plan_site site = job_site_for(job, job_deal_most(job));
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

/* Is it one of several? */
static void know_host(void) {
  char host[256] = "";
  if (net_host_size() < net_size() &&
      gethostname(host, sizeof(host) - 1) == 0) {
    msg_set_host(host);
  }
}

/* Where a program's copies are files, they take space and may be slow. */
static void tell_memory_files(void) {
  if (memory_file_directory()) {
    msg_notice("memfd_create is refused: what is to be in memory lies in files "
               "without names in %s: allow it (seccomp)",
               memory_file_directory());
  }
}

static void find_machine(struct job_setup *job) {
  (void)machine_find(&job->machine, "");
  net_host_split(binding_color(), &job->place_rank, &job->place_size);
  msg_set_noticing(job->place_rank == 0);
}

static int bind_threads(struct job_setup *job) {
  return binding_start(job->options.bind, vps.n, vps.plan.k, job->place_rank,
                       job->place_size, &job->error);
}

/* What all processes must share: which messages are small depends on it. */
static void share_plan(void) {
  net_min(&vps.plan.memory.sigma);
}

static struct disks_options disks_options(const struct job_setup *job) {
  return (struct disks_options){
      .dirs = job->options.disk,
      .io = job_site_driver(job),
      .stripe = job->options.stripe,
      .depth = job->options.depth,
      .reserve = job->options.reserve == RESERVE_ALL,
      .strict = job->options.strict,
  };
}

/* On each host, though nothing may ever go there. */
static int check_disks(struct job_setup *job) {
  const struct disks_options o = disks_options(job);
  return disks_try(&o, &job->error);
}

/* With --pems-reserve=all a full disk is found before work starts. */
static int open_disks(struct job_setup *job) {
  if (job_site_innermost(job) && !vps.plan.needs_disk) {
    return 0;
  }
  const struct disks_options o = disks_options(job);
  const uint64_t most = vps.plan.mu + MEMORY_PLAN_STACK;
  return disks_open(&job->disks, &o, vps.n, most, &job->error);
}

static int create_contexts(struct job_setup *job) {
  const struct plan *plan = &vps.plan;
  stack_choose_size(bits_round_up(job->options.stack, PAGE));
  stack_choose_top(thread_data_span(job->program));
  const struct contexts_options o = {
      .n = vps.n,
      .first = vps.first_rank,
      .room = checkpoint_room(plan->mu),
      .mu = plan->mu,
      .stack = stack_range(),
      .stack_top = stack_top(),
      .stacks_leave = stacks_may_leave(),
      .mu_chosen = job->options.context != 0,
      .more = plan->more,
      .resident = plan->resident,
      .disks = job->disks,
      .k = plan->k,
      .bounce_count = plan->k + 1,
      .bounce_bytes = memory_plan_bytes(&plan->memory, MEMORY_STAGING),
      .boundary_bytes = memory_plan_bytes(&plan->memory, MEMORY_BOUNDARY),
      .lends = &plan->memory,
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

/* Before there are copies. */
static int identify(struct job_setup *job) {
  return job->options.report ? identity_find(&job->identity, &job->error) : 0;
}

/* A report that cannot be written is found before the job starts. */
static int check_report(struct job_setup *job) {
  return job->options.report
             ? report_check_dir(job->options.report, &job->error)
             : 0;
}

static int start_tags(struct job_setup *job) {
  if (!job->options.tag || tag_start() == 0) {
    return 0;
  }
  return failure(&job->error, ENOMEM,
                 "out of memory: --pems-tag: leave it out");
}

static int write_report(struct job_setup *job) {
  bool mine;
  const bool written =
      job_report_write(&job->options, &job->identity, &mine, &job->error);
  if (mine) {
    job_say_error(job);
  }
  return written ? 0 : MSG_FAILED;
}

static int check_mapped(struct job_setup *job) {
  const int first = net_first_failed(mapped_check(job->disks, &job->error));
  if (first == net_rank()) {
    job_say_error(job);
  }
  return first < 0 ? 0 : MSG_FAILED;
}

static void prepare(struct job_setup *job, int *argc, char **argv) {
  job_agree(job,
            options_parse(&job->options, argc, argv, environ, &job->error));
  job_agree(job, restart_check(job));
  job_agree(job, restart_check_arguments(job, *argc, argv));
  job_agree(job, options_keep_places(&job->options, &job->error));
  job_agree(job, check_report(job));
  job_agree(job, job_deal_check_same(job));
  job_agree(job, job_deal_check_universe(job));
  job_agree(job, job_site_check_builds(job));
  job_agree(job, checkpoint_open_shelf(job, *argc, argv));
  find_machine(job);
  job_agree(job, check_disks(job));
  job_agree(job, make_plan(job));
  job_agree(job, restart_verify(job));
  job_agree(job, check_memory(job));
  job_agree(job, check_threads(job));
  job_agree(job, check_tracking(job));
  job_agree(job, bind_threads(job));
  share_plan();
  job_agree(job, job_load_open(job));
  job_agree(job, restart_check_images(job));
  job_agree(job, identify(job));
  job_agree(job, open_disks(job));
  job_agree(job, create_contexts(job));
  malloc_note_objects(); /* copies that follow are the ranks' */
  dlfcn_start(job->options.strict);
  job_agree(job, job_load_all(job, *argc, argv));
  job_agree(job, job_report_start(&job->options, job_site_driver_used(job),
                                  &job->error));
  tell_memory_files();
  job_agree(job, start_tags(job));
  job_agree(job, restart_cut(job));
  job_agree(job, find_neighbours(job));
}

static void clean_up(struct job_setup *job) {
  neighbours_forget();
  if (!vps_left_threads()) { /* they end with the process */
    contexts_destroy();
  }
  binding_end();
  if (job->disks) {
    disks_close(job->disks);
  }
  original_end();
  image_close(job->program);
  identity_free(&job->identity);
  restart_end();
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
  standstill_prepare();
  check_leaks_prepare();
  oversize_start(dir);
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
  static struct job_setup job;
  char dir[PATH_MAX];
  const uint64_t start = clock_ns();
  restart_begin(argc, argv, envp);
  thread_zeros_start();
  standard_occupy();
  stop_allow();
  msg_set_end(end_job);
  net_start(&argc, &argv);
  msg_set_first(net_first_to_fail, net_failure_told);
  know_host();
  image_on_copy(keeper_note_file);
  attach_em();
  prepare(&job, &argc, argv);
  comm_error_install();
  ranks_create();
  check_buffers_on = job.options.check;
  choice_first_dir(job.options.disk, dir, sizeof(dir));
  start_messages(dir);
  checkpoint_start();
  am_start();
  checkpoint_watch();
  status_start(argv[0]);
  progress_start(job.options.progress && net_rank() == 0);
  mapped_watch(job.disks);
  deadlock_watch();
  standstill_watch();
  stats_start();
  if (job.options.stats) {
    interrupted_start(job_site_driver_used(&job), start);
  }
  int status = vps_run(dir, &steps);
  interrupted_stop();
  standstill_watch_end();
  deadlock_watch_end();
  checkpoint_end();
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
    stats_print(job_site_driver_used(&job), clock_ns() - start);
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
