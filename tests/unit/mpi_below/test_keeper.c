/* What a job keeps in named files, and who removes it when the job is killed.
   Each test is a process of its own (libcheck's), which can have one job. */
#define _GNU_SOURCE
#include "mpi_below/keeper.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"
#include "os/folder.h"

static char work[] = "/tmp/pems-keeper.XXXXXX";
static struct pems_error error;

static const char *at(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", work, name);
  return path;
}

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(work));
  unsetenv("OMPI_MCA_orte_tmpdir_base");
  setenv("TMPDIR", work, 1);
}

static void end(void) {
  char command[600];
  snprintf(command, sizeof(command), "rm -rf %s", work);
  ck_assert_int_eq(system(command), 0);
}

/* Whenever somebody looks, the system has killed one more for want of memory.
 */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
  static int kills;
  if (strcmp(path, "/proc/vmstat") != 0) {
    return __real_fopen(path, mode);
  }
  FILE *const f = tmpfile();
  if (f) {
    fprintf(f, "pgfree 7\noom_kill %d\n", ++kills);
    rewind(f);
  }
  return f;
}

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

static int make_file(const char *path) {
  const int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ck_assert_int_ge(fd, 0);
  return fd;
}

/* By the keeper, in its own time; libcheck's limit ends a wait in vain. */
static void await_gone(const char *path) {
  while (exists(path)) {
    usleep(10000);
  }
}

/* The mark of a folder, which `taken` says somebody has locked. */
static void expect_lock(const char *folder, bool taken) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof(path), "%s/pems-mark", folder);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB) != 0, taken);
  close(fd);
}

/* A process with a job, which then runs f and waits to be killed; the job's
   folder is written to `folder`. */
static pid_t start_job(void (*f)(void), char folder[PATH_MAX]) {
  int ends[2];
  ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    char said[PATH_MAX] = "";
    const char *const made = keeper_make(&error);
    if (made) {
      snprintf(said, sizeof(said), "%s", made);
      f();
    }
    if (write(ends[1], said, sizeof(said)) != sizeof(said)) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  close(ends[1]);
  ck_assert_int_eq(read(ends[0], folder, PATH_MAX), PATH_MAX);
  close(ends[0]);
  ck_assert(*folder);
  return pid;
}

static void kill_job(pid_t pid) {
  kill(pid, SIGKILL);
  ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* At the end of the job, and where it fails. */
START_TEST(test_end_removes_all) {
  void (*const end_job)(void) = _i ? keeper_leave : keeper_end;
  begin();
  close(make_file(at("copy")));
  keeper_note_file(at("copy")); /* nothing happens without a folder */
  const char *const folder = keeper_make(&error);
  ck_assert_msg(folder, "%s", error.text);
  ck_assert_int_eq(strncmp(folder, work, strlen(work)), 0);
  struct stat st;
  ck_assert_int_eq(stat(folder, &st), 0);
  ck_assert_int_eq(st.st_mode & 0777, 0700);
  expect_lock(folder, true);
  char gone[PATH_MAX];
  snprintf(gone, sizeof(gone), "%s", folder);
  ck_assert(exists(at("copy")));
  keeper_note_file(at("copy"));
  keeper_note_file(at("never-made"));
  end_job();
  ck_assert(!exists(gone));
  ck_assert(!exists(at("copy")));
  end_job(); /* once more does nothing */
  end();
}
END_TEST

START_TEST(test_no_place) {
  begin();
  setenv("TMPDIR", at("missing"), 1);
  ck_assert_ptr_null(keeper_make(&error));
  ck_assert_ptr_nonnull(strstr(error.text, "/missing: No such file"));
  ck_assert_ptr_nonnull(strstr(error.text, "set TMPDIR"));
  keeper_end();
  end();
}
END_TEST

static void note_copy(void) {
  keeper_note_file(at("copy"));
}

START_TEST(test_killed_job) {
  char folder[PATH_MAX];
  begin();
  close(make_file(at("copy")));
  const pid_t job = start_job(note_copy, folder);
  expect_lock(folder, true);
  ck_assert(exists(at("copy")));
  kill_job(job);
  await_gone(folder);
  ck_assert(!exists(at("copy")));
  end();
}
END_TEST

static void nothing(void) {
}

static char segment[64];

static void note_segment(void) {
  keeper_note_segment(at("file"));
  keeper_note_segment(segment);
}

/* It is made after it was noted; only memory of the MPI is. */
START_TEST(test_segment_of_killed_job) {
  char folder[PATH_MAX];
  begin();
  close(make_file(at("file")));
  snprintf(segment, sizeof(segment), "/dev/shm/mpich_shm_%ld", (long)getpid());
  const pid_t job = start_job(note_segment, folder);
  close(make_file(segment));
  kill_job(job);
  await_gone(folder);
  ck_assert(!exists(segment));
  ck_assert(exists(at("file")));
  end();
}
END_TEST

/* The folder stays for as long as any process of the job lives. */
START_TEST(test_second_process) {
  char folder[PATH_MAX], session[PATH_MAX + 32];
  begin();
  const pid_t job = start_job(nothing, folder);
  snprintf(session, sizeof(session), "%s/ompi.host.0/jf.1/0", folder);
  keeper_join(session, getpid());
  kill_job(job);
  usleep(300000);
  ck_assert(exists(folder));
  expect_lock(folder, true);
  keeper_end();
  await_gone(folder);
  end();
}
END_TEST

static pid_t *handed_on; /* shared with the processes that are forked */

static void start_another(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    keeper_hand_on();
    execlp("sleep", "sleep", "1000", NULL);
    _exit(1);
  }
  *handed_on = pid;
}

