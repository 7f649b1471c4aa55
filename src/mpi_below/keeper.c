#define _GNU_SOURCE
#include "mpi_below/keeper.h"

#include "base/failure.h"
#include "base/limit.h"
#include "mpi_below/mark.h"
#include "mpi_below/session.h"
#include "os/folder.h"
#include "os/traced.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A folder without a mark may be one that is just being made. */
enum { NEW_SECONDS = 60 };

/* What mpirun has to end the job when pemsrun is gone. */
enum { GRACE_MS = 12000 };

static const char start_of_name[] = "pems-session.";

static struct {
  char folder[PATH_MAX]; /* "": none */
  int fd;                /* its mark, locked, or -1 */
  bool own;              /* of keeper_make */
  bool gathered;         /* of keeper_gather */
  int line;              /* which the keeper hears that this process ends */
  pid_t pid;             /* of the keeper, if this process has started it */
  pid_t maker;           /* of keeper_make */
} keeper = {.fd = -1};

/* Where Open MPI puts its folders, unless it is told another directory. */
static const char *temporary(void) {
  static const char *const variables[] = {"OMPI_MCA_orte_tmpdir_base", "TMPDIR",
                                          "TEMP", "TMP"};
  for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
    const char *const dir = getenv(variables[i]);
    if (dir && *dir) {
      return dir;
    }
  }
  return "/tmp";
}

/* --- its mark --- */

static void note(const char *kind, const char *what) {
  mark_note(keeper.fd, kind, what);
}

/* Locks the mark of keeper.folder; one that another job removes meanwhile
   counts as an error. *first: nobody had locked it. */
static int take_mark(bool *first) {
  keeper.fd = mark_open(keeper.folder, O_CREAT);
  *first = keeper.fd >= 0 && !mark_lock(keeper.fd, LOCK_EX | LOCK_NB);
  if (keeper.fd >= 0 && !mark_lock(keeper.fd, LOCK_SH) &&
      !mark_is_removed(keeper.fd)) {
    mark_note_boot(keeper.fd);
    return 0;
  }
  if (keeper.fd >= 0) {
    close(keeper.fd);
  }
  keeper.fd = -1;
  return -1;
}

void keeper_note_file(const char *path) {
  char *const full = realpath(path, NULL);
  if (full) {
    note("file", full);
  }
  free(full);
}

void keeper_note_segment(const char *path) {
  if (session_is_segment(path)) {
    note("segment", path);
  }
}

/* Where Open MPI's folders of this user and host are. */
static int top_folder(char path[PATH_MAX]) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  host[strcspn(host, ".")] = '\0';
  return snprintf(path, PATH_MAX, "%s/ompi.%s.%ld", temporary(), host,
                  (long)geteuid()) < PATH_MAX
             ? 0
             : -1;
}

void keeper_note_mpirun(pid_t mpirun) {
  char top[PATH_MAX], path[PATH_MAX + 32];
  if (top_folder(top) || *top != '/') {
    return;
  }
  snprintf(path, sizeof(path), "%s/pid.%ld", top, (long)mpirun);
  note("session", path);
  snprintf(path, sizeof(path), "%s/ompi.%ld", temporary(), (long)mpirun);
  note("session", path);
}

void keeper_note_memory(unsigned long job) {
  char text[32];
  snprintf(text, sizeof(text), "%lu", job);
  note("memory", text);
}

/* --- removing --- */

static bool is_own(const char *folder) {
  const char *const last = strrchr(folder, '/');
  return last &&
         strncmp(last + 1, start_of_name, sizeof(start_of_name) - 1) == 0;
}

static bool remove_named(const char *kind, const char *rest) {
  if (strcmp(kind, "file") == 0) {
    unlink(rest);
  } else if (strcmp(kind, "segment") == 0) {
    session_remove_segment(rest);
  } else if (strcmp(kind, "session") == 0) {
    session_remove(rest);
  } else if (strcmp(kind, "memory") == 0) {
    session_remove_memory(strtoul(rest, NULL, 10));
  }
  return true;
}

