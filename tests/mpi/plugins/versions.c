/* One name of two versions. */
int answer_old(void);
int answer_new(void);

__asm__(".symver answer_old, answer@FIRST");
__asm__(".symver answer_new, answer@@SECOND");

static int asked;

int answer_old(void) {
  return 10 + asked++;
}

int answer_new(void) {
  return 20 + asked++;
}
