/* Which of the files that ld.so has mapped holds an address. */
#ifndef PEMS_OS_OBJECT_H
#define PEMS_OS_OBJECT_H

/* Where that program or library begins in memory, or NULL if none holds the
   address. With thousands of libraries loaded it is found as fast as with few
   (glibc 2.35 and later; before that ld.so goes through all of them). */
const void *object_start(const void *address);

#endif