/* `fd` is its mark. */
static void remove_folder(const char *folder, int fd) {
  if (fd >= 0) {
    mark_each(fd, remove_named);
  }
  if (is_own(folder)) {
    folder_remove(folder);
  } else {
    session_remove(folder);
  }
}

/* --- the keeper --- */

/* What pemsrun and the keeper of its job do at first. */
struct made {
  int error; /* an errno value, or 0 */
  char folder[PATH_MAX];
};

/* Where those two talk, in the keeper. */
enum { TELL = 3, HEAR = 4, STDERR = 5, FIRST_FREE = 6 };

static void await_process(pid_t pid, int ms) {
  struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
                     .events = POLLIN};
  while (p.fd >= 0 && poll(&p, 1, ms) < 0 && errno == EINTR)
    ;
  if (p.fd >= 0) {
    close(p.fd);
  }
}

/* Open MPI's mpirun may hang while it ends. */
static bool end_process(const char *kind, const char *rest) {
  const pid_t pid = (pid_t)strtol(rest, NULL, 10);
  if (strcmp(kind, "process") == 0 && pid > 0 &&
      mark_is_held(keeper.fd, keeper.folder, pid)) {
    await_process(pid, GRACE_MS);
    if (mark_is_held(keeper.fd, keeper.folder, pid)) {
      kill(pid, SIGKILL);
    }
  }
  return true;
}

/* Holds nothing that others wait for: no terminal, pipe or directory; but
   stderr until the job's process has ended, if it is told of that. */
static void become_keeper(int tell, int hear) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "pems-keeper");
  setsid();
  tell = fcntl(tell, F_DUPFD, FIRST_FREE);
  hear = fcntl(hear, F_DUPFD, FIRST_FREE);
  const int said = fcntl(STDERR_FILENO, F_DUPFD, FIRST_FREE);
  dup2(tell, TELL);
  dup2(hear, HEAR);
  dup2(said, STDERR);
  syscall(SYS_close_range, (unsigned)FIRST_FREE, ~0U, 0U);
  for (int i = 0; i < 3; i++) {
    close(i);
    open("/dev/null", O_RDWR);
  }
}

/* Waits until nobody has the lock, and removes the folder. */
_Noreturn static void keep(void) {
  const int fd = mark_open(keeper.folder, 0);
  if (chdir("/") == 0 && fd >= 0 && !mark_lock(fd, LOCK_EX) &&
      !mark_is_removed(fd)) {
    remove_folder(keeper.folder, fd);
  }
  _exit(0);
}

/* Of a folder of Open MPI's. An mpirun that removes it itself does not know of
   files of processes that were killed before they could tell it. */
_Noreturn static void keep_other(int mark, pid_t mpirun) {
  become_keeper(mark, mark);
  close(HEAR);
  close(STDERR);
  await_process(mpirun, -1);
  if (!mark_lock(TELL, LOCK_EX) && mark_is_removed(TELL)) {
    mark_each(TELL, remove_named);
  }
  close(TELL);
  keep();
}

static int make_folder(struct made *made) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof(path), "%s/%s%ld.XXXXXX", temporary(),
               start_of_name, (long)geteuid()) >= (int)sizeof(path)) {
    return ENAMETOOLONG;
  }
  if (!mkdtemp(path) || !realpath(path, made->folder)) {
    return errno;
  }
  const int fd = mark_open(made->folder, O_CREAT);
  const int error = errno;
  if (fd < 0) {
    rmdir(made->folder);
    return error;
  }
  close(fd);
  return 0;
}

/* Processes that the system has killed for want of memory, in any cgroup, since
   it was started; -1 if it does not say. */
static long killed_for_memory(void) {
  char line[128];
  long n = -1;
  FILE *const f = fopen("/proc/vmstat", "re");
  while (f && fgets(line, sizeof(line), f) &&
         sscanf(line, "oom_kill %ld", &n) != 1) {
  }
  if (f) {
    fclose(f);
  }
  return n;
}

/* Waits until the process of keeper_make has ended. One that is killed cannot
   say why, and who started it may not either. */
