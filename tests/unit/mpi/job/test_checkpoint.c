/* A job's checkpoints from their directory to their end, by a process of one
   rank: when each of the others is asked, what becomes of a failure, and who is
   told. What they do is played. */
#define _GNU_SOURCE
#include "mpi/job/checkpoint.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "../check_shortage.h"
#include "base/failure.h"
#include "base/message.h"
#include "check_child.h"
#include "check_main.h"
#include "checkpoint/shelf.h"
#include "interpose/descriptor.h"
#include "interpose/fatal.h"
#include "interpose/file_mapping.h"
#include "mpi/job/checkpoint_ask.h"
#include "mpi/job/checkpoint_complete.h"
#include "mpi/job/checkpoint_files.h"
#include "mpi/job/checkpoint_rank.h"
#include "mpi/job/checkpoint_sizes.h"
#include "mpi/job/restart.h"
#include "pems.h"
#include "vp/side_stack.h"

enum { STEP = 30 };

/* --- the others ------------------------------------------------------------
 */

static struct {
  bool fixed, asks, takes, between, leaves;
  int checks, fails; /* checkpoint_rank_check: with that */
  int saved, added, completed, done, again, asked, watched, started, ended;
  uint64_t done_at, sequence, superstep, sum;
} played = {.fixed = true, .asks = true, .takes = true};
static struct manifest was; /* of a restart */
static bool going_on;
static const char *folder;   /* of that, or NULL */
bool (*fatal_on_term)(void); /* interpose/fatal.c's */

void __wrap_net_max(uint64_t *x, int n);
void __wrap_net_sum(uint64_t *x, int n);
void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n);
void __wrap_net_barrier(void);
int __wrap_net_first_failed(int failed);

void __wrap_net_max(uint64_t *x, int n) {
  (void)x, (void)n;
}

void __wrap_net_sum(uint64_t *x, int n) {
  (void)x, (void)n;
}

void __wrap_net_gather(const uint64_t *mine, uint64_t *all, int n) {
  memcpy(all, mine, (size_t)n * sizeof(*all));
}

void __wrap_net_barrier(void) {
}

int __wrap_net_first_failed(int failed) {
  return failed ? 0 : -1;
}

bool restart_fixed(void) {
  return played.fixed;
}

/* Who goes on asks whether others have something for it. */
const struct manifest *restart_from(void) {
  if (going_on) {
    _exit(shortage_vp.side_stack != NULL);
  }
  return folder ? &was : NULL;
}

const char *restart_folder(void) {
  return folder;
}

uint64_t restart_images(void) {
  return 5;
}

uint64_t restart_landmark(void) {
  return 6;
}

/* Of memory, only that is the rank's. */
static char array[8];

bool __wrap_resume_covers(const struct vp *vp, uint64_t at, size_t n);

bool __wrap_resume_covers(const struct vp *vp, uint64_t at, size_t n) {
  (void)vp, (void)n;
  return at == (uintptr_t)array;
}

void file_mappings_start(uintptr_t start, size_t n, int ranks) {
  (void)start, (void)n, (void)ranks;
}

void descriptors_start(int ranks) {
  (void)ranks;
}

void vp_begin_data(const struct vp *vp) {
  (void)vp;
}

bool vp_in_job(void) {
  return true;
}

void checkpoint_ask_prepare(const struct wish *wish, uint64_t superstep) {
  (void)wish;
  played.superstep = superstep;
}

void checkpoint_ask_start(void) {
  played.started++;
}

void checkpoint_ask_watch(bool (*outside)(void)) {
  (void)outside;
  played.watched++;
}

void checkpoint_ask_end(void) {
  played.ended++;
}

void checkpoint_ask(void) {
  played.asked++;
}

bool checkpoint_ask_leave(void) {
  return !played.leaves && (played.leaves = true);
}

bool checkpoint_ask_leaves(void) {
  return played.leaves;
}

bool checkpoint_ask_superstep(struct vp *vp) {
  vp->superstep++;
  return played.asks;
}

bool checkpoint_ask_await(struct vp *vp) {
  (void)vp;
  return played.takes;
}

bool checkpoint_ask_may_stop(struct vp *vp) {
  (void)vp;
  return played.between;
}