/* What would go on without the job's process is ended by the keeper, though
   not at once. */
START_TEST(test_process_that_stays) {
  char folder[PATH_MAX], file[PATH_MAX];
  begin();
  snprintf(file, sizeof(file), "%s", at("pid"));
  const int fd = make_file(file);
  ck_assert_int_eq(ftruncate(fd, sizeof(*handed_on)), 0);
  handed_on =
      mmap(NULL, sizeof(*handed_on), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(handed_on, MAP_FAILED);
  const pid_t job = start_job(start_another, folder);
  ck_assert_int_gt(*handed_on, 0);
  kill_job(job);
  await_gone(folder);
  char link[64], exe[PATH_MAX];
  snprintf(link, sizeof(link), "/proc/%ld/exe", (long)*handed_on);
  ck_assert_int_lt(readlink(link, exe, sizeof(exe)), 0); /* a zombie has none */
  end();
}
END_TEST

/* A folder as a job leaves it whose keeper was killed, too. Returns its mark,
   open and with this line in it. */
static int make_left(const char *name, const char *line) {
  char path[PATH_MAX + 16];
  ck_assert_int_eq(mkdir(at(name), 0700), 0);
  snprintf(path, sizeof(path), "%s/pems-mark", at(name));
  const int fd = make_file(path);
  ck_assert_int_gt(dprintf(fd, "%s\n", line), 0);
  return fd;
}

static void boot_line(char *line, size_t size) {
  char id[64] = "";
  FILE *const f = fopen("/proc/sys/kernel/random/boot_id", "re");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(fscanf(f, "%63s", id), 1);
  fclose(f);
  snprintf(line, size, "boot %s", id);
}

START_TEST(test_sweep) {
  char here[128], name[64];
  begin();
  boot_line(here, sizeof(here));
  snprintf(name, sizeof(name), "pems-session.%ld.dead", (long)geteuid());
  close(make_left(name, here));
  snprintf(name, sizeof(name), "pems-session.%ld.alive", (long)geteuid());
  const int fd = make_left(name, here);
  ck_assert_int_eq(flock(fd, LOCK_SH), 0);
  snprintf(name, sizeof(name), "pems-session.%ld.elsewhere", (long)geteuid());
  close(make_left(name, "boot 00000000-0000-0000-0000-000000000000"));
  snprintf(name, sizeof(name), "pems-session.%ld.new", (long)geteuid());
  ck_assert_int_eq(mkdir(at(name), 0700), 0);
  close(make_left("pems-other", here));

  ck_assert_int_eq(keeper_sweep(), 1);
  snprintf(name, sizeof(name), "pems-session.%ld.dead", (long)geteuid());
  ck_assert(!exists(at(name)));
  static const char *const stay[] = {"alive", "elsewhere", "new"};
  for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
    snprintf(name, sizeof(name), "pems-session.%ld.%s", (long)geteuid(),
             stay[i]);
    ck_assert_msg(exists(at(name)), "%s", name);
  }
  ck_assert(exists(at("pems-other")));
  close(fd);
  ck_assert_int_eq(keeper_sweep(), 1); /* it is not alive any more */
  ck_assert_int_eq(keeper_sweep(), 0);
  end();
}
END_TEST

/* Open MPI's own folder, in which a process of the job leaves a mark: it goes
   once its mpirun has ended, and not before. */
START_TEST(test_sweep_of_open_mpi) {
  char host[256] = "", top[PATH_MAX], session[PATH_MAX + 32];
  begin();
  gethostname(host, sizeof(host) - 1);
  host[strcspn(host, ".")] = '\0';
  snprintf(top, sizeof(top), "%s/ompi.%s.%ld", work, host, (long)geteuid());
  ck_assert_int_eq(mkdir(top, 0700), 0);
  snprintf(session, sizeof(session), "%s/pid.77", top);
  ck_assert_int_eq(mkdir(session, 0700), 0);
  const pid_t mpirun = fork();
  if (mpirun == 0) {
    for (;;) {
      pause();
    }
  }
  char mark[PATH_MAX + 64];
  snprintf(mark, sizeof(mark), "%s/pems-mark", session);
  const int other = make_file(mark); /* another process's, with a keeper */
  ck_assert_int_eq(flock(other, LOCK_SH), 0);
  keeper_join(session, mpirun);
  close(other);
  expect_lock(session, true);
  keeper_end();
  expect_lock(session, false);
  ck_assert_int_eq(keeper_sweep(), 0);
  kill_job(mpirun);
  ck_assert_int_eq(keeper_sweep(), 1);
  ck_assert(!exists(session));
  end();
}
END_TEST

