/* Functions that are chosen while the library is loaded. */
#include "counter.h"

/* So much code behind it that no page of it is another segment's, too. */
__asm__(".text 1\n.space 40000\n.text 0\n");

static int state = 1;

static int thrice(int n) {
  return 3 * n + state++;
}

static int (*choose(void))(int) {
  return thrice;
}

int chooser_thrice(int n) __attribute__((ifunc("choose")));
static int hidden_thrice(int n) __attribute__((ifunc("choose")));
static int (*const pointer)(int) = hidden_thrice;

int chooser_call(int n) {
  return chooser_thrice(n) + hidden_thrice(n) + pointer(n);
}
