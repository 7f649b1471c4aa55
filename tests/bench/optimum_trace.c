/* A library for LD_PRELOAD that records, for each rank of a plain MPI program,
   which units of 64 KiB it reads and writes between blocking calls, and which
   messages those calls need. tests/bench/optimum.sh says how it is used.

   Memory is watched without signals, so that system calls work as before:
   writable memory of the program (its data and bss, the heap and mappings made
   after MPI_Init) becomes a shared mapping of a memfd with the same contents.
   MADV_DONTNEED then clears page-table entries and keeps the pages, and the
   ioctl PAGEMAP_SCAN tells which pages have an entry again; an asynchronous
   userfaultfd in write-protect mode tells which were written. It takes Linux
   6.7. Stacks and arenas of threads are left out, and a forked child shares its
   parent's memory: programs that fork without exec cannot be traced.

   The file PREFIX.RANK is a sequence of 64-bit words: a kind in the upper 8
   bits, a value in the others.
     READ, WRITE u     unit u (address / 65536) was read; read or written
     FREE u            unit u was given back to the system
     SEND r            a message to rank r of MPI_COMM_WORLD was sent
     GROUP_SEND r      the same as part of a collective call
     WAIT s            the interval ends at a blocking call; s tells call sites
                       apart
     NEED r            that call ends when one more message of r was sent
     GROUP_NEED r      the same as part of a collective call
   What a call receives is recorded as written after its WAIT.

   OPTIMUM_TRACE is the prefix; after OPTIMUM_WAITS waits (default: all) a rank
   is not watched any more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "optimum.h"

enum {
  PAGE = 4096,
  RANGES = 4096,     /* ranges of addresses in a list */
  REGIONS = 512,     /* of one scan */
  FRAMES = 12,       /* looked at to find a call site */
  REQUESTS = 1 << 16 /* a power of 2 */
};

/* Each watched mapping has its own part of the memfd: mremap may enlarge it. */
static const uint64_t STRIDE = (uint64_t)1 << 36;

struct range {
  uintptr_t start, end;
};

struct ranges {
  struct range at[RANGES];
  int n;
};

static struct ranges before;  /* mapped when MPI_Init returned: not watched */
static struct ranges watched; /* as of the last look at the maps, ascending */
static struct ranges mpi_code;
static uint64_t memory_end; /* of the used part of the memfd */
static int memory = -1, pagemap = -1, faults = -1;
static FILE *out;
static bool inside; /* in a function of this library */
static long waits, most_waits = -1;

static void stop(const char *what) {
  fprintf(stderr, "optimum_trace: %s: %s\n", what, strerror(errno));
  _exit(1);
}

static void put(enum optimum_kind kind, uint64_t value) {
  const uint64_t word = optimum_word(kind, value);
  if (out && fwrite(&word, sizeof(word), 1, out) != 1) {
    stop("cannot write the trace");
  }
}

static void put_units(enum optimum_kind kind, uintptr_t start, uintptr_t end) {
  for (uintptr_t u = start / OPTIMUM_UNIT; u * OPTIMUM_UNIT < end; u++) {
    put(kind, u);
  }
}

/* --- ranges --- */

static void add(struct ranges *r, uintptr_t start, uintptr_t end) {
  if (start < end) {
    if (r->n == RANGES) {
      errno = ENOSPC;
      stop("too many mappings");
    }
    r->at[r->n++] = (struct range){start, end};
  }
}

static bool holds(const struct ranges *r, uintptr_t p) {
  for (int i = 0; i < r->n; i++) {
    if (r->at[i].start <= p && p < r->at[i].end) {
      return true;
    }
  }
  return false;
}

/* Adds to r what of start..end is not in `without`. */
static void add_rest(struct ranges *r, uintptr_t start, uintptr_t end,
                     const struct ranges *without) {
  for (int i = 0; i < without->n; i++) {
    const struct range *w = &without->at[i];
    if (w->start < end && w->end > start) {
      add_rest(r, start, w->start, without);
      add_rest(r, w->end, end, without);
      return;
    }
  }
  add(r, start, end);
}

/* --- what a rank has touched --- */

/* <linux/fs.h> of Linux 6.7, which the system's headers may not have yet. */
struct region {
  uint64_t start, end, categories;
};

