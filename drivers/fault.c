/* Another driver with failures at chosen requests, for tests. */
#define _GNU_SOURCE
#include "drivers/driver.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const struct driver driver_fault;
static const struct driver fault_mapping;

struct fault_plan {
  uint64_t read_at, write_at, short_at; /* number of a request, 0: none */
  int read_error, write_error;
  uint64_t delay; /* microseconds, before each read and write */
};

struct fault_file {
  struct driver_file file;
  struct driver_file *inner;
  struct fault_plan plan;
};

/* Requests are counted over all files of the process; the first file opened
   after all were closed starts anew. */
static atomic_uint_fast64_t reads, writes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int files; /* open now; under lock */

static int parse_number(const char **text, uint64_t *x) {
  char *end;
  if (!isdigit((unsigned char)**text))
    return -1;
  errno = 0;
  *x = strtoull(*text, &end, 10);
  *text = end;
  return errno ? -1 : 0;
}

/* "EIO", "ENOSPC", "EROFS" or a number. */
static int parse_error(const char **text, int *error) {
  static const struct {
    const char *name;
    int error;
  } names[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t n = strlen(names[i].name);
    if (strncmp(*text, names[i].name, n) == 0) {
      *text += n;
      *error = names[i].error;
      return 0;
    }
  }
  uint64_t x;
  if (parse_number(text, &x) || x == 0 || x > 4095)
    return -1;
  *error = (int)x;
  return 0;
}

/* "5:EIO" */
static int parse_failure(const char **text, uint64_t *at, int *error) {
  if (parse_number(text, at) || *at == 0 || *(*text)++ != ':')
    return -1;
  return parse_error(text, error);
}

static int skip(const char **text, const char *key) {
  const size_t n = strlen(key);
  if (strncmp(*text, key, n) != 0)
    return 0;
  *text += n;
  return 1;
}

/* Everything past the inner driver's name: ",read=5:EIO,..." */
static int parse_plan(const char *text, struct fault_plan *p) {
  while (*text) {
    int bad = -1;
    if (skip(&text, ",read="))
      bad = parse_failure(&text, &p->read_at, &p->read_error);
    else if (skip(&text, ",write="))
      bad = parse_failure(&text, &p->write_at, &p->write_error);
    else if (skip(&text, ",short="))
      bad = parse_number(&text, &p->short_at) || p->short_at == 0;
    else if (skip(&text, ",delay="))
      bad = parse_number(&text, &p->delay);
    if (bad)
      return -1;
  }
  return 0;
}

static const struct driver *parse_inner(const char **text) {
  char name[32];
  const char *args;
  const size_t n = strcspn(*text, ",");
  if (n >= sizeof name)
    return NULL;
  snprintf(name, sizeof name, "%.*s", (int)n, *text);
  const struct driver *const inner = driver_find(name, &args);
  *text += n;
  return inner == &driver_fault || args ? NULL : inner;
}

static int fault_open(struct driver_file **file, const char *dir, uint64_t size,
                      int reserve, const char *args) {
  struct fault_plan plan = {0};
  const struct driver *const inner = args ? parse_inner(&args) : NULL;
  if (!inner || parse_plan(args, &plan))
    return EINVAL;
  struct fault_file *const f = malloc(sizeof *f);
  if (!f)
    return ENOMEM;
  struct driver_file *below;
  const int error = inner->open(&below, dir, size, reserve, NULL);
  if (error) {
    free(f);
    return error;
  }
  *f = (struct fault_file){
      .file = {.driver = below->driver->map ? &fault_mapping : &driver_fault,
               .align = below->align},
      .inner = below,
      .plan = plan,
  };
  pthread_mutex_lock(&lock);
  if (files++ == 0) {
    atomic_store(&reads, 0);
    atomic_store(&writes, 0);
  }
  pthread_mutex_unlock(&lock);
  *file = &f->file;
  return 0;
}

static void wait_for(uint64_t microseconds) {
  struct timespec left = {
      .tv_sec = (time_t)(microseconds / 1000000),
      .tv_nsec = (long)(microseconds % 1000000 * 1000),
  };
  while (microseconds && nanosleep(&left, &left) && errno == EINTR)
    ;
}

static int fault_read(struct driver_file *file, void *buf, size_t n,
                      uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  const uint64_t number = atomic_fetch_add(&reads, 1) + 1;
  wait_for(f->plan.delay);
  if (number == f->plan.read_at)
    return f->plan.read_error;
  return f->inner->driver->read(f->inner, buf, n, offset);
}

static int fault_write(struct driver_file *file, const void *buf, size_t n,
                       uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  const uint64_t number = atomic_fetch_add(&writes, 1) + 1;
  wait_for(f->plan.delay);
  if (number == f->plan.write_at)
    return f->plan.write_error;
  if (number == f->plan.short_at) {
    const size_t half = n / 2 - n / 2 % f->file.align;
    const int error = f->inner->driver->write(f->inner, buf, half, offset);
    return error ? error : EIO;
  }
  return f->inner->driver->write(f->inner, buf, n, offset);
}

static int fault_flush(struct driver_file *file) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->flush(f->inner);
}

static int fault_map(struct driver_file *file, void *address, size_t n,
                     uint64_t offset) {
  const struct fault_file *const f = (const struct fault_file *)file;
  return f->inner->driver->map(f->inner, address, n, offset);
}

static void fault_close(struct driver_file *file) {
  struct fault_file *const f = (struct fault_file *)file;
  f->inner->driver->close(f->inner);
  free(f);
  pthread_mutex_lock(&lock);
  files--;
  pthread_mutex_unlock(&lock);
}

#define FAULT_FUNCTIONS                                                        \
  .name = "fault",                                                             \
  .help = "another driver that fails when told to, for tests",                 \
  .args =                                                                      \
      "DRIVER[,read=N:ERRNO][,write=N:ERRNO][,short=N][,delay=MICROSECONDS]",  \
  .open = fault_open, .read = fault_read, .write = fault_write,                \
  .flush = fault_flush, .close = fault_close

const struct driver driver_fault = {FAULT_FUNCTIONS};
static const struct driver fault_mapping = {FAULT_FUNCTIONS, .map = fault_map};
