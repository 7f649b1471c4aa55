#define _GNU_SOURCE
#include "vp/stack.h"

#include "base/message.h"
#include "config/memory_plan.h"
#include "context/image/image.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"
#include "os/spin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum {
  MIB = 1 << 20,
  USUAL = 8 * MIB,
  /* Of each stack, the end that is memory: most programs use no more. */
  MEMORY = MEMORY_PLAN_STACK,
  COPIER_STACK = 64 << 10
};
/* Where there is no limit: more than anybody has memory for, and addresses for
   thousands of ranks. */
#define UNLIMITED ((size_t)1 << 30)

struct stack {
  char *low;            /* NULL: there is none */
  char *file;           /* end of what is a file, from `low` on */
  char *_Atomic shut;   /* end of what is shut, from `low` on: `low` where there
                           is a file */
  struct spin changing; /* what is shut */
};

static struct {
  int fd;        /* -1: none */
  size_t chosen; /* bytes, or 0 */
  size_t top;    /* bytes above */
  size_t bytes;  /* with these */
  int n;
  bool grow;
  struct stack *item; /* n, or NULL: all are memory */
} stacks = {.fd = -1};

void stack_choose_size(size_t bytes) {
  stacks.chosen = bytes;
}

static size_t below_top(void) {
  struct rlimit limit;
  if (stacks.chosen) {
    return stacks.chosen;
  }
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur < USUAL) {
    return USUAL;
  }
  return limit.rlim_cur == RLIM_INFINITY
             ? UNLIMITED
             : bits_round_down(limit.rlim_cur, PAGE);
}

void stack_choose_top(size_t bytes) {
  stacks.top = bytes;
}

size_t stack_top(void) {
  return stacks.top;
}

size_t stack_size(void) {
  return below_top() + stacks.top;
}

size_t stack_range(void) {
  return bits_align_up(STACK_GUARD + stack_size(), HUGE_PAGE);
}

/* The end that is memory from the start. */
static size_t memory_part(void) {
  return MEMORY + stacks.top;
}

static size_t file_part(void) {
  return stacks.bytes - memory_part();
}