struct scan {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

enum { IS_WRITTEN = 1 << 1, IS_PRESENT = 1 << 3 };
enum { SCAN_PROTECT = 1 << 0 }; /* what the scan returns */
#define SCAN _IOWR('f', 16, struct scan)

/* Calls f for each piece of a range that has page-table entries; flags are the
   scan's. */
static void each_present(struct range range, uint64_t flags,
                         void (*f)(const struct region *piece,
                                   uint64_t argument),
                         uint64_t argument) {
  static struct region piece[REGIONS];
  while (range.start < range.end) {
    struct scan s = {.size = sizeof(s),
                     .flags = flags,
                     .start = range.start,
                     .end = range.end,
                     .vec = (uintptr_t)piece,
                     .vec_len = REGIONS,
                     .category_mask = IS_PRESENT,
                     .return_mask = IS_PRESENT | IS_WRITTEN};
    const int n = ioctl(pagemap, SCAN, &s);
    if (n < 0) {
      stop("PAGEMAP_SCAN");
    }
    for (int i = 0; i < n; i++) {
      f(&piece[i], argument);
    }
    range.start = s.walk_end;
  }
}

static void put_piece(const struct region *piece, uint64_t unused) {
  (void)unused;
  put_units(piece->categories & IS_WRITTEN ? OPTIMUM_WRITE : OPTIMUM_READ,
            piece->start, piece->end);
}

static void copy_piece(const struct region *piece, uint64_t shift) {
  for (uint64_t p = piece->start; p < piece->end;) {
    const ssize_t n =
        pwrite(memory, (void *)p, piece->end - p, (off_t)(p + shift));
    if (n <= 0) {
      stop("cannot copy memory");
    }
    p += (uint64_t)n;
  }
}

/* A range of private memory becomes one of the memfd. All that is there has
   been written since the last wait. */
static void share(struct range r) {
  const uint64_t at = memory_end;
  memory_end += (r.end - r.start + STRIDE - 1) / STRIDE * STRIDE;
  each_present(r, 0, copy_piece, at - r.start);
  each_present(r, 0, put_piece, 0);
  if (mmap((void *)r.start, r.end - r.start, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED, memory, (off_t)at) == MAP_FAILED) {
    stop("mmap");
  }
}

static void watch(struct range r) {
  struct uffdio_register reg = {.range = {r.start, r.end - r.start},
                                .mode = UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect wp = {.range = reg.range,
                                   .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  if (ioctl(faults, UFFDIO_REGISTER, &reg) ||
      ioctl(faults, UFFDIO_WRITEPROTECT, &wp)) {
    stop("cannot watch a mapping");
  }
}

/* Pages leave the page table, write-protected: the scan has protected them. */
static void clear_piece(const struct region *piece, uint64_t unused) {
  (void)unused;
  if (madvise((void *)piece->start, piece->end - piece->start, MADV_DONTNEED)) {
    stop("MADV_DONTNEED");
  }
}

static void put_and_clear(const struct region *piece, uint64_t unused) {
  put_piece(piece, unused);
  clear_piece(piece, unused);
}

/* From here on nothing has been touched. */
static void forget_touches(void) {
  for (int i = 0; i < watched.n; i++) {
    each_present(watched.at[i], SCAN_PROTECT, clear_piece, 0);
  }
}

/* --- which memory there is --- */

struct line {
  uintptr_t start, end;
  char rights[5];
  unsigned long inode;
  char name[256];
};

static const char *program(void) {
  static char name[256];
  if (!*name && readlink("/proc/self/exe", name, sizeof(name) - 1) < 0) {
    stop("/proc/self/exe");
  }
  return name;
}

static bool is_open(const struct line *l) {
  return strncmp(l->rights, "rw-", 3) == 0;
}

static bool is_ours(const struct line *l) {
  return strncmp(l->name, "/memfd:optimum", 14) == 0;
}

static bool is_closed(const struct line *l) {
  return strncmp(l->rights, "---", 3) == 0;
}

/* Has glibc made l for a thread? A stack lies above a guard, an arena at the
   beginning of 64 MiB. */
static bool of_thread(const struct line *last, const struct line *l,
                      const struct line *next) {
  enum { GUARD = 1 << 16, ARENA = 1 << 26 };
  return (is_closed(last) && last->end == l->start &&
          last->end - last->start <= GUARD) ||
         (l->start % ARENA == 0 && is_closed(next) && next->start == l->end);
}

/* The program's own data; bss is the mapping without a name that follows. */
static bool of_program(const struct line *last, const struct line *l) {
  return strcmp(l->name, program()) == 0 ||
         (strcmp(last->name, program()) == 0 && last->end == l->start &&
          !*l->name);
}

static bool next_line(FILE *maps, struct line *l) {
  char text[512];
  *l = (struct line){0};
  if (!fgets(text, sizeof(text), maps)) {
    return false;
  }
  unsigned long start, end;
  if (sscanf(text, "%lx-%lx %4s %*x %*s %lu %255[^\n]", &start, &end, l->rights,
             &l->inode, l->name) < 4) {
    stop("/proc/self/maps");
  }
  l->start = start;
  l->end = end;
  return true;
}

static void note_line(const struct line *last, const struct line *l,
                      const struct line *next, bool first, struct ranges *found,
                      struct ranges *fresh) {
  const bool own = of_program(last, l);
  const bool plain = !l->inode && (!*l->name || !strcmp(l->name, "[heap]"));
  if (!is_open(l)) {
    return;
  }
  if (is_ours(l)) {
    add(found, l->start, l->end);
  } else if (own) {
    add(found, l->start, l->end);
    add(fresh, l->start, l->end);
  } else if (plain && first) {
    add(&before, l->start, l->end);
  } else if (plain && !of_thread(last, l, next)) {
    add_rest(found, l->start, l->end, &before);
    add_rest(fresh, l->start, l->end, &before);
  }
}

/* found: what is to be watched; fresh: what of it is not shared yet. */
static void look(bool first, struct ranges *found, struct ranges *fresh) {
  static FILE *maps;
  if (maps) {
    rewind(maps);
  } else {
    static char buffer[1 << 16];
    maps = fopen("/proc/self/maps", "re");
    if (!maps || setvbuf(maps, buffer, _IOFBF, sizeof(buffer))) {
      stop("/proc/self/maps");
    }
  }
  found->n = fresh->n = 0;
  struct line last = {0}, l, next;
  for (bool more = next_line(maps, &l); more;) {
    more = next_line(maps, &next);
    note_line(&last, &l, &next, first, found, fresh);
    last = l;
    l = next;
  }
}

/* Units in `old` that no range of `now` has any more. */
static void put_freed(const struct ranges *old, const struct ranges *now) {
  static struct ranges gone;
  for (int i = 0; i < old->n; i++) {
    gone.n = 0;
    add_rest(&gone, old->at[i].start, old->at[i].end, now);
    for (int j = 0; j < gone.n; j++) {
      const uintptr_t up = gone.at[j].start + OPTIMUM_UNIT - 1;
      put_units(OPTIMUM_FREE, up / OPTIMUM_UNIT * OPTIMUM_UNIT,
                gone.at[j].end / OPTIMUM_UNIT * OPTIMUM_UNIT);
    }
  }
}

static bool was_watched(struct range r) {
  for (int i = 0; i < watched.n; i++) {
    if (watched.at[i].start == r.start && watched.at[i].end == r.end) {
      return true;
    }
  }
  return false;
}

/* Records what was touched since the last call, and finds new memory. */
static void record_touches(bool first) {
  static struct ranges found, fresh;
  look(first, &found, &fresh);
  put_freed(&watched, &found);
  for (int i = 0; i < fresh.n; i++) {
    share(fresh.at[i]);
  }
  for (int i = 0; i < found.n; i++) {
    if (was_watched(found.at[i])) {
      each_present(found.at[i], SCAN_PROTECT, put_and_clear, 0);
    } else {
      each_present(found.at[i], 0, put_and_clear, 0);
      watch(found.at[i]);
    }
  }
  watched = found;
}

/* --- beginning and end --- */

static bool is_mine(const struct dl_phdr_info *info) {
  Dl_info own;
  return dladdr((void *)add_rest, &own) &&
         (uintptr_t)own.dli_fbase == info->dlpi_addr;
}

static int note_code(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const char *name = strrchr(info->dlpi_name, '/');
  if (is_mine(info) || (name && strncmp(name, "/libmpi", 7) == 0)) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
      if (info->dlpi_phdr[i].p_type == PT_LOAD) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        add(&mpi_code, start, start + info->dlpi_phdr[i].p_memsz);
      }
    }
  }
  return 0;
}