/* An mpirun that removes its folder knows nothing of what a process noted that
   was killed: the keeper of the first one does. */
START_TEST(test_mpirun_removes_its_folder) {
  char session[PATH_MAX + 32];
  begin();
  snprintf(session, sizeof(session), "%s/ompi.77", work);
  ck_assert_int_eq(mkdir(session, 0700), 0);
  close(make_file(at("copy")));
  close(make_file(at("file")));
  const pid_t mpirun = fork();
  if (mpirun == 0) {
    for (;;) {
      pause();
    }
  }
  keeper_join(session, mpirun);
  keeper_note_file(at("copy"));
  folder_remove(session);
  ck_assert(!exists(session));
  kill_job(mpirun);
  usleep(100000);
  ck_assert(exists(at("copy"))); /* this process has the lock */
  keeper_end();
  await_gone(at("copy"));
  ck_assert(exists(at("file")));
  end();
}
END_TEST

/* A process of the starter's, which notes the file and waits to be killed. */
static pid_t start_gathered(pid_t starter, const char *file) {
  int ends[2];
  char c;
  ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    keeper_gather(starter);
    keeper_note_file(file);
    if (write(ends[1], "", 1) != 1) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  close(ends[1]);
  ck_assert_int_eq(read(ends[0], &c, 1), 1);
  close(ends[0]);
  return pid;
}

static pid_t start_starter(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) {
      pause();
    }
  }
  return pid;
}

static const char *gathered_folder(pid_t starter) {
  char name[64];
  snprintf(name, sizeof(name), "pems-session.%ld.by%ld", (long)geteuid(),
           (long)starter);
  return at(name);
}

/* A launcher without folders: what its processes note goes when all of them and
   it have been killed. */
START_TEST(test_gathered_are_killed) {
  char one[PATH_MAX], two[PATH_MAX];
  begin();
  snprintf(one, sizeof(one), "%s", at("one"));
  snprintf(two, sizeof(two), "%s", at("two"));
  close(make_file(one));
  close(make_file(two));
  const pid_t starter = start_starter();
  const pid_t first = start_gathered(starter, one);
  const pid_t second = start_gathered(starter, two);
  expect_lock(gathered_folder(starter), true);
  kill_job(first);
  kill_job(starter);
  usleep(100000);
  ck_assert(exists(one)); /* the second has the lock */
  kill_job(second);
  await_gone(gathered_folder(starter));
  ck_assert(!exists(one));
  ck_assert(!exists(two));
  end();
}
END_TEST

/* The last one to end removes it, however long the starter lives; but a keeper
   that has only begun still has what its process had open. */
START_TEST(test_gathered_end) {
  char file[PATH_MAX];
  begin();
  snprintf(file, sizeof(file), "%s", at("file"));
  close(make_file(file));
  const pid_t starter = start_starter();
  const pid_t other = start_gathered(starter, file);
  keeper_gather(starter);
  keeper_end();
  ck_assert(exists(gathered_folder(starter))); /* the other has the lock */
  kill_job(other);
  while (exists(gathered_folder(starter))) {
    keeper_gather(starter);
    usleep(10000);
    keeper_end();
  }
  ck_assert(!exists(file));
  kill_job(starter);
  end();
}
END_TEST

/* Without a folder the others do nothing. */
START_TEST(test_no_folder) {
  begin();
  keeper_join(at("nowhere"), getpid());
  setenv("TMPDIR", at("nowhere"), 1);
  keeper_gather(getpid());
  keeper_note_mpirun(getpid());
  keeper_note_memory(1);
  keeper_hand_on();
  keeper_end();
  end();
}
END_TEST

/* Who was killed cannot say why; who has told its own end was not. */
START_TEST(test_want_of_memory) {
  char said[256] = "";
  int ends[2];
  begin();
  ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
  const pid_t job = fork();
  if (job == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    if (keeper_make(&error) && _i) {
      keeper_say_bye();
    }
    raise(SIGKILL);
  }
  close(ends[1]);
  ck_assert_int_eq(waitpid(job, NULL, 0), job);
  size_t n = 0;
  for (ssize_t more; (more = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0;
       n += (size_t)more)
    ;
  close(ends[0]);
  ck_assert_msg(_i == (strstr(said, "want of memory") == NULL), "'%s'", said);
  end();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("keeper");
  TCase *const t = tcase_create("keeper");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, test_end_removes_all, 0, 2);
  tcase_add_test(t, test_no_place);
  tcase_add_test(t, test_killed_job);
  tcase_add_test(t, test_segment_of_killed_job);
  tcase_add_test(t, test_second_process);
  tcase_add_test(t, test_process_that_stays);
  tcase_add_test(t, test_sweep);
  tcase_add_test(t, test_sweep_of_open_mpi);
  tcase_add_test(t, test_mpirun_removes_its_folder);
  tcase_add_test(t, test_gathered_are_killed);
  tcase_add_test(t, test_gathered_end);
  tcase_add_test(t, test_no_folder);
  tcase_add_loop_test(t, test_want_of_memory, 0, 2);
  suite_add_tcase(s, t);
  return check_run(s);
}
