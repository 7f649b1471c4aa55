#define _GNU_SOURCE
#include "mpi/object/naming.h"

#include "base/source.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void name_comm(struct text *t, const struct comm *comm) {
  const struct rank *rank = comm->vp->mpi;
  if (comm == rank->world || comm == rank->self) {
    text_add(t, "MPI_COMM_%s", comm == rank->world ? "WORLD" : "SELF");
  } else if (comm->name[0]) {
    text_add(t, "%s", comm->name);
  } else {
    text_add(t, "the communicator of %s",
             comm->function ? comm->function : "MPI");
    name_site(t, comm->vp, comm->site);
  }
}

/* --- places in the program --- */

enum { CACHED = 32, LENGTH = 120 };

/* Ranks call from the same few places. */
static struct {
  struct lock lock;
  int n;
  struct {
    uint64_t site;
    char text[LENGTH];
  } entry[CACHED];
} cache = {.lock = LOCK_INITIALIZER(LOCK_NAMING)};

static const char *look_up(uint64_t site) {
  char program[32];
  for (int i = 0; i < cache.n; i++) {
    if (cache.entry[i].site == site) {
      return cache.entry[i].text;
    }
  }
  const int i = cache.n < CACHED ? cache.n++ : CACHED - 1;
  snprintf(program, sizeof(program), "/proc/%ld/exe", (long)getpid());
  cache.entry[i].site = site;
  /* What is known is where the call returns to. */
  return source_line(program, site - 1, cache.entry[i].text, LENGTH);
}

uint64_t name_site_of_all(const struct vp *vp, const void *site) {
  if (!vp->context) {
    return 0;
  }
  const struct image *image = &vp->context->image;
  return (uintptr_t)site - (uintptr_t)image->text < image->text_len
             ? (uintptr_t)site - (uintptr_t)image->base
             : 0;
}

void name_site_everywhere(struct text *t, uint64_t site) {
  if (site) {
    lock_take(&cache.lock);
    text_add(t, " at %s", look_up(site));
    lock_give(&cache.lock);
  }
}

/* The shared library's name without its folder, or NULL. */
static const char *library_of(const void *site, Dl_info *info) {
  if (!dladdr((const char *)site - 1, info) || !info->dli_fname) {
    return NULL;
  }
  const char *name = strrchr(info->dli_fname, '/');
  return name ? name + 1 : info->dli_fname;
}

static void name_elsewhere(struct text *t, const void *site) {
  Dl_info info;
  char line[LENGTH];
  const char *const name = library_of(site, &info);
  if (!name) {
    return;
  }
  source_line(info.dli_fname, (uintptr_t)site - 1 - (uintptr_t)info.dli_fbase,
              line, sizeof(line));
  text_add(t, " at %s in %s", line, name);
}

bool name_fortran(const void *site, const char **library) {
  static const char *const names[] = {"libmpi_mpifh.", "libmpi_usempi",
                                      "libmpifort", "libmpichfort"};
  Dl_info info;
  *library = library_of(site, &info);
  for (size_t i = 0; *library && i < sizeof(names) / sizeof(*names); i++) {
    if (strncmp(*library, names[i], strlen(names[i])) == 0) {
      return true;
    }
  }
  return false;
}

void name_site(struct text *t, const struct vp *vp, const void *site) {
  const uint64_t everywhere = site ? name_site_of_all(vp, site) : 0;
  if (everywhere) {
    name_site_everywhere(t, everywhere);
  } else if (site) {
    name_elsewhere(t, site);
  }
}

/* --- functions --- */

static const char *const functions[] = {
#define MPI_FUNCTION(name, refused) #name,
#include "mpi_abi/refused.h"
#include "os/lock.h"
#undef MPI_FUNCTION
    "MPI_Bcast of a large message",
};

uint32_t name_hash(const char *function) {
  uint32_t hash = 2166136261;
  for (; *function; function++) {
    hash = (hash ^ (unsigned char)*function) * 16777619;
  }
  return hash;
}

const char *name_of_hash(uint32_t hash) {
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
    if (name_hash(functions[i]) == hash) {
      return functions[i];
    }
  }
  return NULL;
}

void name_give(const char *is, char *name, int *length) {
  *length = (int)strlen(is);
  memcpy(name, is, (size_t)*length + 1);
}
