#define _GNU_SOURCE
#include "mpi_below/session.h"

#include "os/folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool starts_with(const char *name, const char *const *starts) {
  while (*starts && strncmp(name, *starts, strlen(*starts)) != 0) {
    starts++;
  }
  return *starts;
}

static const char *const tops[] = {"/ompi.", "/prte.", "/prted.", NULL};

static bool is_of_mpirun(const char *last) {
  const char *const number =
      starts_with(last, tops) ? strchr(last, '.') + 1 : "";
  return *number && number[strspn(number, "0123456789")] == '\0';
}

void session_remove(const char *directory) {
  static const char *const jobs[] = {"/jf.", "/pid.", "/dvm.", NULL};
  char top[PATH_MAX];
  if (snprintf(top, sizeof(top), "%s", directory) >= (int)sizeof(top)) {
    return;
  }
  char *const last = strrchr(top, '/');
  if (last && is_of_mpirun(last)) {
    folder_remove(directory);
    return;
  }
  if (!last || !starts_with(last, jobs)) {
    return;
  }
  *last = '\0';
  const char *const above = strrchr(top, '/');
  if (!above || !starts_with(above, tops)) {
    return;
  }
  folder_remove(directory);
  rmdir(top);
}

static bool is_in(const char *list, const char *path) {
  char line[PATH_MAX + 128];
  bool found = false;
  FILE *const f = fopen(list, "re");
  while (f && !found && fgets(line, sizeof(line), f)) {
    found = strstr(line, path);
  }
  if (f) {
    fclose(f);
  }
  return found;
}

static bool is_mapped(const char *path) {
  char list[64];
  bool found = false;
  DIR *const d = opendir("/proc");
  for (const struct dirent *e; d && !found && (e = readdir(d));) {
    if (e->d_name[0] < '0' || e->d_name[0] > '9') {
      continue;
    }
    snprintf(list, sizeof(list), "/proc/%.20s/maps", e->d_name);
    found = is_in(list, path);
  }
  if (d) {
    closedir(d);
  }
  return found;
}

/* Their names are vader_segment.HOST.UID.JOB.RANK. */
void session_remove_memory(unsigned long job) {
  static const char directory[] = "/dev/shm", start[] = "vader_segment.";
  char part[64], path[PATH_MAX];
  snprintf(part, sizeof(part), ".%lu.%lx.", (unsigned long)geteuid(), job);
  DIR *const d = opendir(directory);
  if (!d) {
    return;
  }
  for (const struct dirent *e; (e = readdir(d));) {
    if (strncmp(e->d_name, start, sizeof(start) - 1) == 0 &&
        strstr(e->d_name, part)) {
      snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
      if (!is_mapped(path)) {
        unlink(path);
      }
    }
  }
  closedir(d);
}

/* Among them files that MPICH 4 has while its processes find each other, and
   UCX's, which have names for a moment. */
static const char *const segments[] = {
    "/dev/shm/sm_segment.", "/dev/shm/mpich_", "/dev/shm/ucx_shm_posix_", NULL};

bool session_is_segment(const char *path) {
  return starts_with(path, segments);
}

void session_remove_segment(const char *path) {
  if (session_is_segment(path) && !is_mapped(path)) {
    unlink(path);
  }
}

void session_each_segment(void (*f)(const char *path)) {
  char line[PATH_MAX + 128];
  FILE *const maps = fopen("/proc/self/maps", "re");
  while (maps && fgets(line, sizeof(line), maps)) {
    line[strcspn(line, "\n")] = '\0';
    const char *const path = strchr(line, '/');
    if (path && session_is_segment(path) && access(path, F_OK) == 0) {
      f(path);
    }
  }
  if (maps) {
    fclose(maps);
  }
}
