/* Each line that a rank prints begins with its rank, as mpirun --tag-output has
   it for processes: "[1,3]<stdout>:". */
#ifndef PEMS_INTERPOSE_TAG_H
#define PEMS_INTERPOSE_TAG_H

/* From here on. To be called before the first rank starts. Returns 0, or -1
   where there is no memory. */
int tag_start(void);

#endif
