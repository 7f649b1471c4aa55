#define _GNU_SOURCE
#include "os/holes.h"

#include "os/native.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 64 << 20 }; /* bytes of the list of mappings */

/* What of the list fits into `text`, which ends it with '\0'. */
static ssize_t read_list(char *text, size_t size) {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  ssize_t got = fd < 0 ? -1 : 1;
  while (got > 0 && n + 1 < size) {
    got = read(fd, text + n, size - 1 - n);
    n += got > 0 ? (size_t)got : 0;
  }
  if (fd >= 0) {
    close(fd);
  }
  text[n] = '\0';
  return got < 0 ? -1 : (ssize_t)n;
}

/* The memory for it is taken before it is read: that may be a mapping, too. */
static char *mappings(int *error) {
  for (size_t size = 64 << 10; size <= MOST; size *= 4) {
    char *const text = native_alloc(size);
    const ssize_t n = text ? read_list(text, size) : -1;
    if (n >= 0 && (size_t)n + 1 < size) {
      return text;
    }
    *error = text && n < 0 ? errno : ENOMEM;
    native_free(text);
    if (n < 0) {
      break;
    }
  }
  return NULL;
}

static int lines(const char *text) {
  int n = 0;
  for (; (text = strchr(text, '\n')); text++) {
    n++;
  }
  return n;
}

/* Somebody else may have taken some of it meanwhile: then it is no hole. */
static void fill(struct holes *h, uintptr_t from, uintptr_t end) {
  void *const at = mmap(
      (void *)from, end - from, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == (void *)from) {
    h->item[h->n++] = (struct hole){at, end - from};
  } else if (at != MAP_FAILED) {
    munmap(at, end - from); /* Linux before 4.17 takes it as a hint */
  }
}

/* The system begins at the last mapping below the main thread's stack. */
static void fill_all(struct holes *h, const char *text, uintptr_t from) {
  uintptr_t at = from;
  while (*text) {
    uintptr_t start, end;
    const char *const next = strchr(text, '\n') + 1;
    const bool stack = memmem(text, (size_t)(next - text), "[stack]", 7);
    if (sscanf(text, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2 || stack) {
      return;
    }
    if (start > at) {
      fill(h, at, start);
    }
    at = end > at ? end : at;
    text = next;
  }
}

int holes_fill(struct holes *h, uintptr_t from) {
  int error = 0;
  *h = (struct holes){0};
  char *const text = mappings(&error);
  if (!text) {
    return error;
  }
  h->item = native_alloc((size_t)lines(text) * sizeof(*h->item));
  if (h->item) {
    fill_all(h, text, from);
  }
  native_free(text);
  return h->item ? 0 : ENOMEM;
}

void holes_free(struct holes *h) {
  for (int i = 0; i < h->n; i++) {
    munmap(h->item[i].at, h->item[i].n);
  }
  native_free(h->item);
  *h = (struct holes){0};
}
