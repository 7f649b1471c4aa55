/* What the ranks that opened a file together share: its shared pointer, and the
   lock that makes accesses atomic. The process of rank 0, the owner, keeps
   them; others ask it by messages (AM_FILE). */
#ifndef PEMS_MPI_IO_FILE_OWNER_H
#define PEMS_MPI_IO_FILE_OWNER_H

#include "checkpoint/stream.h"
#include "mpi/io/file.h"

/* Before am_start. */
void file_owner_start(void);

/* By rank 0, before the others know of the file and when they have done with
   it: `position` is where the shared pointer of the first view starts. */
void file_owner_begin(struct file *file, MPI_Offset position);
void file_owner_end(struct file *file);

/* By rank 0, or on any thread when all ranks have stopped: its shared pointers
   in a checkpoint. In another process, in the place of file_owner_begin. */
void file_owner_save(const struct file *file, struct checkpoint_writer *to);
void file_owner_load(const struct file *file, struct checkpoint_reader *from);

/* Moves the shared pointer of the present view on by n etypes, and returns
   where it was. Each view has its own, which starts at 0: so a rank that sets
   the next one waits for nobody. */
MPI_Offset file_pointer_take(struct file *file, MPI_Offset n,
                             const char *function);
/* By rank 0, while nobody else uses it. */
void file_pointer_set(struct file *file, MPI_Offset position,
                      const char *function);

/* One access at a time, in the order in which they asked. */
void file_lock(struct file *file, const char *function);
void file_unlock(struct file *file);

#endif
