#define _GNU_SOURCE
#include "config/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "config/slurm.h"

/* Where a memory cgroup's numbers are found. */
struct cgroup_version {
  const char *filesystem; /* type in mountinfo */
  const char *controller; /* mount option and field of /proc/self/cgroup, or
                             NULL for v2's line "0::" */
  const char *mounts[3];  /* tried where there is no mountinfo */
  const char *limits[2];  /* files; the smaller counts */
  const char *used;
  const char *cache[2]; /* keys of memory.stat: page cache, reclaimable */
};

static const struct cgroup_version versions[] = {
    {"cgroup",
     "memory",
     {"/sys/fs/cgroup/memory", NULL},
     {"memory.limit_in_bytes", NULL},
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}},
    /* Above memory.high a process is not killed but slowed to a crawl. */
    {"cgroup2",
     NULL,
     {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL},
     {"memory.max", "memory.high"},
     "memory.current",
     {"inactive_file", "active_file"}},
};

/* v1 says "no limit" as a huge number. */
#define HUGE_LIMIT (UINT64_C(1) << 60)

/* The whole of a small file, NUL-terminated, without allocating. 0 or -1. */
static int read_text(const char *path, char *buf, size_t buf_size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  size_t n = 0;
  ssize_t got = 0;
  while (n < buf_size - 1) {
    got = read(fd, buf + n, buf_size - 1 - n);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    n += (size_t)got;
  }
  close(fd);
  buf[n] = '\0';
  return got < 0 ? -1 : 0;
}

/* The number that follows `key` at the start of a line. 0 or -1. */
static int find_number(const char *text, const char *key, uint64_t *value) {
  const size_t n = strlen(key);
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, n) == 0 && strchr(" \t:", line[n]) && line[n]) {
      *value = strtoull(line + n + strspn(line + n, " \t:"), NULL, 10);
      return 0;
    }
  }
  return -1;
}

static int read_number(const char *dir, const char *file, uint64_t *value) {
  char path[PATH_MAX], text[64], *end;
  if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path) ||
      read_text(path, text, sizeof(text))) {
    return -1;
  }
  *value = strtoull(text, &end, 10);
  return end == text ? -1 : 0; /* "max" */
}

/* --- cgroups --- */

/* Undoes mountinfo's \040 and the like, in place. */
static void unescape(char *s) {
  char *to = s;
  for (; *s; s++, to++) {
    *to = *s;
    if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
        s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
      *to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
      s += 3;
    }
  }
  *to = '\0';
}

static bool has_word(const char *list, const char *word) {
  const size_t n = strlen(word);
  for (;; list++) {
    const size_t length = strcspn(list, ",\n");
    if (length == n && memcmp(list, word, n) == 0) {
      return true;
    }
    list += length;
    if (*list != ',') {
      return false;
    }
  }
}

/* One line of mountinfo: "id parent dev root point options ... - type source
   super-options". */
static int parse_mount(char *line, const struct cgroup_version *v,
                       char root[PATH_MAX], char point[PATH_MAX]) {
  char type[32], options[1024];
  const char *const rest = strstr(line, " - ");
  if (!rest || sscanf(rest, " - %31s %*s %1023s", type, options) != 2 ||
      strcmp(type, v->filesystem) != 0 ||
      (v->controller && !has_word(options, v->controller))) {
    return -1;
  }
  _Static_assert(PATH_MAX == 4096, "the widths below");
  if (sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2) {
    return -1;
  }
  unescape(root);
  unescape(point);
  return 0;
}

/* Where the hierarchy is mounted, and which of its cgroups is there. */
static int find_mount(const char *fsroot, const struct cgroup_version *v,
                      char root[PATH_MAX], char point[PATH_MAX]) {
  char path[PATH_MAX];
  char *line = NULL;
  size_t size = 0;
  int found = -1;
  snprintf(path, sizeof(path), "%s/proc/self/mountinfo", fsroot);
  FILE *const f = fopen(path, "re");
  if (f) {
    while (found && getline(&line, &size, f) > 0) {
      found = parse_mount(line, v, root, point);
    }
    free(line);
    fclose(f);
    return found;
  }
  struct stat st;
  for (const char *const *m = v->mounts; *m; m++) {
    if (snprintf(path, sizeof(path), "%s%s", fsroot, *m) < (int)sizeof(path) &&
        stat(path, &st) == 0) {
      strcpy(root, "/");
      strcpy(point, *m);
      found = 0;
    }
  }
  return found;
}

