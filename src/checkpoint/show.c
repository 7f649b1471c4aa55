#include "checkpoint/show.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "checkpoint/shelf.h"
#include "config/size.h"

static void print_when(uint64_t seconds) {
  char text[64];
  const time_t when = (time_t)seconds;
  struct tm parts;
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&when, &parts));
  printf("%-10s %s\n", "taken", text);
}

static void print(const char *folder, const struct manifest *m) {
  uint64_t bytes = 0;
  char size[16];
  for (int r = 0; r < m->v; r++) {
    bytes += m->rank[r].bytes;
  }
  printf("%-10s %s\n", "checkpoint", folder);
  printf("%-10s", "program");
  for (int i = 0; i < m->arguments; i++) {
    printf(" %s", i ? m->argument[i] : m->program);
  }
  printf("\n%-10s %s, in %s\n", "started", m->hosts, m->directory);
  print_when(m->time);
  printf("%-10s %llu\n", "superstep", (unsigned long long)m->superstep);
  printf("%-10s %d\n", "ranks", m->v);
  printf("%-10s ", "with");
  if (m->messages) {
    printf("messages, requests or windows of %llu ranks\n",
           (unsigned long long)m->messages);
  } else {
    printf("no messages\n");
  }
  printf("%-10s %s\n", "size", size_format(bytes, size, sizeof(size)));
}

static int verify(const char *folder, const struct manifest *m,
                  struct pems_error *error) {
  char path[PATH_MAX], *identity;
  int code = shelf_get(folder, "identity", &m->identity, &identity, error);
  if (!code) {
    free(identity);
  }
  for (int r = 0; r < m->v && !code; r++) {
    shelf_rank(folder, r, path);
    code = checkpoint_verify(path, &m->rank[r], error);
  }
  shelf_files(folder, 0, path);
  for (int i = 1; !code && access(path, F_OK) == 0; i++) {
    code = checkpoint_verify(path, NULL, error);
    shelf_files(folder, i, path);
  }
  return code;
}

int checkpoint_show(const char *dir) {
  char folder[PATH_MAX];
  struct manifest m = {0};
  struct pems_error error;
  if (shelf_find(dir, folder, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (shelf_manifest(folder, &m, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  print(folder, &m);
  fflush(stdout);
  if (verify(folder, &m, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  puts("sound      all sums are right");
  manifest_free(&m);
  return fflush(stdout) ? MSG_FAILED : 0;
}