static void await_end(long killed_before) {
  char bye;
  if (read(HEAR, &bye, 1) == 0 && killed_before >= 0 &&
      killed_for_memory() > killed_before) {
    dprintf(STDERR,
            "pems: process %ld was killed: by the system for want of memory: "
            "give less --pems-memory\n",
            (long)keeper.maker);
  }
  close(STDERR);
}

/* Of a folder that it makes itself, so that there is none without a keeper at
   any moment. */
_Noreturn static void keep_own(int tell, int hear) {
  static struct made made;
  char c;
  const long killed = killed_for_memory();
  become_keeper(tell, hear);
  made.error = make_folder(&made);
  memcpy(keeper.folder, made.folder, sizeof(made.folder));
  const bool told = write(TELL, &made, sizeof(made)) == sizeof(made);
  if (made.error) {
    _exit(0);
  }
  close(TELL);
  if (told && read(HEAR, &c, 1) == 1) {
    keeper.fd = (unsigned char)c;
    await_end(killed);
    const int fd = mark_open(keeper.folder, 0);
    if (fd >= 0) {
      mark_each(fd, end_process);
    }
  }
  keep();
}

/* As fork, but programs that wait for any child do not see this one: it gives
   no signal at its end. A debugger takes such a child for a thread and kills it
   with the others; there it is a grandchild, and the result this process. */
static pid_t split_off(void) {
  if (!traced_is()) {
    return (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
  }
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      return 0;
    }
    _exit(grandchild < 0);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return status ? -1 : getpid();
}

/* --- the folder --- */

static int read_all(int fd, void *to, size_t n) {
  size_t done = 0;
  while (done < n) {
    const ssize_t more = read(fd, (char *)to + done, n - done);
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more <= 0) {
      return -1;
    }
    done += (size_t)more;
  }
  return 0;
}

/* Returns 0 or an errno value; ESTALE: another job took the new folder for one
   that is left. */
static int make_kept(void) {
  static struct made made;
  int from[2], to[2];
  bool first;
  if (pipe2(from, O_CLOEXEC) || pipe2(to, O_CLOEXEC)) {
    return errno;
  }
  keeper.maker = getpid();
  keeper.pid = split_off();
  if (keeper.pid == 0) {
    keep_own(from[1], to[0]);
  }
  close(from[1]);
  close(to[0]);
  int error = keeper.pid < 0                           ? errno
              : read_all(from[0], &made, sizeof(made)) ? ECHILD
                                                       : made.error;
  if (!error) {
    memcpy(keeper.folder, made.folder, sizeof(made.folder));
    error = take_mark(&first) ? ESTALE : 0;
  }
  const unsigned char number = (unsigned char)keeper.fd;
  if (!error && write(to[1], &number, 1) != 1) {
    error = EPIPE;
  }
  close(from[0]);
  if (error) {
    close(to[1]);
  } else {
    keeper.line = to[1];
  }
  return error;
}

const char *keeper_make(struct pems_error *e) {
  enum { TRIES = 5 };
  int error = ESTALE;
  for (int i = 0; i < TRIES && error == ESTALE; i++) {
    error = make_kept();
  }
  if (error) {
    char advice[LIMIT_TEXT];
    failure(e, error, "temporary directory: %s: %s: %s", temporary(),
            strerror(error),
            limit_advice(advice, LIMIT_THREAD, error, 0,
                         "set TMPDIR to one that can be written"));
    keeper.folder[0] = '\0';
    return NULL;
  }
  keeper.own = true;
  return keeper.folder;
}

/* Locks the mark of keeper.folder, with a keeper of the first who does, unless
   the folder is another process's. */
static void attach(pid_t starter, bool kept) {
  bool first;
  if (take_mark(&first)) {
    keeper.folder[0] = '\0';
    return;
  }
  const int mark = first && !kept ? mark_open(keeper.folder, 0) : -1;
  if (mark >= 0 && split_off() == 0) {
    keep_other(mark, starter);
  }
  if (mark >= 0) {
    close(mark);
  }
}

