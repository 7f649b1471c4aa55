#include "os/standard.h"

#include <fcntl.h>
#include <unistd.h>

void standard_occupy(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) {
      continue;
    }
    /* The lowest that is free: this one. */
    const int opened =
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    (void)opened; /* it stays closed, then */
  }
}
