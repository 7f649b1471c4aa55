/* Has the system refuse a call to this process and its children, as a container
   does: by a filter that cannot be taken back. */
#ifndef TESTS_CHECK_REFUSE_H
#define TESTS_CHECK_REFUSE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/* By the code; 0, or -1 and errno. */
static inline int check_refuse(long call, int code) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                 prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
             ? -1
             : 0;
}

#endif
