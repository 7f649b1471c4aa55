/* Tables for unwinding of code that a program has made, in its memory: who
   takes a backtrace looks into its own, whatever others have told of theirs. */
#include "test.h"

#include <execinfo.h>

struct bases {
  void *text, *data, *function;
};
void __register_frame(void *begin);
void __deregister_frame(void *begin);
const void *_Unwind_Find_FDE(void *pc, struct bases *bases);

enum { CODE = 64, HERE = 0x1b /* signed 4 bytes, from where they are */ };

/* What stands for machine code, and its table in the form of .eh_frame. */
struct made {
  char code[CODE];
  unsigned char table[128];
};

static unsigned char *append(unsigned char *p, const void *bytes, size_t n) {
  memcpy(p, bytes, n);
  return p + n;
}

static unsigned char *append_word(unsigned char *p, uint32_t word) {
  return append(p, &word, sizeof(word));
}

static struct made *make(unsigned char encoding) {
  const unsigned char common[16] = {0, 0,    0,  0, 1,        'z', 'R', 0,
                                    1, 0x78, 16, 1, encoding, 0xc, 7,   8};
  struct made *const m = malloc(sizeof(*m));
  unsigned char *p = append(append_word(m->table, 16), common, sizeof(common));
  const bool here = encoding == HERE;
  const uint32_t length = 4 + (here ? 8 : 16) + 4;
  p = append_word(p, length);
  p = append_word(p, (uint32_t)(p - m->table));
  if (here) {
    p = append_word(p, (uint32_t)(m->code - (char *)p));
    p = append_word(p, CODE);
  } else {
    const uint64_t range[2] = {(uintptr_t)m->code, CODE};
    p = append(p, range, sizeof(range));
  }
  append_word(append_word(p, 0), 0);
  return m;
}

static int is_found(struct made *m, int at) {
  struct bases b = {0};
  return _Unwind_Find_FDE(m->code + at, &b) != NULL && b.function == m->code;
}

static void look(const char *when, struct made *const m[2]) {
  void *frames[32];
  const int n = backtrace(frames, 32);
  printf("rank %d, %s: backtrace %d, found", rank, when, n > 1);
  for (int i = 0; i < 2; i++) {
    printf(" %d %d %d", is_found(m[i], 0), is_found(m[i], CODE - 1),
           is_found(m[i], CODE));
  }
  printf("\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  struct made *const m[2] = {make(0), make(HERE)};
  look("before", m);
  for (int i = 0; i < 2; i++) {
    __register_frame(m[i]->table);
  }
  for (int i = 0; i < 3; i++) {
    look("told", m);
  }
  __deregister_frame(m[0]->table);
  look("one is not told any more", m);
  __register_frame(m[0]->table);
  look("it is again", m);
  /* Some end without having taken it back. */
  if (rank % 2) {
    for (int i = 0; i < 2; i++) {
      __deregister_frame(m[i]->table);
      free(m[i]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return end();
}
