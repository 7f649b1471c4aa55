#define _GNU_SOURCE
#include "vp/binding.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "config/options.h"
#include "os/native.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_NODE = -1, WORD_BITS = 8 * sizeof(unsigned long) };

/* CPUs that a thread is bound to: those of a slot, or of a NUMA node. */
struct set {
  cpu_set_t *cpus; /* place.mask_bytes */
  int node;        /* the kernel's number, or NO_NODE */
};

static struct {
  int bind;       /* BIND_NONE, BIND_CORE or BIND_NUMA */
  unsigned start; /* counts the beginnings */
  struct set *set;
  int sets;
  int *set_of_vp; /* with BIND_NUMA */
  size_t mask_bytes;
  char description[48];
} place = {.bind = BIND_NONE, .description = "none"};

/* Where the calling thread was bound last: a set of the start of that number;
   0 is none. */
static __thread struct {
  unsigned start;
  int set;
} bound __attribute__((tls_model("initial-exec")));

/* A core, or what hwloc shows in its place, as far as it is allowed. */
struct core {
  hwloc_obj_t object;
  int node; /* as in struct set */
};

/* The cores of a machine that this process may use, or its part of them. */
struct cores {
  struct core *at;
  int n;
};

/* --- finding cores -------------------------------------------------------- */

/* The node next to a core: of those around it the one with the fewest CPUs, so
   that memory of a whole package does not hide that of its parts; of several
   for the same CPUs hwloc names the ordinary memory first. */
static int node_of(hwloc_topology_t t, hwloc_obj_t core) {
  hwloc_obj_t best = NULL;
  for (hwloc_obj_t node = NULL;
       (node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node));) {
    if (hwloc_bitmap_intersects(node->cpuset, core->cpuset) &&
        (!best || hwloc_bitmap_weight(node->cpuset) <
                      hwloc_bitmap_weight(best->cpuset))) {
      best = node;
    }
  }
  return best ? (int)best->os_index : NO_NODE;
}

static struct cores find_cores(hwloc_topology_t t,
                               hwloc_const_cpuset_t allowed) {
  const hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0
                                    ? HWLOC_OBJ_CORE
                                    : HWLOC_OBJ_PU;
  const int most = hwloc_get_nbobjs_by_type(t, type);
  struct cores cores = {0};
  cores.at = need_zalloc((size_t)(most > 0 ? most : 1), sizeof(*cores.at),
                         "binding threads");
  for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, type, o));) {
    if (hwloc_bitmap_intersects(o->cpuset, allowed)) {
      cores.at[cores.n++] = (struct core){o, node_of(t, o)};
    }
  }
  return cores;
}

static bool spans_nodes(const struct cores *cores) {
  for (int i = 1; i < cores->n; i++) {
    if (cores->at[i].node != cores->at[0].node) {
      return true;
    }
  }
  return false;
}

/* The first of the items that belong to part i when n are dealt to `parts`. */
static int part_first(int n, int parts, int i) {
  return (int)((int64_t)n * i / parts);
}

/* The part of process `rank` of `size`; with fewer cores than processes, one
   that others have, too. */
static struct cores part_of(const struct cores *all, int rank, int size) {
  const int first = part_first(all->n, size, rank);
  const int n = part_first(all->n, size, rank + 1) - first;
  return (struct cores){all->at + first, n > 0 ? n : 1};
}

/* --- making sets ---------------------------------------------------------- */

static void forget(void) {
  for (int i = 0; i < place.sets; i++) {
    native_free(place.set[i].cpus);
  }
  native_free(place.set);
  native_free(place.set_of_vp);
  place.set = NULL;
  place.set_of_vp = NULL;
  place.sets = 0;
  place.bind = BIND_NONE;
  strcpy(place.description, "none");
}

static void make_sets(int bind, int sets, hwloc_const_cpuset_t allowed) {
  place.bind = bind;
  place.start++;
  place.mask_bytes = CPU_ALLOC_SIZE(hwloc_bitmap_last(allowed) + 1);
  place.sets = sets;
  place.set = need_zalloc((size_t)sets, sizeof(*place.set), "binding threads");
  for (int i = 0; i < sets; i++) {
    place.set[i].cpus = need_zalloc(1, place.mask_bytes, "binding threads");
    place.set[i].node = NO_NODE;
  }
}

static void add_core(struct set *set, const struct core *core,
                     hwloc_const_cpuset_t allowed) {
  unsigned cpu;
  hwloc_bitmap_foreach_begin(cpu, core->object->cpuset) {
    if (hwloc_bitmap_isset(allowed, cpu)) {
      CPU_SET_S(cpu, place.mask_bytes, set->cpus);
    }
  }
  hwloc_bitmap_foreach_end();
}

static const char *plural(int n) {
  return n == 1 ? "" : "s";
}

/* Each slot has an equal share of the cores, so that those that k leaves over
   serve the threads that programs start. */
