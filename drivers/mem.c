/* A disk in memory: for tests, and to see what pems costs without I/O. */
#define _GNU_SOURCE
#include "drivers/driver.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "drivers/scratch.h"
#include "os/native.h"

extern const struct driver driver_mem, driver_unix;

struct mem_file {
  struct driver_file file;
  char *data;
  uint64_t size; /* bytes, at least 1 */
};

/* Pages come from the system when they are first written, reserved or not. */
static int mem_open(struct driver_file **file, const char *dir, uint64_t size,
                    int reserve, const char *args) {
  (void)dir;
  (void)reserve;
  if (args) {
    return EINVAL;
  }
  struct mem_file *const m = native_alloc(sizeof(*m));
  if (!m) {
    return ENOMEM;
  }
  *m = (struct mem_file){
      .file = {.driver = &driver_mem, .align = 1},
      .size = size ? size : 1,
  };
  m->data = mmap(NULL, m->size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m->data == MAP_FAILED) {
    native_free(m);
    return ENOMEM;
  }
  *file = &m->file;
  return 0;
}

static int mem_attach(struct driver_file **file, int fd, uint64_t size,
                      const char *args) {
  return args ? EINVAL : scratch_attach(file, &driver_unix, fd, size, 1);
}

static bool outside(const struct mem_file *m, size_t n, uint64_t offset) {
  return offset > m->size || n > m->size - offset;
}

static int mem_read(struct driver_file *file, void *buf, size_t n,
                    uint64_t offset) {
  const struct mem_file *const m = (const struct mem_file *)file;
  if (outside(m, n, offset)) {
    return EINVAL;
  }
  memcpy(buf, m->data + offset, n);
  return 0;
}

static int mem_write(struct driver_file *file, const void *buf, size_t n,
                     uint64_t offset) {
  const struct mem_file *const m = (const struct mem_file *)file;
  if (outside(m, n, offset)) {
    return EINVAL;
  }
  memcpy(m->data + offset, buf, n);
  return 0;
}

static int mem_flush(struct driver_file *file) {
  (void)file;
  return 0;
}

static void mem_close(struct driver_file *file) {
  struct mem_file *const m = (struct mem_file *)file;
  munmap(m->data, m->size);
  native_free(m);
}

const struct driver driver_mem = {
    .name = "mem",
    .help = "memory instead of files, for tests",
    .in_memory = 1,
    .open = mem_open,
    .attach = mem_attach,
    .read = mem_read,
    .write = mem_write,
    .flush = mem_flush,
    .close = mem_close,
};
