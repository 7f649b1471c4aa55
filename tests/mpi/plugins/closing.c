/* A plug-in whose end the program sees. */
extern int program_value;
extern int base_value;

static int opened;

__attribute__((constructor)) static void begin(void) {
  opened++;
  program_value += 10000;
}

__attribute__((destructor)) static void end(void) {
  program_value += 100000 * base_value;
}

int closing_opened(void) {
  return opened++;
}
