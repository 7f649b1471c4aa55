/* LD_PRELOAD library: large blocks of malloc in files mapped into memory, so
   that the kernel writes them there when memory is short. What a program gets
   whose author replaces malloc by mmap of a file.

   IN_FILE_DIR  directory for the files, which have no names (/var/tmp)
   IN_FILE_MIN  size from which a block is in a file, in bytes (1 MiB)

   glibc only: it reaches the original functions by their __libc_ names, which
   work before dlsym does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

enum { PAGE = 4096, BLOCKS_MAX = 4096 };

struct block {
  void *start; /* NULL: not used */
  size_t size; /* of the mapping, in bytes */
};

static struct block blocks[BLOCKS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_large(size_t size) {
  static size_t min; /* every thread finds the same */
  if (min == 0) {
    const char *const text = getenv("IN_FILE_MIN");
    min = text != NULL ? strtoull(text, NULL, 10) : 1 << 20;
  }
  return size >= min && size <= SIZE_MAX - PAGE;
}

/* Its start is in the table or was put there. NULL if there is no room. */
static struct block *find(const void *start) {
  for (int i = 0; i < BLOCKS_MAX; i++) {
    if (blocks[i].start == start) {
      return &blocks[i];
    }
  }
  return NULL;
}

/* Maps a new file, or returns NULL. */
static void *map(size_t size) {
  const char *const directory = getenv("IN_FILE_DIR");
  const int fd = open(directory != NULL ? directory : "/var/tmp",
                      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    return NULL;
  }
  void *p = MAP_FAILED;
  if (ftruncate(fd, (off_t)size) == 0) {
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  return p == MAP_FAILED ? NULL : p;
}

/* A zeroed block in a file, or NULL with errno set. */
static void *allocate(size_t size) {
  size = (size + PAGE - 1) / PAGE * PAGE;
  void *const p = map(size);
  if (p == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  pthread_mutex_lock(&lock);
  struct block *const block = find(NULL);
  if (block != NULL) {
    *block = (struct block){p, size};
  }
  pthread_mutex_unlock(&lock);
  if (block == NULL) {
    munmap(p, size);
    errno = ENOMEM;
    return NULL;
  }
  return p;
}

/* The size of the block in a file that starts at p, or 0 if there is none;
   `forget` takes it out of the table. */
static size_t size_in_file(const void *p, bool forget) {
  if (p == NULL || (uintptr_t)p % PAGE != 0) {
    return 0; /* malloc's own blocks have a header, so most end here */
  }
  pthread_mutex_lock(&lock);
  struct block *const block = find(p);
  const size_t size = block != NULL ? block->size : 0;
  if (block != NULL && forget) {
    block->start = NULL;
  }
  pthread_mutex_unlock(&lock);
  return size;
}

void *malloc(size_t size) {
  return is_large(size) ? allocate(size) : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || !is_large(bytes)) {
    return __libc_calloc(n, size);
  }
  return allocate(bytes);
}

void free(void *p) {
  const size_t size = size_in_file(p, true);
  if (size > 0) {
    munmap(p, size);
  } else {
    __libc_free(p);
  }
}

/* A block that is in a file or is to be there moves by a copy, unless it only
   shrinks. */
void *realloc(void *p, size_t size) {
  const size_t old = size_in_file(p, false);
  if (old == 0 && !is_large(size)) {
    return __libc_realloc(p, size);
  }
  if (old >= size && size > 0) {
    return p;
  }
  void *const moved = malloc(size);
  if (moved != NULL && p != NULL) {
    const size_t there = old > 0 ? old : malloc_usable_size(p);
    memcpy(moved, p, there < size ? there : size);
    free(p);
  }
  return moved;
}