/* The sanitizers know no stacks that are copied. */
static bool may_be_files(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

bool stacks_may_leave(void) {
  return may_be_files() && !image_wants_name();
}

/* A file that is too large for the user's limit would bring a signal. */
static bool may_be_large(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur &&
         bytes <= INT64_MAX;
}

/* 0 to n - 1 are in the file. */
static void open_file(const char *dir, uint64_t bytes) {
  if (!may_be_files() || !may_be_large(bytes)) {
    return;
  }
  stacks.fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (stacks.fd >= 0 && ftruncate(stacks.fd, (off_t)bytes) != 0) {
    close(stacks.fd);
    stacks.fd = -1;
  }
}

void stacks_start(const char *dir, int n, bool grow) {
  stacks.bytes = stack_size();
  stacks.item = native_zalloc((size_t)n, sizeof(*stacks.item));
  if (stacks.item) {
    stacks.n = n;
    stacks.grow = grow && may_be_files();
    open_file(dir, (uint64_t)n * file_part());
  }
}

void stacks_end(void) {
  if (stacks.fd >= 0) {
    close(stacks.fd);
  }
  stacks.fd = -1;
  stacks.n = 0;
  stacks.grow = false;
  native_free(stacks.item);
  stacks.item = NULL;
}

static bool map(void *p, size_t n, int flags, int fd, off_t at) {
  return mmap(p, n, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_NORESERVE | flags,
              fd, at) != MAP_FAILED;
}

static bool map_memory(void *p, size_t n) {
  return map(p, n, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
}

/* Addresses of a guard and a stack that nothing can be at. */
static char *take_addresses(char *range) {
  const size_t n = stack_range();
  char *const p = mmap(range, n, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                           (range ? MAP_FIXED : 0),
                       -1, 0);
  return p == MAP_FAILED ? NULL : p + n - stacks.bytes;
}

/* The range stays, for it is the context's: whoever made it unmaps it. */
static void give_addresses(char *low) {
  const size_t n = stack_range();
  (void)mmap(low + stacks.bytes - n, n, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* [from, to) of stack i, which begins at `low`, becomes its part of the file.
 */
static bool map_file(int i, const char *low, char *from, char *to) {
  const uint64_t at = (uint64_t)i * file_part() + (uint64_t)(from - low);
  return map(from, (size_t)(to - from), MAP_SHARED, stacks.fd, (off_t)at);
}

static bool fill_in(int i, struct stack *s, char *low) {
  char *const end = low + file_part();
  s->file = low;
  s->shut = low;
  if (stacks.grow) {
    s->shut = end;
    return map_memory(end, memory_part());
  }
  if (stacks.fd < 0) {
    return map_memory(low, stacks.bytes);
  }
  s->file = end;
  return map_memory(end, memory_part()) && map_file(i, low, low, end);
}

void *stack_make(int i, char *range) {
  struct stack new = {0};
  char *const low = take_addresses(range);
  const bool known = i < stacks.n;
  if (low && !(known ? fill_in(i, &new, low) : map_memory(low, stacks.bytes))) {
    const int error = errno;
    give_addresses(low);
    errno = error;
    return NULL;
  }
  if (low && known) {
    new.low = low;
    stacks.item[i] = new;
  }
  return low;
}

/* The stack that has it, or NULL. */
static struct stack *find(const void *address) {
  for (int i = 0; i < stacks.n; i++) {
    const char *const low = stacks.item[i].low;
    if (low && (uintptr_t)address - (uintptr_t)low < stacks.bytes) {
      return &stacks.item[i];
    }
  }
  return NULL;
}

void stack_free(void *stack) {
  struct stack *const s = find(stack);
  if (s) {
    s->low = s->file = NULL;
    s->shut = NULL;
  }
  give_addresses(stack);
}

bool stack_is_file(const void *p) {
  const struct stack *const s = find(p);
  return s && (const char *)p < s->file;
}

/* --- growing --- */

bool stacks_grow(void) {
  return stacks.grow;
}

bool stack_is_shut(int i, const void *address) {
  if (i >= stacks.n) {
    return false;
  }
  const struct stack *const s = &stacks.item[i];
  return s->low && (const char *)address >= s->low &&
         (const char *)address < s->shut;
}

char *stack_shut_to(int i) {
  return stacks.item[i].shut;
}

char *stack_reach(int i, const void *address) {
  enum { AHEAD = 32 << 10 }; /* frames that are larger than a page, at once */
  const struct stack *const s = &stacks.item[i];
  char *const end = s->low + stacks.bytes - stacks.top;
  const size_t open = (size_t)(end - s->shut);
  const size_t more = bits_align_up(open / 4, MEMORY);
  const size_t need = (size_t)(end - (const char *)address) + AHEAD;
  const size_t all =
      bits_align_up(need > open + more ? need : open + more, PAGE);
  return all < (size_t)(end - s->low) ? end - all : s->low;
}

/* Others may have opened some of it meanwhile, and use it. */
static bool open_shut(int i, char *to, bool as_file) {
  struct stack *const s = &stacks.item[i];
  bool done = true;
  task_spin_lock(&s->changing);
  if (to < s->shut) {
    char *const end = s->shut;
    done = as_file ? map_file(i, s->low, to, end)
                   : map_memory(to, (size_t)(end - to));
    s->file = done && as_file ? end : s->file;
    s->shut = done ? to : end;
  }
  task_spin_unlock(&s->changing);
  return done;
}

bool stack_open(int i, char *to) {
  return open_shut(i, to, false);
}

bool stack_open_file(int i) {
  return open_shut(i, stacks.item[i].low, stacks.fd >= 0);
}

static bool shut(char *from, char *to) {
  return mmap(from, (size_t)(to - from), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
              0) != MAP_FAILED;
}

void stack_shut(int i, char *to) {
  struct stack *const s = &stacks.item[i];
  task_spin_lock(&s->changing);
  if (s->file > s->low && s->file < to && map_file(i, s->low, s->file, to)) {
    s->file = to;
  } else if (s->file == s->low && s->shut < to && shut(s->shut, to)) {
    s->shut = to;
  }
  task_spin_unlock(&s->changing);
}

/* --- a full disk --- */

bool stacks_may_lack(void) {
  return stacks.fd >= 0;
}

/* A page of memory with what the file has at `from`, or NULL: a file can
   be read on a full disk. Where its blocks are smaller than pages, a page that
   could not be had as a whole may have some of them. */
static void *read_page(uint64_t from) {
  void *const page = pages_new(NULL, PAGE);
  if (!page || pread(stacks.fd, page, PAGE, (off_t)from) == PAGE) {
    return page;
  }
  pages_drop(page, PAGE);
  return NULL;
}

/* Only this page: those beside it may be memory by now. */
static bool supply(char *low, uint64_t at, size_t page) {
  void *const copy = read_page(at + page);
  if (!copy || pages_move(copy, low + page, PAGE, false) == 0) {
    return copy;
  }
  pages_drop(copy, PAGE);
  return false;
}

bool stacks_supply(const void *address) {
  const struct stack *const s = find(address);
  return s && (const char *)address < s->file &&
         supply(
             s->low, (uint64_t)(s - stacks.item) * file_part(),
             bits_round_down((size_t)((const char *)address - s->low), PAGE));
}

/* --- fork --- */

struct copier {
  ucontext_t caller, copier;
  void *start, *copy;
  size_t n;
  int error;
  char stack[COPIER_STACK];
};
/* Of the thread that forks. */
static __thread struct copier *copier;

/* Runs on a stack of its own: the one that is copied must not change. */
static void copy_pages(void) {
  memcpy(copier->copy, copier->start, copier->n);
  copier->error = pages_move(copier->copy, copier->start, copier->n, false);
}

/* [start, start + n) of the calling thread's stack becomes the process's own.
 */
static int copy_stack(void *start, size_t n) {
  copier = pages_new(NULL, sizeof(*copier));
  if (!copier) {
    return errno;
  }
  copier->start = start;
  copier->n = n;
  copier->copy = pages_new(NULL, n);
  if (!copier->copy) {
    return errno;
  }
  getcontext(&copier->copier);
  copier->copier.uc_stack.ss_sp = copier->stack;
  copier->copier.uc_stack.ss_size = sizeof(copier->stack);
  copier->copier.uc_link = &copier->caller;
  makecontext(&copier->copier, copy_pages, 0);
  swapcontext(&copier->caller, &copier->copier);
  const int error = copier->error;
  pages_drop(copier, sizeof(*copier));
  return error;
}

/* The part of a stack that the calling thread uses. */
static char *used_from(char *low, char *end, const char *frame) {
  enum { BELOW = 64 << 10 }; /* for frames of what is called from here */
  if (frame >= end) {
    return end;
  }
  return frame - low > BELOW
             ? low + bits_round_down((size_t)(frame - low) - BELOW, PAGE)
             : low;
}

void stack_before_fork(void *stack) {
  const char *const frame = __builtin_frame_address(0);
  struct stack *const s = find(frame);
  if (!s || s->low != stack || s->file == s->low) {
    return;
  }
  char *const low = s->low, *const end = s->file;
  char *const used = used_from(low, end, frame);
  int error = used < end ? copy_stack(used, (size_t)(end - used)) : 0;
  if (!error && used > low && !map_memory(low, (size_t)(used - low))) {
    error = errno;
  }
  if (error) {
    msg_fail_here(MSG_FAILED, "fork: no memory for a copy of the stack: %s",
                  strerror(error));
  }
}