static void open_watch(void) {
  struct uffdio_api api = {.api = UFFD_API,
                           .features = (1 << 15) | /* UFFD_FEATURE_WP_ASYNC */
                                       (1 << 12)}; /* WP_HUGETLBFS_SHMEM */
  faults = (int)syscall(SYS_userfaultfd,
                        O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api)) {
    stop("userfaultfd, which Linux 6.7 has");
  }
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  memory = memfd_create("optimum", MFD_CLOEXEC);
  if (pagemap < 0 || memory < 0 || ftruncate(memory, INT64_MAX / PAGE * PAGE)) {
    stop("cannot watch memory");
  }
}

static void start(void) {
  const char *prefix = getenv("OPTIMUM_TRACE");
  const char *most = getenv("OPTIMUM_WAITS");
  if (!prefix) {
    return;
  }
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[4096];
  snprintf(name, sizeof(name), "%s.%d", prefix, rank);
  out = fopen(name, "we");
  if (!out) {
    stop(name);
  }
  static char buffer[1 << 20];
  setvbuf(out, buffer, _IOFBF, sizeof(buffer));
  most_waits = most ? atol(most) : -1;
  dl_iterate_phdr(note_code, NULL);
  void *frame[1];
  backtrace(frame, 1); /* loads a library when first used */
  /* Free parts of the heap are the program's from now on; the heap grows in
     few steps, each of which becomes a mapping to look at. */
  malloc_trim(0);
  mallopt(M_TOP_PAD, 1 << 26);
  open_watch();
  record_touches(true);
  forget_touches();
}

