/* refusing CALL CODE COMMAND...: runs a command to which the system refuses a
   call, by number, as a container does. */
#include "../unit/check_refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char *name;
  long number;
} calls[] = {{"fallocate", SYS_fallocate},
             {"memfd_create", SYS_memfd_create},
             {"mremap", SYS_mremap},
             {"process_vm_readv", SYS_process_vm_readv}};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 3 && i < sizeof(calls) / sizeof(*calls); i++) {
    if (strcmp(argv[1], calls[i].name) == 0 &&
        check_refuse(calls[i].number, atoi(argv[2])) == 0) {
      execvp(argv[3], argv + 3);
    }
  }
  perror("refusing");
  return 77;
}