static void bind_cores(const struct cores *mine, int k,
                       hwloc_const_cpuset_t allowed) {
  make_sets(BIND_CORE, k, allowed);
  for (int slot = 0; slot < k; slot++) {
    for (int i = part_first(mine->n, k, slot);
         i < part_first(mine->n, k, slot + 1); i++) {
      add_core(&place.set[slot], &mine->at[i], allowed);
    }
  }
  snprintf(place.description, sizeof(place.description), "%d core%s", mine->n,
           plural(mine->n));
}

/* Numbers the nodes of cores in the order of their first core: the number of
   core i's is number[i], cores of node j are count[j]. Returns how many. */
static int number_nodes(const struct cores *cores, int *number, int *count) {
  int nodes = 0;
  for (int i = 0; i < cores->n; i++) {
    int first = 0;
    while (cores->at[first].node != cores->at[i].node) {
      first++;
    }
    number[i] = first < i ? number[first] : nodes++;
    count[number[i]]++;
  }
  return nodes;
}

/* Deals n VPs to nodes as their cores are to each other, in turns, so that VPs
   of neighbouring numbers, which run at the same time, are on different ones.
 */
static void deal(int n, int nodes, const int *count) {
  place.set_of_vp =
      need_zalloc((size_t)n, sizeof(*place.set_of_vp), "binding threads");
  int *const has = need_zalloc((size_t)nodes, sizeof(*has), "binding threads");
  for (int vp = 0; vp < n; vp++) {
    int best = 0;
    for (int i = 1; i < nodes; i++) {
      if ((int64_t)count[i] * (has[best] + 1) >
          (int64_t)count[best] * (has[i] + 1)) {
        best = i;
      }
    }
    has[best]++;
    place.set_of_vp[vp] = best;
  }
  native_free(has);
}

static void bind_nodes(const struct cores *mine, int n,
                       hwloc_const_cpuset_t allowed) {
  int *const number =
      need_zalloc((size_t)mine->n * 2, sizeof(*number), "binding threads");
  int *const count = number + mine->n;
  const int nodes = number_nodes(mine, number, count);
  make_sets(BIND_NUMA, nodes, allowed);
  for (int i = 0; i < mine->n; i++) {
    place.set[number[i]].node = mine->at[i].node;
    add_core(&place.set[number[i]], &mine->at[i], allowed);
  }
  deal(n, nodes, count);
  native_free(number);
  snprintf(place.description, sizeof(place.description), "%d NUMA node%s",
           nodes, plural(nodes));
}

/* More processes than cores: they share the nodes, not a core each. */
static struct cores whole_node(const struct cores *all, const struct core *at) {
  struct cores node = {all->at, 0};
  while (node.at->node != at->node) {
    node.at++;
  }
  while (node.at + node.n < all->at + all->n &&
         node.at[node.n].node == at->node) {
    node.n++;
  }
  return node;
}

/* --- starting ------------------------------------------------------------- */

static int too_few(const struct cores *mine, int cores, int k, int host_size,
                   struct pems_error *error) {
  const int n = cores < host_size ? 0 : mine->n;
  return failure(
      error, EINVAL,
      "--pems-bind: core: this process has %d core%s for --pems-k=%d: "
      "use %s or --pems-bind=none",
      n, plural(n), k, n ? "a smaller --pems-k" : "fewer processes");
}

int binding_start_on(hwloc_topology_t machine, hwloc_const_cpuset_t allowed,
                     int bind, int n, int k, int host_rank, int host_size,
                     struct pems_error *error) {
  forget();
  struct cores all = find_cores(machine, allowed);
  int code = 0;
  if (bind == BIND_AUTO) {
    bind = spans_nodes(&all) ? BIND_NUMA : BIND_NONE;
  }
  if (all.n == 0 && bind != BIND_NONE) {
    code = failure(error, ENODEV,
                   "--pems-bind: %s: no core was found that may be used: use "
                   "--pems-bind=none",
                   bind == BIND_CORE ? "core" : "numa");
  } else if (bind != BIND_NONE) {
    struct cores mine = part_of(&all, host_rank, host_size);
    if (bind == BIND_NUMA && all.n < host_size) {
      mine = whole_node(&all, mine.at);
    }
    if (bind == BIND_NUMA) {
      bind_nodes(&mine, n, allowed);
    } else if (mine.n < k || all.n < host_size) {
      code = too_few(&mine, all.n, k, host_size, error);
    } else {
      bind_cores(&mine, k, allowed);
    }
  }
  native_free(all.at);
  return code;
}

/* This machine's cores and nodes, and the CPUs that the calling thread may run
   on. 0, or -1 where hwloc cannot tell. */
