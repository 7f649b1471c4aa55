/* For tests that kill jobs: time, and the processes that a job has started. */
#ifndef PEMS_TESTS_FAULT_REAPER_H
#define PEMS_TESTS_FAULT_REAPER_H

#include <dirent.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void pause_us(long us) {
  nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* The children of all threads of `pid`, and theirs, added to at[n]. */
static inline int add_descendants(pid_t pid, pid_t *at, int n, int most) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
  DIR *const d = opendir(path);
  if (!d) {
    return n;
  }
  for (const struct dirent *e; (e = readdir(d));) {
    char list[400];
    snprintf(list, sizeof(list), "%s/%s/children", path, e->d_name);
    FILE *const f = e->d_name[0] == '.' ? NULL : fopen(list, "re");
    for (int child; f && n < most && fscanf(f, "%d", &child) == 1;) {
      at[n++] = child;
      n = add_descendants(child, at, n, most);
    }
    if (f) {
      fclose(f);
    }
  }
  closedir(d);
  return n;
}

#endif
