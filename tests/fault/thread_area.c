/* Large thread-local data, for tests/fault/thread_steps.c: part of the program,
   of a library that it is linked with, or of one that it opens. */
static __thread unsigned char own[8 << 20];

unsigned char *thread_area(void) {
  return own;
}