void keeper_join(const char *session, pid_t mpirun) {
  snprintf(keeper.folder, sizeof(keeper.folder), "%s", session);
  char *const name = strstr(keeper.folder, start_of_name);
  const bool within = name && name > keeper.folder && name[-1] == '/';
  if (within) {
    name[strcspn(name, "/")] = '\0';
  }
  attach(mpirun, within);
  if (!within) {
    mark_note_mpirun(keeper.fd, mpirun);
  }
}

void keeper_gather(pid_t starter) {
  if (starter > 1 &&
      snprintf(keeper.folder, sizeof(keeper.folder), "%s/%s%ld.by%ld",
               temporary(), start_of_name, (long)geteuid(),
               (long)starter) < (int)sizeof(keeper.folder) &&
      (!mkdir(keeper.folder, 0700) || errno == EEXIST)) {
    attach(starter, false);
    keeper.gathered = keeper.fd >= 0;
  }
}

void keeper_hand_on(void) {
  char text[32];
  snprintf(text, sizeof(text), "%ld", (long)getpid());
  note("process", text);
  if (keeper.fd >= 0) {
    fcntl(keeper.fd, F_SETFD, 0);
  }
}

/* The keeper may have been killed: that is no reason for a signal. */
void keeper_say_bye(void) {
  if (!keeper.own || getpid() != keeper.maker) {
    return;
  }
  const struct timespec now = {0, 0};
  sigset_t pipes, before;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipes, &before);
  if (write(keeper.line, "", 1) < 0 && errno == EPIPE) {
    sigtimedwait(&pipes, NULL, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void let_go(bool last) {
  if (keeper.fd >= 0) {
    close(keeper.fd);
  }
  if (keeper.own) {
    keeper_say_bye();
    close(keeper.line);
  }
  while (last && keeper.pid > 0 && waitpid(keeper.pid, NULL, __WCLONE) < 0 &&
         errno == EINTR)
    ;
  keeper.fd = -1;
  keeper.own = false;
  keeper.gathered = false;
}

static bool is_last(void) {
  return (keeper.own || keeper.gathered) &&
         !mark_lock(keeper.fd, LOCK_EX | LOCK_NB);
}

void keeper_end(void) {
  const bool last = is_last();
  if (last) {
    remove_folder(keeper.folder, keeper.fd);
  }
  let_go(last);
}

void keeper_leave(void) {
  let_go(is_last());
}

/* --- what killed jobs have left --- */

static bool is_old(const char *folder) {
  struct stat st;
  return lstat(folder, &st) == 0 && st.st_uid == geteuid() &&
         time(NULL) - st.st_mtime > NEW_SECONDS;
}

/* Returns 1 if it was of a job that has ended. */
static int sweep_folder(const char *folder) {
  const int fd = mark_open(folder, 0);
  const bool dead = fd < 0 ? errno == ENOENT && is_own(folder) && is_old(folder)
                           : !mark_lock(fd, LOCK_EX | LOCK_NB) &&
                                 !mark_is_removed(fd) &&
                                 mark_each(fd, mark_may_go);
  if (dead) {
    remove_folder(folder, fd);
  }
  if (fd >= 0) {
    close(fd);
  }
  return dead;
}

/* All folders in `dir` whose names begin so. */
static int sweep_in(const char *dir, const char *start) {
  int n = 0;
  DIR *const d = opendir(dir);
  if (!d) {
    return 0;
  }
  for (const struct dirent *e; (e = readdir(d));) {
    char path[PATH_MAX];
    if (strncmp(e->d_name, start, strlen(start)) == 0 &&
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) <
            (int)sizeof(path)) {
      n += sweep_folder(path);
    }
  }
  closedir(d);
  return n;
}

int keeper_sweep(void) {
  char start[64], top[PATH_MAX];
  snprintf(start, sizeof(start), "%s%ld.", start_of_name, (long)geteuid());
  int n = sweep_in(temporary(), start);
  if (top_folder(top) == 0) {
    n += sweep_in(top, "pid.") + sweep_in(top, "jf.");
  }
  n += sweep_in(temporary(), "ompi.");
  return n;
}