static int look(hwloc_topology_t *machine, hwloc_bitmap_t *allowed) {
  if (hwloc_topology_init(machine)) {
    return -1;
  }
  hwloc_topology_set_all_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(*machine, HWLOC_OBJ_CORE,
                                 HWLOC_TYPE_FILTER_KEEP_ALL);
  *allowed = hwloc_bitmap_alloc();
  if (*allowed && hwloc_topology_load(*machine) == 0 &&
      hwloc_topology_is_thissystem(*machine) &&
      hwloc_get_cpubind(*machine, *allowed, HWLOC_CPUBIND_THREAD) == 0) {
    hwloc_bitmap_and(*allowed, *allowed,
                     hwloc_topology_get_allowed_cpuset(*machine));
    return 0;
  }
  hwloc_bitmap_free(*allowed);
  hwloc_topology_destroy(*machine);
  return -1;
}

int binding_start(int bind, int n, int k, int host_rank, int host_size,
                  struct pems_error *error) {
  hwloc_topology_t machine;
  hwloc_bitmap_t allowed;
  forget();
  if (bind == BIND_NONE) {
    return 0;
  }
  if (look(&machine, &allowed)) {
    return bind == BIND_AUTO ? 0
                             : failure(error, ENODEV,
                                       "--pems-bind: %s: hwloc cannot tell the "
                                       "cores of this machine: "
                                       "use --pems-bind=none",
                                       bind == BIND_CORE ? "core" : "numa");
  }
  const int code = binding_start_on(machine, allowed, bind, n, k, host_rank,
                                    host_size, error);
  hwloc_bitmap_free(allowed);
  hwloc_topology_destroy(machine);
  return code;
}

void binding_end(void) {
  forget();
}

/* The kernel's list of CPUs, hashed (FNV-1a): a mask has no length that fits
   every machine. */
int binding_color(void) {
  char line[4096];
  uint32_t hash = 2166136261u;
  FILE *const f = fopen("/proc/thread-self/status", "re");
  while (f && fgets(line, sizeof(line), f)) {
    if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
      for (const char *c = line; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
      }
    }
  }
  if (f) {
    fclose(f);
  }
  return (int)(hash & INT_MAX);
}

/* --- binding -------------------------------------------------------------- */

static int set_for(int vp, int slot) {
  return place.bind == BIND_CORE ? slot : place.set_of_vp[vp];
}

/* The CPUs were allowed at the start. They may be taken away while the job runs
   (a cgroup's cpuset): it goes on, but that costs speed. */
static void warn_once(int error) {
  static atomic_flag warned = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&warned)) {
    msg_notice("binding a thread: %s: %s: going on without", place.description,
               strerror(error));
  }
}

void binding_thread(int vp, int slot) {
  if (place.bind == BIND_NONE) {
    return;
  }
  const int set = set_for(vp, slot);
  if (bound.start == place.start && bound.set == set) {
    return;
  }
  bound.start = place.start;
  bound.set = set;
  const int error = errno;
  if (sched_setaffinity(0, place.mask_bytes, place.set[set].cpus)) {
    warn_once(errno);
  }
  errno = error;
}

int binding_node(int vp) {
  return place.bind == BIND_NUMA ? place.set[place.set_of_vp[vp]].node
                                 : NO_NODE;
}

void binding_memory(int vp, void *p, size_t n) {
  enum { MOST_NODES = 1024 }; /* as the kernel's MAX_NUMNODES */
  unsigned long nodes[MOST_NODES / WORD_BITS] = {0};
  const int node = binding_node(vp);
  if (node < 0 || node >= MOST_NODES || n == 0) {
    return;
  }
  nodes[node / WORD_BITS] |= 1ul << node % WORD_BITS;
  const int error = errno;
  /* ENOSYS without NUMA, EPERM in some containers: first touch by a bound
     thread gives the same. The kernel reads one bit less than it is told. */
  (void)syscall(SYS_mbind, p, n, MPOL_PREFERRED, nodes, MOST_NODES + 1, 0);
  errno = error;
}

/* --- telling -------------------------------------------------------------- */

const char *binding_describe(void) {
  return place.description;
}

char *binding_cpus(int vp, int slot, char *buf, size_t buf_size) {
  size_t used = 0;
  buf[0] = '\0';
  if (place.bind == BIND_NONE) {
    return buf;
  }
  const cpu_set_t *const cpus = place.set[set_for(vp, slot)].cpus;
  const int n = (int)(8 * place.mask_bytes);
  for (int i = 0; i < n && used < buf_size; i++) {
    if (!CPU_ISSET_S(i, place.mask_bytes, cpus)) {
      continue;
    }
    const int first = i;
    while (i + 1 < n && CPU_ISSET_S(i + 1, place.mask_bytes, cpus)) {
      i++;
    }
    const char *const comma = used ? "," : "";
    used += (size_t)(i == first ? snprintf(buf + used, buf_size - used, "%s%d",
                                           comma, first)
                                : snprintf(buf + used, buf_size - used,
                                           "%s%d-%d", comma, first, i));
  }
  return buf;
}