/* This process's cgroup as /proc/self/cgroup says it. */
static int find_path(const char *fsroot, const struct cgroup_version *v,
                     char cgroup[PATH_MAX]) {
  char file[PATH_MAX];
  char *line = NULL;
  size_t size = 0;
  int found = -1;
  snprintf(file, sizeof(file), "%s/proc/self/cgroup", fsroot);
  FILE *const f = fopen(file, "re");
  if (!f) {
    return -1;
  }
  while (found && getline(&line, &size, f) > 0) {
    char *const controllers = strchr(line, ':');
    char *const path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) {
      continue;
    }
    *path = '\0';
    if (v->controller ? !has_word(controllers + 1, v->controller)
                      : strcmp(line, "0:") != 0) {
      continue;
    }
    path[strcspn(path + 1, "\n") + 1] = '\0';
    if (snprintf(cgroup, PATH_MAX, "%s", path + 1) < PATH_MAX) {
      found = 0;
    }
  }
  free(line);
  fclose(f);
  return found;
}

static uint64_t cgroup_limit(const char *dir, const struct cgroup_version *v,
                             const char *stat_text) {
  uint64_t limit = UINT64_MAX, x;
  for (int i = 0; i < 2; i++) {
    if (v->limits[i] && read_number(dir, v->limits[i], &x) == 0 && x < limit) {
      limit = x;
    }
  }
  /* v1 also tells of ancestors that a container cannot see. */
  if (find_number(stat_text, "hierarchical_memory_limit", &x) == 0 &&
      x < limit) {
    limit = x;
  }
  return limit < HUGE_LIMIT ? limit : UINT64_MAX;
}

static uint64_t cgroup_used(const char *dir, const struct cgroup_version *v,
                            const char *stat_text) {
  uint64_t used, x;
  if (read_number(dir, v->used, &used)) {
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    if (find_number(stat_text, v->cache[i], &x) == 0) {
      used -= x < used ? x : used;
    }
  }
  return used;
}

/* Takes the cgroup in `dir` into account: the smallest limit and the least
   room need not be those of the same cgroup. */
static void add_cgroup(const char *dir, const struct cgroup_version *v,
                       uint64_t *limit, uint64_t *room) {
  char path[PATH_MAX], stat_text[16384] = "";
  if (snprintf(path, sizeof(path), "%s/memory.stat", dir) < (int)sizeof(path)) {
    read_text(path, stat_text, sizeof(stat_text));
  }
  const uint64_t own = cgroup_limit(dir, v, stat_text);
  if (own == UINT64_MAX) {
    return;
  }
  const uint64_t used = cgroup_used(dir, v, stat_text);
  const uint64_t left = used < own ? own - used : 0;
  if (own < *limit) {
    *limit = own;
  }
  if (left < *room) {
    *room = left;
  }
}

/* Walks from this process's cgroup up to the mount point. */
static void add_cgroups(const char *fsroot, const struct cgroup_version *v,
                        uint64_t *limit, uint64_t *room) {
  char root[PATH_MAX], point[PATH_MAX], cgroup[PATH_MAX], dir[PATH_MAX];
  struct stat st;
  if (find_mount(fsroot, v, root, point) || find_path(fsroot, v, cgroup)) {
    return;
  }
  const char *below = cgroup;
  const size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
  if (strncmp(cgroup, root, n) == 0 && (cgroup[n] == '/' || !cgroup[n])) {
    below += n;
  }
  const int top = snprintf(dir, sizeof(dir), "%s%s", fsroot, point);
  if (top >= (int)sizeof(dir)) {
    return;
  }
  /* In a container the path may be the host's: its own cgroup is then the one
     that is mounted. */
  if (snprintf(dir + top, sizeof(dir) - (size_t)top, "%s", below) >=
          (int)sizeof(dir) - top ||
      strstr(below, "/..") || stat(dir, &st)) {
    dir[top] = '\0';
  }
  for (;;) {
    add_cgroup(dir, v, limit, room);
    char *const slash = strrchr(dir + top, '/');
    if (!slash) {
      return;
    }
    *slash = '\0';
  }
}