static void finish(void) {
  if (out) {
    record_touches(false);
    if (fclose(out)) {
      stop("cannot write the trace");
    }
    out = NULL;
  }
}

/* The nearest caller that is not MPI's own: Fortran's calls come through its
   bindings. */
static uint64_t call_site(void) {
  void *frame[FRAMES];
  const int n = backtrace(frame, FRAMES);
  for (int i = 0; i < n; i++) {
    if (!holds(&mpi_code, (uintptr_t)frame[i])) {
      return (uintptr_t)frame[i] & OPTIMUM_VALUE;
    }
  }
  return 0;
}

/* A blocking call begins, and ends. */
static void enter(void) {
  inside = true;
  if (out) {
    record_touches(false);
    put(OPTIMUM_WAIT, call_site());
  }
}

static void leave(void) {
  inside = false;
  if (out && ++waits == most_waits) {
    finish();
  } else if (out) {
    forget_touches();
  }
}

/* --- messages --- */

static void world_ranks(MPI_Comm comm, int n, const int *rank, int *world) {
  MPI_Group group, all;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_translate_ranks(group, n, rank, all, world);
  PMPI_Group_free(&group);
  PMPI_Group_free(&all);
}

/* A message to, or needed of, a rank of comm, unless that is MPI_PROC_NULL. */
static void put_message(enum optimum_kind kind, MPI_Comm comm, int rank) {
  if (out && rank >= 0) {
    int world = rank;
    if (comm != MPI_COMM_WORLD) {
      world_ranks(comm, 1, &rank, &world);
    }
    if (world >= 0) {
      put(kind, (uint64_t)world);
    }
  }
}

/* MPI reads (OPTIMUM_READ) or delivers (OPTIMUM_WRITE) n items at p. */
static void put_buffer(enum optimum_kind kind, const void *p, MPI_Aint n,
                       MPI_Datatype type) {
  if (out && n > 0 && p != MPI_BOTTOM && p != MPI_IN_PLACE) {
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    const uintptr_t begin = (uintptr_t)p + (uintptr_t)low;
    put_units(kind, begin, begin + (uintptr_t)(n * extent));
  }
}

static void put_buffers(enum optimum_kind kind, MPI_Comm comm, const void *p,
                        const int *n, const int *at, MPI_Datatype type) {
  if (out && p != MPI_IN_PLACE) {
    int size;
    MPI_Aint low, extent;
    PMPI_Comm_size(comm, &size);
    PMPI_Type_get_extent(type, &low, &extent);
    for (int i = 0; i < size; i++) {
      put_buffer(kind, (const char *)p + (at ? at[i] : 0) * extent, n[i], type);
    }
  }
}

enum shape { FROM_ALL, FROM_ROOT, TO_ROOT, FROM_LOWER };

static bool sends_to(enum shape shape, int root, int from, int to) {
  switch (shape) {
  case FROM_ALL:
    return true;
  case FROM_ROOT:
    return from == root;
  case TO_ROOT:
    return to == root;
  case FROM_LOWER:
    return from < to;
  }
  return false;
}

/* The messages of a collective call, those sent (before it is entered) or
   needed (after). */
