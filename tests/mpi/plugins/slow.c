/* A plug-in whose constructor takes a while. */
#include <unistd.h>

int slow_ready;

__attribute__((constructor)) static void begin(void) {
  usleep(300000);
  slow_ready = 1;
}
