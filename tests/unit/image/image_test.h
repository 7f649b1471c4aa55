/* What the test programs show the tests that load copies of them: main gets
   the address of a struct as argv[1], fills it and returns MAIN_RETURNS. */
#ifndef TESTS_UNIT_IMAGE_IMAGE_TEST_H
#define TESTS_UNIT_IMAGE_IMAGE_TEST_H

#include <getopt.h>
#include <search.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <wchar.h>

/* BIG is more than a test's program has, whose place copies take, and so little
   that ld.so, less than 64 MiB behind it under valgrind, lies past the end. */
enum { MAIN_RETURNS = 42, BIG = 16 << 20, FILLED = 100000 };

/* globals.c */
struct globals {
  int *initialised;        /* 7 at start */
  int **relocated;         /* &initialised at start */
  int *zero;               /* 0 at start */
  int *filled;             /* FILLED ints, filled[i] == i, at start */
  char *big;               /* BIG zero bytes at start */
  int (*count)(void);      /* 1, 2, 3, ... from a function's static */
  int *(*tls)(void);       /* the calling thread's variable, 5 at start */
  char *order;             /* a letter per constructor and handler run */
  int leave;               /* set by the test: handler 'y' leaves its thread */
  int constructor_argc;    /* what a constructor was passed */
  char **constructor_envp; /* likewise */
};

/* objects.cc */
struct objects {
  int constructed;      /* static objects alive */
  int *inline_variable; /* 11 at start */
  int *template_static; /* 12 at start */
  const char *text;     /* of a static std::string on the heap */
  int caught;           /* value of an exception thrown and caught */
  int *destroyed;       /* outside the copy: counts destructors */
};

/* private.c: the replacements that are linked into it. */
struct private {
  int (*rand)(void);
  void (*srand)(unsigned);
  long (*random)(void);
  void (*srandom)(unsigned);
  char *(*initstate)(unsigned, char *, size_t);
  char *(*setstate)(char *);
  double (*drand48)(void);
  double (*erand48)(unsigned short *);
  long (*lrand48)(void);
  long (*nrand48)(unsigned short *);
  long (*mrand48)(void);
  long (*jrand48)(unsigned short *);
  void (*srand48)(long);
  unsigned short *(*seed48)(unsigned short *);
  void (*lcong48)(unsigned short *);
  char *(*strtok)(char *, const char *);
  int (*hcreate)(size_t);
  ENTRY *(*hsearch)(ENTRY, ACTION);
  void (*hdestroy)(void);
  struct tm *(*localtime)(const time_t *);
  struct tm *(*gmtime)(const time_t *);
  char *(*asctime)(const struct tm *);
  char *(*ctime)(const time_t *);
  int (*getopt)(int, char *const *, const char *);
  int (*posix_getopt)(int, char *const *, const char *);
  int (*getopt_long)(int, char *const *, const char *, const struct option *,
                     int *);
  int (*getopt_long_only)(int, char *const *, const char *,
                          const struct option *, int *);
  char **optarg;
  int *optind, *opterr, *optopt;
  char *(*getenv)(const char *);
  char *(*secure_getenv)(const char *);
  int (*setenv)(const char *, const char *, int);
  int (*unsetenv)(const char *);
  int (*putenv)(char *);
  int (*clearenv)(void);
  char ***environ, ***environ_too;
  FILE **out;
  int (*printf)(const char *, ...);
  int (*vprintf)(const char *, va_list);
  int (*printf_chk)(int, const char *, ...);
  int (*puts)(const char *);
  int (*putchar)(int);
  int (*putchar_unlocked)(int);
  int (*wprintf)(const wchar_t *, ...);
  wint_t (*putwchar)(wchar_t);
  int (*fflush)(FILE *);
  int (*fclose)(FILE *);
  FILE *(*freopen)(const char *, const char *, FILE *);
  int (*setvbuf)(FILE *, char *, int, size_t);
  void (*setbuf)(FILE *, char *);
};

#endif