bool checkpoint_ask_between(struct vp *vp) {
  (void)vp;
  return played.takes;
}

void checkpoint_ask_stopped(struct vp *vp) {
  (void)vp;
}

uint64_t checkpoint_ask_join(struct vp *vp) {
  return vp->superstep;
}

void checkpoint_ask_done_locked(uint64_t superstep) {
  played.done++;
  played.done_at = superstep;
}

void checkpoint_ask_again_locked(void) {
  played.again++;
}

bool checkpoint_ask_relieve_locked(void) {
  return false;
}

int checkpoint_rank_check(struct vp *vp, bool at_call_of_all,
                          struct pems_error *error) {
  (void)vp;
  ck_assert(at_call_of_all == !played.between);
  played.checks++;
  return played.fails ? failure(error, played.fails, "it has a reason") : 0;
}

int checkpoint_rank_save(struct vp *vp, struct resume *at, const char *path,
                         struct checkpoint_sum *sum,
                         struct checkpoint_tail *tail,
                         struct pems_error *error) {
  (void)vp, (void)tail, (void)error;
  ck_assert_ptr_nonnull(at);
  ck_assert_ptr_nonnull(strstr(path, "/rank-0"));
  *sum = (struct checkpoint_sum){.bytes = 17, .sum = 18};
  played.saved++;
  return 0;
}

int checkpoint_rank_add(const struct vp *vp, const char *path,
                        const struct checkpoint_tail *tail,
                        struct checkpoint_sum *sum, bool *any,
                        struct pems_error *error) {
  (void)vp, (void)path, (void)tail, (void)error;
  ck_assert_uint_eq(sum->bytes, 17);
  *any = true;
  played.added++;
  return 0;
}

int checkpoint_rank_load(struct vp *vp, struct resume *at, const char *path,
                         struct pems_error *error) {
  (void)vp, (void)at;
  return failure(error, EILSEQ, "checkpoint: %s: torn", path);
}

void checkpoint_rank_start_clock(void) {
}

void checkpoint_files_note(void) {
}

int checkpoint_files_check(const char *dir, struct pems_error *error) {
  (void)dir, (void)error;
  return 0;
}

int checkpoint_sizes_save(const char *path, uint64_t sequence,
                          struct pems_error *error) {
  (void)path, (void)sequence, (void)error;
  return 0;
}

int checkpoint_complete(const struct shelf *shelf, struct manifest *m, int keep,
                        struct pems_error *error) {
  played.completed++;
  played.superstep = m->superstep;
  played.sequence = m->sequence;
  played.sum = m->rank[0].sum;
  ck_assert_uint_eq(m->messages, 1);
  ck_assert_uint_eq(m->images, 5);
  ck_assert_uint_eq(m->landmark, 6);
  ck_assert_str_eq(m->argument[1], "argument");
  return shelf_commit(shelf, m->sequence, keep, error);
}

/* --- a job -----------------------------------------------------------------
 */

static char *arguments[] = {"program", "argument", NULL};
static char dir[] = "/tmp/pems-job.XXXXXX", shelf[64], option[128];
static struct job_setup job;

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(shelf, sizeof(shelf), "%s/shelf", dir);
  job.options.v = 4;
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  self.inside = 0;
  shortage_vp.superstep = STEP;
}

static int open_with(const char *more) {
  snprintf(option, sizeof(option), "%s%s", shelf, more);
  job.options.checkpoint = option;
  return checkpoint_open_shelf(&job, 2, arguments);
}

static void start_with(const char *more) {
  ck_assert_msg(open_with(more) == 0, "%s", job.error.text);
  (void)checkpoint_room(1 << 20);
  checkpoint_start();
  checkpoint_watch();
}

static bool is_there(const char *name) {
  char path[128];
  struct stat s;
  snprintf(path, sizeof(path), "%s/%s", shelf, name);
  return stat(path, &s) == 0;
}

