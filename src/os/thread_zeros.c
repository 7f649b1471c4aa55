#define _GNU_SOURCE
#include "os/thread_zeros.h"

#include "os/bits.h"
#include "os/pages.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum { LARGE = 64 << 10 };

static size_t bytes;
static pthread_once_t counted = PTHREAD_ONCE_INIT;

struct zeros {
  char *start;
  size_t len; /* 0: they are few, or none */
};

/* The calling thread's of one object. */
static struct zeros zeros_of(const struct dl_phdr_info *info) {
  for (int i = 0; info->dlpi_tls_data && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
    if (p->p_type == PT_TLS && p->p_memsz - p->p_filesz >= LARGE) {
      const uintptr_t block = (uintptr_t)info->dlpi_tls_data;
      const uintptr_t start = bits_align_up(block + p->p_filesz, PAGE);
      const uintptr_t end = bits_align_down(block + p->p_memsz, PAGE);
      return (struct zeros){(char *)start, end - start};
    }
  }
  return (struct zeros){0};
}

static int add(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  bytes += zeros_of(info).len;
  return 0;
}

static int give_back(struct dl_phdr_info *info, size_t size, void *arg) {
  const bool *const program_only = arg;
  const struct zeros z = zeros_of(info);
  (void)size;
  if (z.len) {
    (void)madvise(z.start, z.len, MADV_DONTNEED);
  }
  return *program_only; /* it is the first */
}

static void count(void) {
  (void)dl_iterate_phdr(add, NULL);
}

size_t thread_zeros_bytes(void) {
  pthread_once(&counted, count);
  return bytes;
}

static void give_back_of(bool program_only) {
  if (thread_zeros_bytes()) {
    (void)dl_iterate_phdr(give_back, &program_only);
  }
}

void thread_zeros_give_back(void) {
  give_back_of(false);
}

static void make_room(void) {
  pthread_attr_t attr;
  size_t size;
  if (pthread_getattr_default_np(&attr) != 0) {
    return;
  }
  if (pthread_attr_getstacksize(&attr, &size) == 0 &&
      pthread_attr_setstacksize(&attr, size + bytes) == 0) {
    (void)pthread_setattr_default_np(&attr);
  }
  pthread_attr_destroy(&attr);
}

void thread_zeros_start(void) {
  give_back_of(true);
  if (thread_zeros_bytes()) {
    make_room();
  }
}