static void put_group(enum optimum_kind kind, MPI_Comm comm, enum shape shape,
                      int root) {
  if (!out) {
    return;
  }
  int me, size;
  PMPI_Comm_rank(comm, &me);
  PMPI_Comm_size(comm, &size);
  int rank[size], world[size];
  for (int i = 0; i < size; i++) {
    rank[i] = i;
  }
  world_ranks(comm, size, rank, world);
  for (int i = 0; i < size; i++) {
    const bool sent = kind == OPTIMUM_GROUP_SEND ? sends_to(shape, root, me, i)
                                                 : sends_to(shape, root, i, me);
    if (i != me && sent) {
      put(kind, (uint64_t)world[i]);
    }
  }
}

/* --- requests --- */

struct request {
  MPI_Request handle;
  MPI_Comm comm;
  const void *buffer;
  int n;
  MPI_Datatype type;
  int to; /* of a persistent send; -1: receives */
  bool persistent;
  bool used;
};

static struct request requests[REQUESTS];
static int pending;

static struct request *slot(MPI_Request handle) {
  size_t i = ((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 40;
  while (requests[i % REQUESTS].used &&
         requests[i % REQUESTS].handle != handle) {
    i++;
  }
  return &requests[i % REQUESTS];
}

static void add_request(struct request r) {
  if (out && r.handle != MPI_REQUEST_NULL) {
    struct request *s = slot(r.handle);
    if (!s->used && ++pending == REQUESTS / 2) {
      errno = ENOSPC;
      stop("too many requests");
    }
    *s = r;
    s->used = true;
  }
}

/* Later requests move to the places where a search expects them. */
static void remove_request(struct request *s) {
  pending--;
  s->used = false;
  for (size_t i = (size_t)(s - requests) + 1; requests[i % REQUESTS].used;
       i++) {
    const struct request r = requests[i % REQUESTS];
    requests[i % REQUESTS].used = false;
    *slot(r.handle) = r;
  }
}

static void starts(MPI_Request handle) {
  struct request *s = slot(handle);
  if (out && s->used && s->to >= 0) {
    put_buffer(OPTIMUM_READ, s->buffer, s->n, s->type);
    put_message(OPTIMUM_SEND, s->comm, s->to);
  }
}

static void put_needs(const MPI_Request *handle, const MPI_Status *status,
                      int n) {
  for (int i = 0; i < n; i++) {
    const struct request *s = slot(handle[i]);
    if (s->used && s->to < 0 && status[i].MPI_SOURCE >= 0) {
      put_message(OPTIMUM_NEED, s->comm, status[i].MPI_SOURCE);
    }
  }
}

static void put_delivery(const struct request *s, const MPI_Status *status) {
  int n = 0;
  PMPI_Get_count(status, s->type, &n);
  put_buffer(OPTIMUM_WRITE, s->buffer, n == MPI_UNDEFINED ? s->n : n, s->type);
}

/* n requests are complete. The handles were copied before the call. */
static void completes(const MPI_Request *handle, const MPI_Status *status,
                      int n) {
  put_needs(handle, status, n);
  for (int i = 0; i < n && out; i++) {
    struct request *s = slot(handle[i]);
    if (s->used && s->to < 0 && status[i].MPI_SOURCE >= 0) {
      put_delivery(s, &status[i]);
    }
    if (s->used && !s->persistent) {
      remove_request(s);
    }
  }
}

/* --- the calls --- */

/* NAME is MPI_X and PMPI_X here: C programs call the former, the bindings of
   Fortran the latter. real_NAME is the library's. */
#define WRAP(name, parameters, arguments)                                      \
  static int real_##name parameters {                                          \
    static int(*f) parameters;                                                 \
    if (!f) {                                                                  \
      *(void **)&f = dlsym(RTLD_NEXT, "P" #name);                              \
    }                                                                          \
    return f arguments;                                                        \
  }                                                                            \
  int name parameters __attribute__((alias("P" #name)));                       \
  int P##name parameters

/* A call that ends an interval, with what is recorded before it is entered and
   after it has returned. MPI's own calls pass. */
#define BLOCKING(name, parameters, arguments, sent, received)                  \
  WRAP(name, parameters, arguments) {                                          \
    if (inside || !out) {                                                      \
      return real_##name arguments;                                            \
    }                                                                          \
    sent;                                                                      \
    enter();                                                                   \
    const int e = real_##name arguments;                                       \
    received;                                                                  \
    leave();                                                                   \
    return e;                                                                  \
  }

#define SENDING(name, parameters, arguments)                                   \
  WRAP(name, parameters, arguments) {                                          \
    const int e = real_##name arguments;                                       \
    if (!inside) {                                                             \
      put_buffer(OPTIMUM_READ, b, n, t);                                       \
      put_message(OPTIMUM_SEND, c, to);                                        \
    }                                                                          \
    return e;                                                                  \
  }

#define SEND_PARAMETERS                                                        \
  const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c
SENDING(MPI_Send, (SEND_PARAMETERS), (b, n, t, to, tag, c))
SENDING(MPI_Ssend, (SEND_PARAMETERS), (b, n, t, to, tag, c))
SENDING(MPI_Rsend, (SEND_PARAMETERS), (b, n, t, to, tag, c))
SENDING(MPI_Bsend, (SEND_PARAMETERS), (b, n, t, to, tag, c))
SENDING(MPI_Isend, (SEND_PARAMETERS, MPI_Request *r), (b, n, t, to, tag, c, r))
SENDING(MPI_Issend, (SEND_PARAMETERS, MPI_Request *r), (b, n, t, to, tag, c, r))
SENDING(MPI_Irsend, (SEND_PARAMETERS, MPI_Request *r), (b, n, t, to, tag, c, r))

WRAP(MPI_Send_init, (SEND_PARAMETERS, MPI_Request *r),
     (b, n, t, to, tag, c, r)) {
  const int e = real_MPI_Send_init(b, n, t, to, tag, c, r);
  add_request((struct request){*r, c, b, n, t, to < 0 ? 0 : to, true, true});
  return e;
}

WRAP(MPI_Irecv,
     (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
      MPI_Request *r),
     (b, n, t, from, tag, c, r)) {
  const int e = real_MPI_Irecv(b, n, t, from, tag, c, r);
  if (!inside) {
    add_request((struct request){*r, c, b, n, t, -1, false, true});
  }
  return e;
}

WRAP(MPI_Recv_init,
     (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
      MPI_Request *r),
     (b, n, t, from, tag, c, r)) {
  const int e = real_MPI_Recv_init(b, n, t, from, tag, c, r);
  add_request((struct request){*r, c, b, n, t, -1, true, true});
  return e;
}

WRAP(MPI_Start, (MPI_Request * r), (r)) {
  starts(*r);
  return real_MPI_Start(r);
}

WRAP(MPI_Startall, (int n, MPI_Request r[]), (n, r)) {
  for (int i = 0; i < n; i++) {
    starts(r[i]);
  }
  return real_MPI_Startall(n, r);
}

WRAP(MPI_Request_free, (MPI_Request * r), (r)) {
  struct request *s = slot(*r);
  if (!inside && out && s->used) {
    remove_request(s);
  }
  return real_MPI_Request_free(r);
}

WRAP(MPI_Recv,
     (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
      MPI_Status *s),
     (b, n, t, from, tag, c, s)) {
  if (inside || !out) {
    return real_MPI_Recv(b, n, t, from, tag, c, s);
  }
  MPI_Status own, *status = s == MPI_STATUS_IGNORE ? &own : s;
  int got = n;
  enter();
  const int e = real_MPI_Recv(b, n, t, from, tag, c, status);
  PMPI_Get_count(status, t, &got);
  put_message(OPTIMUM_NEED, c, status->MPI_SOURCE);
  put_buffer(OPTIMUM_WRITE, b, got == MPI_UNDEFINED ? n : got, t);
  leave();
  return e;
}

WRAP(MPI_Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn,
      MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s)) {
  if (inside || !out) {
    return real_MPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s);
  }
  MPI_Status own, *status = s == MPI_STATUS_IGNORE ? &own : s;
  int got = rn;
  put_buffer(OPTIMUM_READ, b, n, t);
  put_message(OPTIMUM_SEND, c, to);
  enter();
  const int e =
      real_MPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, status);
  PMPI_Get_count(status, rt, &got);
  put_message(OPTIMUM_NEED, c, status->MPI_SOURCE);
  put_buffer(OPTIMUM_WRITE, rb, got == MPI_UNDEFINED ? rn : got, rt);
  leave();
  return e;
}

WRAP(MPI_Wait, (MPI_Request * r, MPI_Status *s), (r, s)) {
  if (inside || !out) {
    return real_MPI_Wait(r, s);
  }
  const MPI_Request handle = *r;
  MPI_Status own, *status = s == MPI_STATUS_IGNORE ? &own : s;
  enter();
  const int e = real_MPI_Wait(r, status);
  completes(&handle, status, 1);
  leave();
  return e;
}

WRAP(MPI_Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s)) {
  if (inside || !out) {
    return real_MPI_Waitall(n, r, s);
  }
  MPI_Request handle[n + 1];
  MPI_Status own[n + 1], *status = s == MPI_STATUSES_IGNORE ? own : s;
  memcpy(handle, r, (size_t)n * sizeof(*r));
  enter();
  const int e = real_MPI_Waitall(n, r, status);
  completes(handle, status, n);
  leave();
  return e;
}

WRAP(MPI_Waitany, (int n, MPI_Request r[], int *i, MPI_Status *s),
     (n, r, i, s)) {
  if (inside || !out) {
    return real_MPI_Waitany(n, r, i, s);
  }
  MPI_Request handle[n + 1];
  MPI_Status own, *status = s == MPI_STATUS_IGNORE ? &own : s;
  memcpy(handle, r, (size_t)n * sizeof(*r));
  enter();
  const int e = real_MPI_Waitany(n, r, i, status);
  if (*i != MPI_UNDEFINED) {
    completes(&handle[*i], status, 1);
  }
  leave();
  return e;
}

WRAP(MPI_Waitsome, (int n, MPI_Request r[], int *got, int i[], MPI_Status s[]),
     (n, r, got, i, s)) {
  if (inside || !out) {
    return real_MPI_Waitsome(n, r, got, i, s);
  }
  MPI_Request handle[n + 1], done[n + 1];
  MPI_Status own[n + 1], *status = s == MPI_STATUSES_IGNORE ? own : s;
  memcpy(handle, r, (size_t)n * sizeof(*r));
  enter();
  const int e = real_MPI_Waitsome(n, r, got, i, status);
  for (int j = 0; *got != MPI_UNDEFINED && j < *got; j++) {
    done[j] = handle[i[j]];
  }
  completes(done, status, *got == MPI_UNDEFINED ? 0 : *got);
  leave();
  return e;
}

/* A test that succeeds is a wait; others are not recorded. */
WRAP(MPI_Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s)) {
  if (inside || !out) {
    return real_MPI_Test(r, done, s);
  }
  const MPI_Request handle = *r;
  MPI_Status own, *status = s == MPI_STATUS_IGNORE ? &own : s;
  const int e = real_MPI_Test(r, done, status);
  if (*done) {
    enter();
    completes(&handle, status, 1);
    leave();
  }
  return e;
}