static void end(void) {
  char command[64];
  checkpoint_end();
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static void superstep(const struct comm *c) {
  vp_superstep((uintptr_t)comm_handle(c), true);
}

/* --- */

START_TEST(without_the_option_there_are_none) {
  begin();
  ck_assert_int_eq(checkpoint_open_shelf(&job, 2, arguments), 0);
  checkpoint_start();
  checkpoint_watch();
  ck_assert_ptr_null(vp_superstep);
  ck_assert_ptr_null(vp_stop);
  ck_assert_int_eq(pems_api_checkpoint(), -1);
  checkpoint_end();
  ck_assert_int_eq(played.started + played.watched + played.ended, 0);
  ck_assert(!is_there(""));
  end();
}
END_TEST

START_TEST(a_directory_that_cannot_be_used_is_refused) {
  begin();
  ck_assert_int_eq(open_with(",often"), EINVAL);
  ck_assert_ptr_nonnull(strstr(job.error.text, "give DIR,every"));
  ck_assert_int_eq(open_with("/not/there"), ENOENT);
  ck_assert_int_eq(mkdir(shelf, 0777), 0);
  snprintf(option, sizeof(option), "%s/checkpoint-000007", shelf);
  ck_assert_int_eq(mkdir(option, 0777), 0);
  snprintf(option, sizeof(option), "%s/checkpoint-000007/manifest", shelf);
  ck_assert_int_eq(close(creat(option, 0666)), 0);
  ck_assert_int_eq(open_with(""), EEXIST);
  ck_assert_ptr_nonnull(strstr(job.error.text, "checkpoints of another run"));
  ck_assert_int_eq(pems_api_checkpoint(), -1);
  end();
}
END_TEST

static void open_again(void) {
  _exit(open_with("") == EEXIST ? 0 : 1);
}

static void go_on(void) {
  vp_restart();
}

/* Only there: then it counts on. */
START_TEST(who_goes_on_from_there_counts_on) {
  char said[1000];
  begin();
  start_with("");
  superstep(shortage_rank.world);
  checkpoint_end();
  was = (struct manifest){.directory = "/",
                          .argument = arguments,
                          .arguments = 2,
                          .sequence = 1,
                          .superstep = 99,
                          .context = 3 << 20};
  snprintf(option, sizeof(option), "%s/elsewhere/checkpoint-000001", dir);
  folder = strdup(option);
  ck_assert_int_eq(check_child_exit(open_again, said, sizeof(said)), 0);
  snprintf(option, sizeof(option), "%s/checkpoint-000001", shelf);
  folder = strdup(option);
  start_with("");
  ck_assert_uint_eq(played.superstep, 99);
  ck_assert_uint_eq(checkpoint_room(1 << 20), 3 << 20);
  ck_assert_int_eq(check_child_exit(go_on, said, sizeof(said)), MSG_FAILED);
  ck_assert_msg(strstr(said, "shelf/checkpoint-000001/rank-0: torn"), "%s",
                said);
  superstep(shortage_rank.world);
  ck_assert_uint_eq(played.sequence, 2);
  end();
}
END_TEST

static ucontext_t back;
static volatile bool went;

static void come_back(void) {
  setcontext(&back);
}

/* On its own stack again. */
static void resume(void) {
  getcontext(&back);
  if (!went) {
    went = true;
    side_stack_run(&shortage_vp, come_back);
  }
  if (shortage_vp.side_stack) {
    shortage_vp.resumes = going_on = true;
    superstep(shortage_rank.world);
  }
}

/* Of thousands of ranks they would take much. */
START_TEST(the_stack_that_it_was_loaded_on_is_given_back) {
  char said[1000];
  begin();
  start_with("");
  ck_assert_int_eq(check_child_exit(resume, said, sizeof(said)), 0);
  end();
}
END_TEST

START_TEST(addresses_are_whole_pages_where_they_are_the_same) {
  begin();
  const size_t room = checkpoint_room(5 << 20);
  ck_assert_uint_ge(room, 5 << 20);
  ck_assert_uint_eq(room % (2 << 20), 0);
  played.fixed = false;
  ck_assert_uint_eq(checkpoint_room(5 << 20), 0);
  end();
}
END_TEST

START_TEST(a_superstep_of_all_has_one) {
  begin();
  start_with(",keep=1");
  ck_assert_int_eq(played.started + played.watched, 2);
  superstep(shortage_rank.self); /* of one rank only */
  ck_assert_uint_eq(shortage_vp.superstep, STEP);
  superstep(shortage_rank.world);
  ck_assert_int_eq(played.saved, 1);
  ck_assert_int_eq(played.added, 1);
  ck_assert_int_eq(played.completed, 1);
  ck_assert_uint_eq(played.superstep, STEP + 1);
  ck_assert_uint_eq(played.done_at, STEP + 1);
  ck_assert_uint_eq(played.sum, 18);
  ck_assert(is_there("checkpoint-000001"));
  ck_assert_int_eq(self.inside, 0);
  played.asks = false; /* at the next one, nobody wants any */
  superstep(shortage_rank.world);
  ck_assert_int_eq(played.saved, 1);
  played.asks = true;
  played.takes = false; /* all have come, and another one has taken it */
  superstep(shortage_rank.world);
  ck_assert_int_eq(played.saved, 1);
  played.takes = true;
  superstep(shortage_rank.world);
  ck_assert_uint_eq(played.sequence, 2);
  ck_assert(!is_there("checkpoint-000001") && is_there("checkpoint-000002"));
  ck_assert_int_eq(pems_api_checkpoint(), 0);
  ck_assert_int_eq(played.asked, 1);
  end();
}
END_TEST

START_TEST(calls_for_messages_have_one_when_all_stop) {
  begin();
  start_with("");
  vp_stop(NULL);
  ck_assert_int_eq(played.checks, 0); /* it may not stop there */
  played.between = true;
  vp_stop(dir); /* memory of a library that calls */
  ck_assert(!vp_may_leave(dir) && vp_may_leave(array) && vp_may_leave(NULL));
  ck_assert_int_eq(played.checks, 0);
  vp_stop(array);
  vp_stop(NULL);
  ck_assert_int_eq(played.completed, 2);
  shortage_vp.shared = true; /* its threads call MPI, too */
  vp_stop(NULL);
  ck_assert_int_eq(played.completed, 2);
  end();
}
END_TEST

/* Once for each reason; nothing half done is left. */
static void fail_some(void) {
  static const int codes[] = {ENOTSUP, ENOTSUP, EAGAIN, EIO, EIO};
  for (int i = 0; i < 5; i++) {
    played.fails = codes[i];
    superstep(shortage_rank.world);
  }
  played.fails = 0;
  superstep(shortage_rank.world);
  _exit(played.completed == 1 && played.sequence == 6 && played.done == 6 &&
                played.again == 1 && played.saved == 1 && is_there("lock") &&
                !is_there(".new-checkpoint-000005")
            ? 0
            : 1);
}

START_TEST(why_there_is_none_is_said_once) {
  char said[1000];
  begin();
  start_with("");
  ck_assert_int_eq(check_child_exit(fail_some, said, sizeof(said)), 0);
  ck_assert_str_eq(said, "pems: no checkpoint at superstep 31: rank 0: it has "
                         "a reason: the job goes on\n"
                         "pems: no checkpoint at superstep 34: rank 0: it has "
                         "a reason: the job goes on\n");
  end();
}
END_TEST

static void leave(void) {
  ck_assert(fatal_on_term());
  superstep(shortage_rank.world);
}

START_TEST(sigterm_ends_the_job_with_one) {
  char said[1000];
  begin();
  start_with("");
  ck_assert_ptr_null(fatal_on_term);
  checkpoint_end();
  start_with(",on-term");
  ck_assert_ptr_eq(fatal_on_term, checkpoint_ask_leave);
  ck_assert_int_eq(check_child_exit(leave, said, sizeof(said)), 128 + SIGTERM);
  ck_assert_ptr_nonnull(strstr(
      said, "SIGTERM: superstep 31: the job ends with its checkpoint: go on"));
  ck_assert(is_there("checkpoint-000001"));
  end();
}
END_TEST

int main(void) {
  return check_main(
      "checkpoint",
      (const TTest *[]){
          without_the_option_there_are_none,
          a_directory_that_cannot_be_used_is_refused,
          who_goes_on_from_there_counts_on,
          the_stack_that_it_was_loaded_on_is_given_back,
          addresses_are_whole_pages_where_they_are_the_same,
          a_superstep_of_all_has_one, calls_for_messages_have_one_when_all_stop,
          why_there_is_none_is_said_once, sigterm_ends_the_job_with_one, NULL});
}
