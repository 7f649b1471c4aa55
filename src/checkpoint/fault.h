/* For tests: what can go wrong while a checkpoint is written. */
#ifndef PEMS_CHECKPOINT_FAULT_H
#define PEMS_CHECKPOINT_FAULT_H

/* Called before each change of a file or folder of a checkpoint. 0, unless
   PEMS_TEST_CHECKPOINT says "eio:N" and this is the N-th call of the process:
   then EIO, and the caller leaves the change out. With "kill:N" the process is
   killed instead. Thread-safe. */
int checkpoint_fault(void);

#endif
