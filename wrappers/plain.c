#define _GNU_SOURCE
#include "config.h"

#include "wrappers/plain.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 64, MOST = 256 }; /* processes */

struct found {
  pid_t at[MOST];
  int n;
};

static bool is_mpi(const char *mapping) {
  static const char *const names[] = {"/libmpi.so", "/libmpich.so",
                                      "/libmpi_abi.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strstr(mapping, names[i])) {
      return true;
    }
  }
  return false;
}

static bool is_plain(pid_t pid) {
  char path[PATH], mapping[PATH_MAX + 128];
  bool mpi = false, pems = false;
  snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
  FILE *const f = fopen(path, "re");
  while (f && fgets(mapping, sizeof(mapping), f)) {
    mpi |= is_mpi(mapping);
    pems |= strstr(mapping, "/libpems") != NULL;
  }
  if (f) {
    fclose(f);
  }
  return mpi && !pems;
}

static void add_children_of_thread(struct found *to, pid_t pid,
                                   const char *thread) {
  char path[PATH + NAME_MAX];
  long child;
  snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)pid, thread);
  FILE *const f = fopen(path, "re");
  while (f && to->n < MOST && fscanf(f, "%ld", &child) == 1) {
    to->at[to->n++] = (pid_t)child;
  }
  if (f) {
    fclose(f);
  }
}

static void add_children(struct found *to, pid_t pid) {
  char path[PATH];
  snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
  DIR *const threads = opendir(path);
  for (struct dirent *e; threads && (e = readdir(threads));) {
    if (e->d_name[0] != '.') {
      add_children_of_thread(to, pid, e->d_name);
    }
  }
  if (threads) {
    closedir(threads);
  }
}

bool plain_find(pid_t top, char *program, size_t size) {
  struct found all = {.at = {top}, .n = 1};
  char path[PATH];
  for (int i = 0; i < all.n; i++) {
    if (is_plain(all.at[i])) {
      snprintf(path, sizeof(path), "/proc/%ld/exe", (long)all.at[i]);
      const ssize_t n = readlink(path, program, size - 1);
      program[n > 0 ? n : 0] = '\0';
      return n > 0;
    }
    add_children(&all, all.at[i]);
  }
  return false;
}
