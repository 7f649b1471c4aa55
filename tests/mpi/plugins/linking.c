/* What only ld.so can settle: functions that are chosen at run time, and where
   thread-local data lies, in the way that the compiler was told. */
#ifdef INITIAL_EXEC
#define THREAD __thread __attribute__((tls_model("initial-exec")))
#else
#define THREAD __thread
#endif

THREAD int linking_value = 6;
static THREAD int hidden = 7;
static THREAD int zero[10];

static int state = 1;
static THREAD int *volatile place[2] = {&state, &state};

static int twice(int n) {
  return 2 * n + state++;
}

static int thrice(int n) {
  return 3 * n + state++;
}

int linking_chosen(int n) __attribute__((ifunc("choose")));
static int hidden_chosen(int n) __attribute__((ifunc("choose_hidden")));

static int (*choose(void))(int) {
  return thrice;
}

static int (*choose_hidden(void))(int) {
  return twice;
}

static int (*const pointers[])(int) = {linking_chosen, hidden_chosen};

void linking_step(int by, int to[7]) {
  linking_value += by;
  hidden += by;
  zero[by % 10] += by;
  to[0] = linking_value;
  to[1] = hidden;
  to[2] = zero[by % 10];
  to[3] = linking_chosen(by);
  to[4] = hidden_chosen(by);
  to[5] = pointers[0](by) + pointers[1](by);
  to[6] = place[0] == &state && place[1] == &state;
}