static void find_limits(struct machine *m, const char *fsroot) {
  uint64_t limit = UINT64_MAX, room = UINT64_MAX;
  for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
    add_cgroups(fsroot, &versions[i], &limit, &room);
  }
  m->limit = limit;
  m->limit_used = limit == UINT64_MAX ? 0 : limit - room;
}

/* --- cores and memory --- */

/* Cores, not hardware threads, within the allowed cpuset and the binding of
   this process; 0 if hwloc does not know. */
static int hwloc_cores(void) {
  hwloc_topology_t t;
  int n = 0;
  if (hwloc_topology_init(&t)) {
    return 0;
  }
  hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (bound && hwloc_topology_load(t) == 0) {
    if (hwloc_get_cpubind(t, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        !hwloc_bitmap_iszero(bound)) {
      hwloc_topology_restrict(t, bound, 0);
    }
    n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    if (n <= 0) {
      n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    }
  }
  hwloc_bitmap_free(bound);
  hwloc_topology_destroy(t);
  return n;
}

static int find_cores(void) {
  const int n = hwloc_cores();
  if (n > 0) {
    return n;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return CPU_COUNT(&set);
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

static int find_memory(struct machine *m, const char *fsroot) {
  char path[PATH_MAX], text[8192];
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  m->memory = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
  m->available = page * (uint64_t)sysconf(_SC_AVPHYS_PAGES);
  uint64_t total, available;
  snprintf(path, sizeof(path), "%s/proc/meminfo", fsroot);
  if (read_text(path, text, sizeof(text)) ||
      find_number(text, "MemTotal", &total) ||
      /* MemAvailable came with Linux 3.14. */
      (find_number(text, "MemAvailable", &available) &&
       find_number(text, "MemFree", &available))) {
    return -1;
  }
  m->memory = total * 1024;
  m->available = available * 1024;
  return 0;
}

/* Slurm's allocation, which need not be a cgroup. */
static void find_allocation(struct machine *m) {
  char host[256] = "";
  int cpus;
  uint64_t memory;
  gethostname(host, sizeof(host) - 1);
  slurm_limits(host, &cpus, &memory);
  if (cpus && cpus < m->cores) {
    m->cores = cpus;
  }
  if (memory < m->limit - m->limit_used) {
    m->limit = memory;
    m->limit_used = 0;
  }
}

int machine_find(struct machine *m, const char *root) {
  m->cores = find_cores();
  find_limits(m, root);
  find_allocation(m);
  return find_memory(m, root);
}

uint64_t machine_disk_free(const char *dir) {
  struct statvfs fs;
  if (statvfs(dir, &fs)) {
    return 0;
  }
  return (uint64_t)fs.f_bavail * fs.f_frsize;
}

uint64_t machine_rss(void) {
  char text[256];
  unsigned long long pages;
  if (read_text("/proc/self/statm", text, sizeof(text)) ||
      sscanf(text, "%*s %llu", &pages) != 1) {
    return 0;
  }
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A number of KiB of the kernel's about this process; 0: it does not tell. */
static uint64_t status_bytes(const char *key) {
  char text[8192];
  uint64_t kib;
  if (read_text("/proc/self/status", text, sizeof(text)) ||
      find_number(text, key, &kib)) {
    return 0;
  }
  return kib * 1024;
}

/* getrusage's ru_maxrss would be that of the process that called exec. */
uint64_t machine_peak_rss(void) {
  return status_bytes("VmHWM");
}

uint64_t machine_file_rss(void) {
  return status_bytes("RssFile");
}
