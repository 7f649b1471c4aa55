/* POSIX record locks are a process's: they keep ranks apart, wherever these
   run, and go when their owner closes the file. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INCREMENTS = 240, ALL = 0 };

static char name[64];

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static int open_file(void) {
  const int fd = open(name, O_RDWR | O_CREAT, 0666);
  if (fd < 0) {
    fail("open: %s", strerror(errno));
  }
  return fd;
}

static int control(int fd, int command, short type, off_t start, off_t n) {
  struct flock l = {
      .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = n};
  return fcntl(fd, command, &l) ? errno : 0;
}

/* Can the calling rank have a lock of these bytes? "r", "w" or "-". */
static char may_have(int fd, off_t start, off_t n) {
  struct flock l = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = n};
  if (fcntl(fd, F_GETLK, &l) != 0) {
    return '?';
  }
  return l.l_type == F_UNLCK ? 'w' : l.l_type == F_RDLCK ? 'r' : '-';
}

/* Rank 0 has done something: what do the others see? */
static void others_see(int fd, const char *what) {
  barrier();
  if (rank) {
    printf("%d: %s: %c%c%c %d\n", rank, what, may_have(fd, 0, 10),
           may_have(fd, 40, 10), may_have(fd, 90, ALL), lockf(fd, F_TEST, 5));
  }
  barrier();
}

static void ranges(int fd) {
  if (rank == 0) {
    control(fd, F_SETLK, F_WRLCK, 0, 100);
  }
  others_see(fd, "locked");
  if (rank == 0) {
    control(fd, F_SETLK, F_UNLCK, 40, 20);
  }
  others_see(fd, "a hole");
  if (rank == 0) {
    control(fd, F_SETLKW, F_RDLCK, 0, 20);
  }
  others_see(fd, "for reading");
  printf("%d: %d\n", rank, control(fd, F_SETLK, F_RDLCK, 5, 5));
  barrier();
  printf("%d: %d\n", rank, control(fd, F_SETLK, F_WRLCK, 5, 5) == EAGAIN);
  barrier();
  control(fd, F_SETLK, F_UNLCK, 0, ALL);
  others_see(fd, "unlocked");
}

static void whose(int fd) {
  int pid = getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (rank == 0) {
    control(fd, F_SETLK, F_WRLCK, 7, 3);
  }
  barrier();
  if (fcntl(fd, F_GETLK, &l) != 0) {
    fail("F_GETLK: %s", strerror(errno));
  }
  printf("%d: its own: %d, pid %d, %ld %ld\n", rank, l.l_type == F_UNLCK,
         l.l_pid == pid, (long)l.l_start, (long)l.l_len);
  barrier();
  control(fd, F_SETLK, F_UNLCK, 0, ALL);
  barrier();
}

/* Two descriptions of one rank do not keep each other out; closing any of them
   drops all that it has. */
static void closing(int fd) {
  for (int how = 0; how < 4; how++) {
    const int other = how == 1 ? dup(fd) : open_file();
    if (rank == 0) {
      printf("two: %d %d\n", control(fd, F_SETLK, F_WRLCK, 0, 10),
             control(other, F_SETLK, F_WRLCK, 5, 45));
    }
    others_see(fd, "both");
    if (how == 2) {
      fclose(fdopen(other, "r"));
    } else if (how == 3) {
      dup2(STDERR_FILENO, other);
      others_see(fd, "replaced");
      close(other);
    } else {
      close(other);
    }
    others_see(fd, "closed");
  }
  if (rank == 0) {
    control(fd, F_SETLK, F_WRLCK, 0, 10);
    FILE *const f = fopen("/dev/null", "r");
    fclose(f);
  }
  others_see(fd, "another is closed");
  control(fd, F_SETLK, F_UNLCK, 0, ALL);
  barrier();
}

static int ask(int fd, pid_t parent) {
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  const bool held = fcntl(fd, F_GETLK, &l) == 0 && l.l_type == F_WRLCK;
  const bool fails = control(fd, F_SETLK, F_WRLCK, 0, ALL) == EAGAIN;
  const bool mine = l.l_pid == parent || l.l_pid == -1;
  close(fd);
  return held + 2 * fails + 4 * mine;
}

/* A child has no locks of its parent, and drops none. */
static void children(int fd) {
  const pid_t parent = getpid();
  if (rank == 0) {
    int status = 0;
    control(fd, F_SETLK, F_WRLCK, 0, ALL);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      _exit(ask(fd, parent));
    }
    waitpid(child, &status, 0);
    printf("child: %d\n", WEXITSTATUS(status));
  }
  others_see(fd, "after the child");
  if (rank == 0) {
    control(fd, F_SETLK, F_UNLCK, 0, ALL);
  }
  others_see(fd, "after its parent");
}

