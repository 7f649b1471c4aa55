/* Buffers that a program hands to stdio would be in its context, and libc
   writes what is left in them when the process ends and the context is gone:
   give libc memory of the same size outside it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

int _IO_setvbuf(FILE *f, char *buffer, int mode, size_t size);

/* The memory is not freed: libc does not tell when it is done with it. */
int setvbuf(FILE *f, char *buffer, int mode, size_t size) {
  if (buffer != NULL && mode != _IONBF && size > 0) {
    void *outside = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    buffer = outside == MAP_FAILED ? NULL : outside;
  }
  return _IO_setvbuf(f, buffer, mode, size);
}

void setbuffer(FILE *f, char *buffer, size_t size) {
  setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, size);
}

void setbuf(FILE *f, char *buffer) {
  setbuffer(f, buffer, BUFSIZ);
}
