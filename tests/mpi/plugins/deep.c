/* A plug-in with a variable of the program's name. */
int program_value = 77;

int *deep_value(void) {
  return &program_value;
}