static void increment(int fd, int i) {
  long value = 0;
  if (i % 2) {
    lseek(fd, 0, SEEK_SET);
    lockf(fd, F_LOCK, 8);
  } else if (control(fd, F_SETLKW, F_WRLCK, 0, 8) != 0) {
    fail("F_SETLKW: %s", strerror(errno));
  }
  (void)!pread(fd, &value, sizeof(value), 0);
  value++;
  (void)!pwrite(fd, &value, sizeof(value), 0);
  control(fd, F_SETLK, F_UNLCK, 0, 8);
}

static void increments(int fd) {
  long value = 0;
  for (int i = 0; i < INCREMENTS; i++) {
    increment(fd, i);
  }
  barrier();
  (void)!pread(fd, &value, sizeof(value), 0);
  printf("%d: %ld\n", rank, value - (long)size * INCREMENTS);
  barrier();
}

/* Who has the lock waits in MPI for one that runs only when who waits for the
   lock does not. */
static void waiting(int fd) {
  int token = 0;
  if (size < 3) {
    return;
  }
  if (rank == 0) {
    control(fd, F_SETLKW, F_WRLCK, 0, ALL);
  }
  barrier();
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    control(fd, F_SETLK, F_UNLCK, 0, ALL);
  } else if (rank < size - 1) {
    char *const block = malloc(100000);
    memset(block, rank, 100000);
    printf("%d: waited: %d\n", rank, control(fd, F_SETLKW, F_WRLCK, 0, ALL));
    for (int i = 0; i < 100000; i++) {
      token += block[i] != rank;
    }
    printf("%d: changed: %d\n", rank, token);
    free(block);
    control(fd, F_SETLK, F_UNLCK, 0, ALL);
  } else {
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  barrier();
}

/* Ranks 0 and 1 each want what the other has. */
static void deadlock(int fd) {
  int found = 0, all = 0;
  if (rank < 2 && size > 1) {
    control(fd, F_SETLK, F_WRLCK, rank, 1);
  }
  barrier();
  if (rank < 2 && size > 1) {
    found = control(fd, F_SETLKW, F_WRLCK, 1 - rank, 1) == EDEADLK;
    control(fd, F_SETLK, F_UNLCK, 0, ALL);
  }
  MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d: deadlocks: %d\n", rank, all);
}

static volatile int rings;
static void ring(int number) {
  (void)number;
  rings++;
}

static void interrupted(int fd) {
  const struct sigaction action = {.sa_handler = ring};
  const struct itimerval soon = {{0, 20000}, {0, 20000}},
                         never = {{0, 0}, {0, 0}};
  if (rank == 0) {
    control(fd, F_SETLK, F_WRLCK, 0, ALL);
  }
  barrier();
  if (rank == size - 1 && rank) {
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    const bool ended = control(fd, F_SETLKW, F_WRLCK, 0, ALL) == EINTR;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("interrupted: %d %d\n", ended, rings > 0);
  }
  barrier();
  control(fd, F_SETLK, F_UNLCK, 0, ALL);
  barrier();
}

static void errors(int fd) {
  const int reads = open(name, O_RDONLY), writes = open(name, O_WRONLY);
  printf("%d: %d %d %d %d %d\n", rank,
         control(reads, F_SETLK, F_WRLCK, 0, 1) == EBADF,
         control(writes, F_SETLK, F_RDLCK, 0, 1) == EBADF,
         control(fd, F_SETLK, 17, 0, 1) == EINVAL,
         control(fd, F_SETLK, F_WRLCK, -5, 1) == EINVAL,
         control(-1, F_SETLK, F_WRLCK, 0, 1) == EBADF);
  close(reads);
  close(writes);
  barrier();
}

int main(int argc, char **argv) {
  long stamp = getpid();
  begin(&argc, &argv);
  MPI_Bcast(&stamp, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof(name), "/tmp/pems-record-locks.%ld", stamp);
  const int fd = open_file();
  ranges(fd);
  whose(fd);
  closing(fd);
  children(fd);
  increments(fd);
  waiting(fd);
  deadlock(fd);
  interrupted(fd);
  errors(fd);
  close(fd);
  barrier();
  if (rank == 0) {
    unlink(name);
  }
  return end();
}
