#include "tasks/domain.h"

#include <hwloc.h>

#include "os/native.h"

struct task_domains {
  hwloc_topology_t topology;
  int loaded;
  int count;
  hwloc_bitmap_t *cpus; /* count of them, where loaded */
};

/* The cores of each domain that has some for us. */
static int list_domains(struct task_domains *d) {
  const int nodes = hwloc_get_nbobjs_by_type(d->topology, HWLOC_OBJ_NUMANODE);
  const int most = nodes > 0 ? nodes : 1;
  hwloc_bitmap_t mine = hwloc_bitmap_alloc();
  d->cpus = native_zalloc((size_t)most, sizeof(*d->cpus));
  if (!mine || !d->cpus) {
    hwloc_bitmap_free(mine);
    return -1;
  }
  if (hwloc_get_cpubind(d->topology, mine, HWLOC_CPUBIND_PROCESS)) {
    hwloc_bitmap_copy(mine, hwloc_topology_get_allowed_cpuset(d->topology));
  }
  for (int i = 0; i < nodes; i++) {
    const hwloc_obj_t node =
        hwloc_get_obj_by_type(d->topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (cpus) {
      hwloc_bitmap_and(cpus, node->cpuset, mine);
    }
    if (cpus && !hwloc_bitmap_iszero(cpus)) {
      d->cpus[d->count++] = cpus;
    } else {
      hwloc_bitmap_free(cpus);
    }
  }
  hwloc_bitmap_free(mine);
  return 0;
}

struct task_domains *task_domains_find(int asked) {
  struct task_domains *d = native_zalloc(1, sizeof(*d));
  if (!d) {
    return NULL;
  }
  if (!asked) {
    if (hwloc_topology_init(&d->topology)) {
      native_free(d);
      return NULL;
    }
    d->loaded = 1;
    if (hwloc_topology_load(d->topology) || list_domains(d)) {
      task_domains_free(d);
      return NULL;
    }
  }
  if (asked || !d->count) {
    d->count = asked ? asked : 1;
  }
  return d;
}

void task_domains_free(struct task_domains *d) {
  if (!d) {
    return;
  }
  if (d->loaded) {
    for (int i = 0; d->cpus && i < d->count; i++) {
      hwloc_bitmap_free(d->cpus[i]);
    }
    hwloc_topology_destroy(d->topology);
  }
  native_free(d->cpus);
  native_free(d);
}

int task_domains_count(const struct task_domains *d) {
  return d->count;
}

int task_domains_of(const struct task_domains *d, int t, int n) {
  return (int)((long)t * d->count / n);
}

void task_domains_bind(const struct task_domains *d, int domain) {
  if (d->loaded && d->count > 1) {
    hwloc_set_cpubind(d->topology, d->cpus[domain], HWLOC_CPUBIND_THREAD);
  }
}
