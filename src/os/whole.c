#define _GNU_SOURCE
#include "os/whole.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

/* After a call that returned n: adds what it has moved. 0, or why no other call
   can follow: an errno value. */
static int add(ssize_t n, size_t *done) {
  if (n > 0) {
    *done += (size_t)n;
    return 0;
  }
  return n == 0 ? EIO : errno == EINTR ? 0 : errno;
}

int whole_read_at(int fd, void *to, size_t n, uint64_t at) {
  int error = 0;
  for (size_t done = 0; done < n && !error;) {
    error =
        add(pread(fd, (char *)to + done, n - done, (off_t)(at + done)), &done);
  }
  return error;
}

int whole_write_at(int fd, const void *from, size_t n, uint64_t at) {
  int error = 0;
  for (size_t done = 0; done < n && !error;) {
    error =
        add(pwrite(fd, (const char *)from + done, n - done, (off_t)(at + done)),
            &done);
  }
  return error;
}

int whole_write(int fd, const void *from, size_t n) {
  int error = 0;
  for (size_t done = 0; done < n && !error;) {
    error = add(write(fd, (const char *)from + done, n - done), &done);
  }
  return error;
}
