/* A program with every kind of variable that C has. */
#include "image_test.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int initialised = 7;
static int *relocated = &initialised;
static int zero;
static int filled[FILLED] = {1};
static char big[BIG];
static _Thread_local int tls = 5;
static char order[32];
static struct globals *facts;
static int passed_argc;
static char **passed_envp;
static char *from_heap;

static void note(char c) {
  order[strlen(order)] = c;
}

static int count(void) {
  static int calls;
  return ++calls;
}

static int *tls_address(void) {
  return &tls;
}

static void handler_x(void) {
  note('x');
}

static void handler_y(void) {
  note('y');
  if (facts->leave) {
    pthread_exit(NULL);
  }
}

static void handler_z(void) {
  note('z');
}

__attribute__((constructor(101))) static void first(int argc, char **argv,
                                                    char **envp) {
  (void)argv;
  passed_argc = argc;
  passed_envp = envp;
  from_heap = strdup("a");
  atexit(handler_x);
  note('a');
}

__attribute__((constructor(102))) static void second(void) {
  for (int i = 0; i < FILLED; i++) {
    filled[i] = i;
  }
  note((char)(from_heap[0] + 1));
}

__attribute__((destructor(102))) static void last_but_one(void) {
  static const char wrong[] = "a destructor without constructors\n";
  if (order[0] != 'a' && write(1, wrong, sizeof(wrong) - 1) < 0) {
    _exit(1);
  }
  note('Y');
}

__attribute__((destructor(101))) static void last(void) {
  free(from_heap);
  note('Z');
}

int main(int argc, char **argv) {
  if (argc != 2) {
    return 1;
  }
  facts = (struct globals *)(uintptr_t)argv[1];
  facts->initialised = &initialised;
  facts->relocated = &relocated;
  facts->zero = &zero;
  facts->filled = filled;
  facts->big = big;
  facts->count = count;
  facts->tls = tls_address;
  facts->order = order;
  facts->constructor_argc = passed_argc;
  facts->constructor_envp = passed_envp;
  atexit(handler_y);
  atexit(handler_z);
  note('m');
  return MAIN_RETURNS;
}
