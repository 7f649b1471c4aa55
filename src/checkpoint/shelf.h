/* A directory of checkpoints: "checkpoint-000012", each a folder, and the one
   that is being written, under another name until it is complete. */
#ifndef PEMS_CHECKPOINT_SHELF_H
#define PEMS_CHECKPOINT_SHELF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <pems/status.h>

#include "checkpoint/manifest.h"

struct shelf {
  char dir[PATH_MAX]; /* absolute */
  int lock;           /* descriptor, or -1: another process has it */
};

/* All return 0, or an errno value with *error filled in. */

/* For one job. With `owns` the directory is made if it is not there, no other
   job may write there until shelf_close, and what a killed one has left half
   done is removed: the job's first process, before others open it. */
int shelf_open(struct shelf *s, const char *dir, bool owns,
               struct pems_error *error);
void shelf_close(struct shelf *s);
/* A number that is another one for each job, and the same for all its processes
   if their directory is the same; once one of them owns it. */
uint64_t shelf_owner(const struct shelf *s);
/* Does no job write to the directory in which the folder of a checkpoint is?
   Else EBUSY. `patient`: one that was killed has two seconds to be gone. */
int shelf_is_free(const char *folder, bool patient, struct pems_error *error);

/* The number of the newest that is complete, or 0. */
uint64_t shelf_newest(const struct shelf *s);
/* The folder of a checkpoint that begins; some processes may make the same. */
int shelf_begin(const struct shelf *s, uint64_t sequence, char path[PATH_MAX],
                struct pems_error *error);
/* It is complete: from now on it is there, whatever happens, and of others the
   newest `keep` - 1. */
int shelf_commit(const struct shelf *s, uint64_t sequence, int keep,
                 struct pems_error *error);
/* It will not be complete. */
void shelf_abandon(const struct shelf *s, uint64_t sequence);

/* The newest in a directory, or the directory itself if it is one. */
int shelf_find(const char *dir, char path[PATH_MAX], struct pems_error *error);
/* Files in the folder of a checkpoint. */
void shelf_rank(const char *folder, int rank, char path[PATH_MAX]);
/* Of a process: the sizes of files. */
void shelf_files(const char *folder, int process, char path[PATH_MAX]);
int shelf_manifest(const char *folder, struct manifest *m,
                   struct pems_error *error);
/* A small one: it is on disk then. And its bytes, with '\0' behind, if they are
   those of the sum, to be freed; else NULL. */
int shelf_put(const char *folder, const char *file, const char *bytes, size_t n,
              struct pems_error *error);
int shelf_get(const char *folder, const char *file,
              const struct checkpoint_sum *sum, char **bytes,
              struct pems_error *error);
/* Are all files there, with their sizes? */
int shelf_look(const char *folder, const struct manifest *m,
               struct pems_error *error);

#endif
