/* Preloaded into the processes of a job (nomem.sh): an allocation of pems
   itself fails. pems calls glibc's allocator by these names (src/os/native.c),
   and nobody else does. Of the processes that run $NOMEM_PROGRAM the first one
   that comes to its allocation $NOMEM_AT is the one, which makes the file
   $NOMEM_STRUCK. In the folder $NOMEM_COUNTS each process has a file with the
   number of its allocations. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long calls;
static long at;
static const char *struck;
static atomic_int count_to = -1;

static bool is_program(void) {
  char path[4096];
  const char *const program = getenv("NOMEM_PROGRAM");
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (!program || n < 0) {
    return false;
  }
  path[n] = '\0';
  return strcmp(path, program) == 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *const number = getenv("NOMEM_AT");
  const char *const counts = getenv("NOMEM_COUNTS");
  char file[4096];
  if (!is_program()) {
    return;
  }
  if (number) {
    struck = getenv("NOMEM_STRUCK");
    at = atol(number);
  }
  if (counts) {
    snprintf(file, sizeof(file), "%s/%ld", counts, (long)getpid());
    atomic_store(&count_to, open(file, O_WRONLY | O_CREAT, 0600));
  }
}

/* Each time, for a process may end without a word. */
static void note(long n) {
  char line[32];
  const int fd = atomic_load(&count_to);
  const int bytes = snprintf(line, sizeof(line), "%19ld\n", n);
  if (fd >= 0 && pwrite(fd, line, (size_t)bytes, 0) != bytes) {
    abort();
  }
}

/* By pems for itself, not for malloc, which it interposes for libc and the real
   MPI? native_alloc jumps to what is called here, so that this is who called
   it. All that is interposed lies in one place (src/interpose/malloc.c). */
static bool is_own(const void *caller) {
  enum { BEFORE = 2048, BEHIND = 512 }; /* its static functions */
  Dl_info info;
  const char *const from = caller, *const first = dlsym(RTLD_DEFAULT, "malloc"),
                    *const last = dlsym(RTLD_DEFAULT, "realpath");
  return dladdr(caller, &info) && strstr(info.dli_fname, "/libpems") &&
         !(from > first - BEFORE && from < last + BEHIND);
}

static bool fails(const void *caller) {
  if (!is_own(caller)) {
    return false;
  }
  const long n = atomic_fetch_add(&calls, 1) + 1;
  note(n);
  if (n != at || !struck) {
    return false;
  }
  const int fd = open(struck, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) {
    close(fd);
    errno = ENOMEM;
  }
  return fd >= 0;
}

/* Kept where it was found; found twice, it is the same. */
static void *next(_Atomic(void *) *kept, const char *name) {
  void *f = atomic_load(kept);
  if (!f) {
    f = dlsym(RTLD_NEXT, name);
    atomic_store(kept, f);
  }
  return f;
}

void *__libc_malloc(size_t n) {
  static _Atomic(void *) kept;
  void *(*const f)(size_t) = next(&kept, "__libc_malloc");
  return fails(__builtin_return_address(0)) ? NULL : f(n);
}

void *__libc_calloc(size_t count, size_t size) {
  static _Atomic(void *) kept;
  void *(*const f)(size_t, size_t) = next(&kept, "__libc_calloc");
  return fails(__builtin_return_address(0)) ? NULL : f(count, size);
}

void *__libc_realloc(void *p, size_t n) {
  static _Atomic(void *) kept;
  void *(*const f)(void *, size_t) = next(&kept, "__libc_realloc");
  return fails(__builtin_return_address(0)) ? NULL : f(p, n);
}

void *__libc_memalign(size_t align, size_t n) {
  static _Atomic(void *) kept;
  void *(*const f)(size_t, size_t) = next(&kept, "__libc_memalign");
  return fails(__builtin_return_address(0)) ? NULL : f(align, n);
}
