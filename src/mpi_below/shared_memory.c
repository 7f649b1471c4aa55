#define _GNU_SOURCE
#include "mpi_below/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi_below/real.h"
#include "os/memory_file.h"

/* ulimit -f: growing the file beyond it would end the process. */
static bool is_allowed(size_t n) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) || n <= limit.rlim_cur;
}

/* A descriptor, or -1 and errno. */
static int new_file(size_t n, struct shared_memory_file *f) {
  struct stat st;
  if (!is_allowed(n)) {
    errno = EFBIG;
    return -1;
  }
  const int fd = memory_file("pems-shared", false);
  if (fd >= 0 && (ftruncate(fd, (off_t)n) || fstat(fd, &st))) {
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  if (fd >= 0) {
    *f = (struct shared_memory_file){(uint64_t)getpid(), (uint64_t)fd,
                                     st.st_dev, st.st_ino};
  }
  return fd;
}

/* Process numbers mean other processes in another container of the host. */
static int open_file(const struct shared_memory_file *f) {
  char path[64];
  struct stat st;
  snprintf(path, sizeof(path), "/proc/%llu/fd/%llu",
           (unsigned long long)f->process, (unsigned long long)f->fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0 &&
      (fstat(fd, &st) || st.st_dev != f->device || st.st_ino != f->inode)) {
    close(fd);
    errno = ENOENT;
    return -1;
  }
  return fd;
}

static int map(struct shared_memory *m, int fd, size_t n) {
  void *const at =
      fd < 0 ? MAP_FAILED
             : mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return errno;
  }
  *m = (struct shared_memory){at, n};
  return 0;
}

/* A descriptor of the file, which process 0 makes and the others open, or -1
   and errno: 0 if it is process 0 that has none. */
static int common_file(MPI_Comm host, size_t n) {
  struct shared_memory_file file = {0};
  int rank;
  real.Comm_rank(host, &rank);
  const int made = rank == 0 ? new_file(n, &file) : -1;
  const int code = errno;
  real.Bcast(&file, sizeof(file), MPI_BYTE, 0, host);
  errno = rank == 0 ? code : 0;
  return rank == 0 || !file.process ? made : open_file(&file);
}

/* The file has to be open until all have it. */
int shared_memory_make(struct shared_memory *m, MPI_Comm host, size_t n) {
  int code;
  *m = (struct shared_memory){0};
  const int fd = common_file(host, n);
  const int own = map(m, fd, n);
  if (real.Allreduce(&own, &code, 1, MPI_INT, MPI_MAX, host)) {
    code = EIO;
  }
  if (fd >= 0) {
    close(fd);
  }
  if (code) {
    shared_memory_free(m);
  }
  return code;
}

void shared_memory_free(struct shared_memory *m) {
  if (m->at) {
    munmap(m->at, m->n);
  }
  *m = (struct shared_memory){0};
}