WRAP(MPI_Testall, (int n, MPI_Request r[], int *done, MPI_Status s[]),
     (n, r, done, s)) {
  if (inside || !out) {
    return real_MPI_Testall(n, r, done, s);
  }
  MPI_Request handle[n + 1];
  MPI_Status own[n + 1], *status = s == MPI_STATUSES_IGNORE ? own : s;
  memcpy(handle, r, (size_t)n * sizeof(*r));
  const int e = real_MPI_Testall(n, r, done, status);
  if (*done) {
    enter();
    completes(handle, status, n);
    leave();
  }
  return e;
}

/* The number of items that a rank of comm sends all together. */
static MPI_Aint all(MPI_Comm comm, int n) {
  int size;
  PMPI_Comm_size(comm, &size);
  return (MPI_Aint)size * n;
}

static bool is_root(MPI_Comm comm, int root) {
  int me;
  PMPI_Comm_rank(comm, &me);
  return me == root;
}

/* SENT and RECEIVED are what MPI reads and delivers. */
#define COLLECTIVE(name, parameters, arguments, shape, root, sent, received)   \
  BLOCKING(name, parameters, arguments,                                        \
           (sent, put_group(OPTIMUM_GROUP_SEND, c, shape, root)),              \
           (put_group(OPTIMUM_GROUP_NEED, c, shape, root), received))
#define READS(b, n, t) put_buffer(OPTIMUM_READ, b, n, t)
#define GETS(b, n, t) put_buffer(OPTIMUM_WRITE, b, n, t)
#define READS_EACH(b, n, at, t) put_buffers(OPTIMUM_READ, c, b, n, at, t)
#define GETS_EACH(b, n, at, t) put_buffers(OPTIMUM_WRITE, c, b, n, at, t)
#define IF_ROOT(what) (is_root(c, root) ? (what) : (void)0)
#define UNLESS_ROOT(what) (is_root(c, root) ? (void)0 : (what))

COLLECTIVE(MPI_Barrier, (MPI_Comm c), (c), FROM_ALL, 0, (void)0, (void)0)
COLLECTIVE(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),
           (b, n, t, root, c), FROM_ROOT, root, IF_ROOT(READS(b, n, t)),
           UNLESS_ROOT(GETS(b, n, t)))
COLLECTIVE(MPI_Reduce,
           (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root,
            MPI_Comm c),
           (b, rb, n, t, op, root, c), TO_ROOT, root, READS(b, n, t),
           IF_ROOT(GETS(rb, n, t)))
COLLECTIVE(MPI_Allreduce,
           (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (b, rb, n, t, op, c), FROM_ALL, 0, READS(b, n, t), GETS(rb, n, t))
COLLECTIVE(MPI_Scan,
           (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (b, rb, n, t, op, c), FROM_LOWER, 0, READS(b, n, t), GETS(rb, n, t))
COLLECTIVE(MPI_Exscan,
           (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (b, rb, n, t, op, c), FROM_LOWER, 0, READS(b, n, t), GETS(rb, n, t))
#define TWO                                                                    \
  const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt
COLLECTIVE(MPI_Gather, (TWO, int root, MPI_Comm c),
           (b, n, t, rb, rn, rt, root, c), TO_ROOT, root, READS(b, n, t),
           IF_ROOT(GETS(rb, all(c, rn), rt)))
COLLECTIVE(MPI_Scatter, (TWO, int root, MPI_Comm c),
           (b, n, t, rb, rn, rt, root, c), FROM_ROOT, root,
           IF_ROOT(READS(b, all(c, n), t)), GETS(rb, rn, rt))
COLLECTIVE(MPI_Allgather, (TWO, MPI_Comm c), (b, n, t, rb, rn, rt, c), FROM_ALL,
           0, READS(b, n, t), GETS(rb, all(c, rn), rt))
COLLECTIVE(MPI_Alltoall, (TWO, MPI_Comm c), (b, n, t, rb, rn, rt, c), FROM_ALL,
           0, READS(b, all(c, n), t), GETS(rb, all(c, rn), rt))
COLLECTIVE(MPI_Gatherv,
           (const void *b, int n, MPI_Datatype t, void *rb, const int rn[],
            const int at[], MPI_Datatype rt, int root, MPI_Comm c),
           (b, n, t, rb, rn, at, rt, root, c), TO_ROOT, root, READS(b, n, t),
           IF_ROOT(GETS_EACH(rb, rn, at, rt)))
COLLECTIVE(MPI_Scatterv,
           (const void *b, const int n[], const int at[], MPI_Datatype t,
            void *rb, int rn, MPI_Datatype rt, int root, MPI_Comm c),
           (b, n, at, t, rb, rn, rt, root, c), FROM_ROOT, root,
           IF_ROOT(READS_EACH(b, n, at, t)), GETS(rb, rn, rt))
COLLECTIVE(MPI_Allgatherv,
           (const void *b, int n, MPI_Datatype t, void *rb, const int rn[],
            const int at[], MPI_Datatype rt, MPI_Comm c),
           (b, n, t, rb, rn, at, rt, c), FROM_ALL, 0, READS(b, n, t),
           GETS_EACH(rb, rn, at, rt))
COLLECTIVE(MPI_Alltoallv,
           (const void *b, const int n[], const int at[], MPI_Datatype t,
            void *rb, const int rn[], const int rat[], MPI_Datatype rt,
            MPI_Comm c),
           (b, n, at, t, rb, rn, rat, rt, c), FROM_ALL, 0,
           READS_EACH(b, n, at, t), GETS_EACH(rb, rn, rat, rt))
COLLECTIVE(MPI_Reduce_scatter,
           (const void *b, void *rb, const int n[], MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (b, rb, n, t, op, c), FROM_ALL, 0, (void)0, (void)0)
COLLECTIVE(MPI_Reduce_scatter_block,
           (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (b, rb, n, t, op, c), FROM_ALL, 0, READS(b, all(c, n), t),
           GETS(rb, n, t))
COLLECTIVE(MPI_Comm_dup, (MPI_Comm c, MPI_Comm *new), (c, new), FROM_ALL, 0,
           (void)0, (void)0)
COLLECTIVE(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *new),
           (c, color, key, new), FROM_ALL, 0, (void)0, (void)0)

WRAP(MPI_Init, (int *argc, char ***argv), (argc, argv)) {
  const int e = real_MPI_Init(argc, argv);
  start();
  return e;
}

WRAP(MPI_Init_thread, (int *argc, char ***argv, int wanted, int *got),
     (argc, argv, wanted, got)) {
  const int e = real_MPI_Init_thread(argc, argv, wanted, got);
  start();
  return e;
}

WRAP(MPI_Finalize, (void), ()) {
  finish();
  return real_MPI_Finalize();
}
