/* libc's hidden state that libpems_private.a gives every copy of a program:
   the results must be those of libc, and no copy may see another's. The
   program is tests/unit/image/private.c in the directory $PEMS_TEST_IMAGES. */
#define _GNU_SOURCE
#include "check_main.h"
#include "context/image/image.h"
#include "image/image_test.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int __posix_getopt(int argc, char *const *argv, const char *shorts);

enum { COPIES = 64 };

static struct image_file *file;
static struct image img[COPIES];
static struct private p[COPIES];
static char *env[] = {"ONE=1", "TWO=2", "ONEMORE=3", NULL};

static void load(int n) {
  struct pems_error error;
  char path[PATH_MAX];
  const char *dir = getenv("PEMS_TEST_IMAGES");
  snprintf(path, sizeof(path), "%s/private", dir ? dir : ".");
  ck_assert_msg(image_open(&file, path, &error) == 0, "%s", error.text);
  for (int i = 0; i < n; i++) {
    char *argv[] = {"private", (char *)&p[i], NULL};
    ck_assert_msg(image_load(&img[i], file, i, NULL, &error) == 0, "%s",
                  error.text);
    image_construct(&img[i], 2, argv, env);
    ck_assert_int_eq(image_main(&img[i], 2, argv, env), MAIN_RETURNS);
  }
}

static void load_two(void) {
  load(2);
}

static void load_all(void) {
  load(COPIES);
}

/* --- numbers ---------------------------------------------------------------
 */

START_TEST(rand_and_random_give_libcs_numbers) {
  for (int i = 0; i < 1000; i++) {
    const int libc = rand();
    ck_assert_int_eq(p[0].rand(), libc);
    ck_assert_int_eq(p[1].rand(), libc);
  }
  srand(12);
  p[0].srand(12);
  for (int i = 0; i < 1000; i++) {
    ck_assert_int_eq(p[0].rand(), rand());
    ck_assert_int_eq(p[0].random(), random());
  }
  srandom(0);
  p[0].srandom(0);
  ck_assert_int_eq(p[0].random(), random());
}
END_TEST

START_TEST(initstate_and_setstate_are_libcs) {
  char ours[2][256], theirs[2][256];
  static const size_t sizes[] = {8, 31, 32, 64, 128, 200, 256};
  char *our_first = p[0].initstate(5, ours[0], 8);
  char *their_first = initstate(5, theirs[0], 8);
  ck_assert_ptr_nonnull(our_first);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    ck_assert_ptr_eq(p[0].initstate(9, ours[1], sizes[i]), ours[0]);
    ck_assert_ptr_eq(initstate(9, theirs[1], sizes[i]), theirs[0]);
    for (int j = 0; j < 100; j++) {
      ck_assert_int_eq(p[0].random(), random());
    }
    ck_assert_ptr_eq(p[0].setstate(ours[0]), ours[1]);
    ck_assert_ptr_eq(setstate(theirs[0]), theirs[1]);
    ck_assert_int_eq(p[0].random(), random());
  }
  ck_assert_ptr_nonnull(p[0].setstate(our_first));
  ck_assert_ptr_nonnull(setstate(their_first));
  for (int j = 0; j < 100; j++) {
    ck_assert_int_eq(p[0].random(), random());
  }
  ck_assert_ptr_null(p[0].initstate(1, ours[1], 7));
  ck_assert_int_eq(p[0].random(), random());
}
END_TEST

static void same_drand48(int i) {
  unsigned short x[3] = {1, 2, 3}, y[3] = {1, 2, 3};
  for (int n = 0; n < 100; n++) {
    ck_assert_double_eq(p[i].drand48(), drand48());
    ck_assert_double_eq(p[i].erand48(x), erand48(y));
    ck_assert_int_eq(p[i].lrand48(), lrand48());
    ck_assert_int_eq(p[i].nrand48(x), nrand48(y));
    ck_assert_int_eq(p[i].mrand48(), mrand48());
    ck_assert_int_eq(p[i].jrand48(x), jrand48(y));
    ck_assert_mem_eq(x, y, sizeof(x));
  }
}

START_TEST(drand48_family_gives_libcs_numbers) {
  unsigned short x[3] = {7, 8, 9}, seven[7] = {1, 2, 3, 4, 5, 6, 7};
  same_drand48(0);
  p[0].srand48(-3);
  srand48(-3);
  same_drand48(0);
  ck_assert_mem_eq(p[0].seed48(x), seed48(x), sizeof(x));
  same_drand48(0);
  p[0].lcong48(seven);
  lcong48(seven);
  same_drand48(0);
  ck_assert_double_eq_tol(p[1].drand48(), 3.908e-14, 1e-17);
}
END_TEST

/* --- text, tables, time ------------------------------------------------------
 */

START_TEST(strtok_remembers_per_copy) {
  char a[] = "one, two,,three", b[] = "::x:y";
  ck_assert_str_eq(p[0].strtok(a, ", "), "one");
  ck_assert_str_eq(p[1].strtok(b, ":"), "x");
  ck_assert_str_eq(p[0].strtok(NULL, ", "), "two");
  ck_assert_str_eq(p[1].strtok(NULL, ":"), "y");
  ck_assert_str_eq(p[0].strtok(NULL, ", "), "three");
  ck_assert_ptr_null(p[1].strtok(NULL, ":"));
  ck_assert_ptr_null(p[0].strtok(NULL, ", "));
  ck_assert_ptr_null(p[0].strtok(NULL, ", "));
}
END_TEST

START_TEST(each_copy_has_a_hash_table) {
  ENTRY key = {.key = "k", .data = &p[0]};
  ck_assert(p[0].hcreate(10) != 0);
  ck_assert(p[1].hcreate(10) != 0);
  ck_assert_ptr_nonnull(p[0].hsearch(key, ENTER));
  ck_assert_ptr_null(p[1].hsearch(key, FIND));
  ck_assert_ptr_eq(p[0].hsearch(key, FIND)->data, &p[0]);
  p[0].hdestroy();
  p[1].hdestroy();
  ck_assert(p[0].hcreate(10) != 0);
  ck_assert_ptr_null(p[0].hsearch(key, FIND));
  p[0].hdestroy();
}
END_TEST

static void same_calendar(time_t t) {
  struct tm libc, *ours;
  ck_assert((gmtime_r(&t, &libc) == NULL) == (p[0].gmtime(&t) == NULL));
  if (gmtime(&t) == NULL) {
    return;
  }
  ours = p[0].gmtime(&t);
  ck_assert_int_eq(ours->tm_yday, libc.tm_yday);
  ck_assert_str_eq(p[0].asctime(ours), asctime(&libc));
  tzset();
  localtime_r(&t, &libc);
  ours = p[0].localtime(&t);
  ck_assert_int_eq(ours->tm_hour, libc.tm_hour);
  ck_assert_str_eq(ours->tm_zone, libc.tm_zone);
  ck_assert_str_eq(p[0].ctime(&t), ctime(&t));
}

START_TEST(the_calendar_is_libcs) {
  static const time_t times[] = {0,
                                 1,
                                 951782400,
                                 -86400 * 365L,
                                 1700000000,
                                 253402300800,
                                 67767976233532799L};
  setenv("TZ", "America/New_York", 1);
  for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
    same_calendar(times[i]);
  }
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  same_calendar(1700000000);
  const time_t a = 0, b = 1700000000;
  struct tm *first = p[0].gmtime(&a);
  p[1].gmtime(&b);
  ck_assert_int_eq(first->tm_year, 70);
  const char *text = p[0].asctime(first);
  p[1].ctime(&b);
  ck_assert_str_eq(text, "Thu Jan  1 00:00:00 1970\n");
}
END_TEST

START_TEST(asctime_of_nonsense_is_libcs) {
  struct tm tm[] = {
      {.tm_wday = 7, .tm_mon = 12, .tm_mday = 99, .tm_hour = -5},
      {.tm_wday = -1, .tm_mon = -1, .tm_min = INT_MAX, .tm_sec = INT_MIN},
      {.tm_year = INT_MAX},
      {.tm_year = INT_MIN},
      {.tm_year = INT_MAX - 1900},
  };
  for (size_t i = 0; i < sizeof(tm) / sizeof(*tm); i++) {
    errno = 0;
    const char *theirs = asctime(&tm[i]);
    const int error = errno;
    errno = 0;
    const char *ours = p[0].asctime(&tm[i]);
    ck_assert_int_eq(errno, error);
    ck_assert_pstr_eq(ours, theirs);
  }
  ck_assert_ptr_null(p[0].asctime(NULL));
  ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* --- environment -------------------------------------------------------------
 */

START_TEST(environment_starts_as_the_given_one) {
  ck_assert_str_eq(p[0].getenv("ONE"), "1");
  ck_assert_str_eq(p[0].secure_getenv("TWO"), "2");
  ck_assert_str_eq(p[0].getenv("ONEMORE"), "3");
  ck_assert_ptr_null(p[0].getenv("ON"));
  ck_assert_ptr_null(p[0].getenv(""));
  ck_assert_ptr_null(p[0].getenv("PATH"));
  ck_assert_ptr_eq(*p[0].environ, env);
  ck_assert_ptr_eq(p[0].environ, p[0].environ_too);
}
END_TEST

START_TEST(changes_of_the_environment_stay_in_the_copy) {
  char put[] = "PUT=here";
  ck_assert_int_eq(p[0].setenv("ONE", "uno", 1), 0);
  ck_assert_int_eq(p[0].setenv("TWO", "due", 0), 0);
  ck_assert_int_eq(p[0].setenv("NEW", "", 0), 0);
  ck_assert_int_eq(p[0].putenv(put), 0);
  ck_assert_int_eq(p[0].unsetenv("ONEMORE"), 0);
  ck_assert_int_eq(p[0].unsetenv("NONE"), 0);
  ck_assert_str_eq(p[0].getenv("ONE"), "uno");
  ck_assert_str_eq(p[0].getenv("TWO"), "2");
  ck_assert_str_eq(p[0].getenv("NEW"), "");
  ck_assert_ptr_eq(p[0].getenv("PUT"), put + 4);
  put[4] = 't';
  ck_assert_str_eq(p[0].getenv("PUT"), "tere");
  ck_assert_ptr_null(p[0].getenv("ONEMORE"));
  ck_assert_str_eq(env[0], "ONE=1");
  ck_assert_str_eq(env[2], "ONEMORE=3");
  ck_assert_str_eq(p[1].getenv("ONE"), "1");
  ck_assert_ptr_null(p[1].getenv("NEW"));
  ck_assert_ptr_null(getenv("PUT"));
  char remove[] = "PUT";
  ck_assert_int_eq(p[0].putenv(remove), 0);
  ck_assert_ptr_null(p[0].getenv("PUT"));
  ck_assert_int_eq(p[0].clearenv(), 0);
  ck_assert_ptr_null(*p[0].environ);
  ck_assert_ptr_null(p[0].getenv("ONE"));
  ck_assert_int_eq(p[0].setenv("A", "b", 1), 0);
  ck_assert_str_eq((*p[0].environ)[0], "A=b");
  ck_assert_ptr_null((*p[0].environ)[1]);
}
END_TEST

START_TEST(many_variables_and_bad_names) {
  char name[16];
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof(name), "V%d", i);
    ck_assert_int_eq(p[0].setenv(name, name + 1, 1), 0);
  }
  for (int i = 0; i < 1000; i += 2) {
    snprintf(name, sizeof(name), "V%d", i);
    ck_assert_int_eq(p[0].unsetenv(name), 0);
  }
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof(name), "V%d", i);
    ck_assert_pstr_eq(p[0].getenv(name), i % 2 ? name + 1 : NULL);
  }
  static const char *const bad[] = {"", "A=B", NULL};
  for (int i = 0; i < 3; i++) {
    errno = 0;
    ck_assert_int_eq(p[0].setenv(bad[i], "x", 1), -1);
    ck_assert_int_eq(errno, EINVAL);
    if (bad[i]) {
      ck_assert_int_eq(p[0].unsetenv(bad[i]), -1);
    }
  }
  char *own[] = {"OWN=yes", NULL};
  *p[0].environ = own;
  ck_assert_str_eq(p[0].getenv("OWN"), "yes");
  ck_assert_int_eq(p[0].setenv("X", "1", 1), 0);
  ck_assert_str_eq(p[0].getenv("OWN"), "yes");
  ck_assert_ptr_null(own[1]);
}
END_TEST

/* --- getopt ------------------------------------------------------------------
 */

enum { ARGS = 7, KINDS = 4 };

static const char *const words[] = {
    "-a",        "-b",         "-bx",        "-c",       "-cval",    "-d",
    "-dval",     "-abc",       "-abd",       "-",        "--",       "file",
    "x=y",       "-W",         "-Wadd",      "-Wfile=1", "--add",    "--ad",
    "--a",       "--add=1",    "--file",     "--file=",  "--file=v", "--fi",
    "--create",  "--cr=v",     "--create=q", "--none",   "--none=",  "--verb",
    "--verbose", "--verbatim", "-add",       "-file",    "-file=z",  "-verb",
    "-nope",     "-;",         "-:",         "-z",       "-za",      "-f",
    "-fi=3",     "--same",     "--sa",       "--flag",   "-flag",    "",
    "-v",        "--=",        "--fl=x",     "-W",       "-c",       "-d",
    "--file",    "-W=",
};
static const char *const shorts[] = {
    "ab:c::d:",  "+ab:c::d:", "-ab:c::d:", ":ab:c::d:",  "+:ab:c::d:",
    "-:abc:d::", "abW;d:",    ":aW;c:",    "",           ":",
    "fvab:c",    "-",         "+",         "aabb:c::::d"};
static int flag;
static const struct option longs[] = {{"add", required_argument, NULL, 1000},
                                      {"file", required_argument, NULL, 'f'},
                                      {"create", optional_argument, NULL, 'c'},
                                      {"none", no_argument, NULL, 1001},
                                      {"verbose", no_argument, NULL, 'v'},
                                      {"verbatim", no_argument, NULL, 'V'},
                                      {"verbose2", no_argument, NULL, 'v'},
                                      {"same1", no_argument, NULL, 's'},
                                      {"same2", no_argument, NULL, 's'},
                                      {"flag", no_argument, &flag, 77},
                                      {NULL, 0, NULL, 0}};

typedef int kind_fn(int kind, int argc, char **argv, const char *s, int *index);

static int libc_kind(int kind, int argc, char **argv, const char *s,
                     int *index) {
  switch (kind) {
  case 0:
    return getopt(argc, argv, s);
  case 1:
    return getopt_long(argc, argv, s, longs, index);
  case 2:
    return getopt_long_only(argc, argv, s, longs, index);
  default:
    return __posix_getopt(argc, argv, s);
  }
}

static int our_kind(int kind, int argc, char **argv, const char *s,
                    int *index) {
  switch (kind) {
  case 0:
    return p[0].getopt(argc, argv, s);
  case 1:
    return p[0].getopt_long(argc, argv, s, longs, index);
  case 2:
    return p[0].getopt_long_only(argc, argv, s, longs, index);
  default:
    return p[0].posix_getopt(argc, argv, s);
  }
}

/* What one call left behind. */
struct step {
  int c, ind, opt, index, flag;
  const char *arg;
};

struct trace {
  struct step step[3 * ARGS];
  int n;
  char *argv[ARGS + 2];
  char said[4096];
};

static void record(struct trace *t, kind_fn *f, int kind, int argc,
                   const char *s, char *const *arg, const int *ind,
                   const int *opt) {
  const int errors = memfd_create("stderr", MFD_CLOEXEC), old = dup(2);
  dup2(errors, 2);
  struct step *now;
  do {
    now = &t->step[t->n++];
    now->index = -9;
    flag = 0;
    now->c = f(kind, argc, t->argv, s, &now->index);
    now->ind = *ind;
    now->opt = *opt;
    now->arg = *arg;
    now->flag = flag;
  } while (now->c != -1 && t->n < 3 * ARGS);
  dup2(old, 2);
  close(old);
  const ssize_t n = pread(errors, t->said, sizeof(t->said) - 1, 0);
  t->said[n < 0 ? 0 : n] = '\0';
  close(errors);
}

static void same_getopt(int kind, int argc, char **argv, const char *s,
                        bool errors) {
  static struct trace libc, ours;
  memset(&libc, 0, sizeof(libc));
  memset(&ours, 0, sizeof(ours));
  memcpy(libc.argv, argv, sizeof(libc.argv));
  memcpy(ours.argv, argv, sizeof(ours.argv));
  optind = *p[0].optind = 0;
  opterr = *p[0].opterr = errors;
  record(&libc, libc_kind, kind, argc, s, &optarg, &optind, &optopt);
  record(&ours, our_kind, kind, argc, s, p[0].optarg, p[0].optind, p[0].optopt);
  char line[512] = "";
  for (int i = 0; i < argc; i++) {
    strcat(strcat(line, " "), argv[i]);
  }
  ck_assert_msg(strcmp(libc.said, ours.said) == 0,
                "kind %d '%s'%s: libc says '%s', we '%s'", kind, s, line,
                libc.said, ours.said);
  ck_assert_msg(memcmp(&libc, &ours, offsetof(struct trace, said)) == 0,
                "kind %d '%s'%s: differs", kind, s, line);
}

START_TEST(getopt_is_libcs) {
  unsigned short seed[3] = {(unsigned short)_i, 5, 6};
  if (_i % 4 == 3) {
    setenv("POSIXLY_CORRECT", "1", 1);
    p[0].setenv("POSIXLY_CORRECT", "1", 1);
  }
  for (int round = 0; round < 12000; round++) {
    char *argv[ARGS + 2] = {"prog"};
    const int argc = 1 + (int)(nrand48(seed) % (ARGS + 1));
    for (int i = 1; i < argc; i++) {
      argv[i] = (char *)
          words[(size_t)nrand48(seed) % (sizeof(words) / sizeof(*words))];
    }
    const char *s =
        shorts[(size_t)nrand48(seed) % (sizeof(shorts) / sizeof(*shorts))];
    same_getopt((int)(nrand48(seed) % KINDS), argc, argv, s,
                nrand48(seed) % 4 != 0);
  }
}
END_TEST

START_TEST(getopt_starts_like_libcs) {
  char *ours[] = {"prog", "file", "-a", "-b", "val", NULL};
  char *theirs[] = {"prog", "file", "-a", "-b", "val", NULL};
  ck_assert_int_eq(*p[0].optind, 1);
  ck_assert_int_eq(*p[0].opterr, 1);
  ck_assert_int_eq(*p[0].optopt, '?');
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(p[0].getopt(5, ours, "ab:"), getopt(5, theirs, "ab:"));
    ck_assert_int_eq(*p[0].optind, optind);
    ck_assert_int_eq(*p[0].optopt, optopt);
    ck_assert_mem_eq(ours, theirs, sizeof(ours));
  }
  ck_assert_int_eq(*p[0].optind, 4);
  ck_assert_int_eq(*p[1].optind, 1);
  ck_assert_int_eq(p[0].getopt(0, ours, "a"), -1);
}
END_TEST

/* --- stdout ------------------------------------------------------------------
 */

/* fd 1 becomes a file that out_text reads; not a memfd, which lacks the lock
   on its position that files have. */
static int out_fd;

static void capture(void) {
  fflush(stdout);
  char path[] = "/tmp/pems-test-XXXXXX";
  out_fd = mkstemp(path);
  unlink(path);
  dup2(out_fd, 1);
}

static const char *out_text(void) {
  static char text[1 << 20];
  const ssize_t n = pread(out_fd, text, sizeof(text) - 1, 0);
  ck_assert_int_ge(n, 0);
  text[n] = '\0';
  return text;
}

static int call_vprintf(int i, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = p[i].vprintf(format, args);
  va_end(args);
  return n;
}

START_TEST(lines_of_copies_do_not_mix) {
  capture();
  load_two();
  ck_assert_int_eq(fileno(*p[0].out), 1);
  ck_assert_ptr_ne(*p[0].out, stdout);
  ck_assert_ptr_ne(*p[0].out, *p[1].out);
  ck_assert_int_eq(p[0].printf("%s", "a"), 1);
  ck_assert_int_eq(p[1].printf("1"), 1);
  ck_assert_int_eq(call_vprintf(0, "%d", 22), 2);
  ck_assert_int_eq(p[1].printf_chk(1, "%c", '2'), 1);
  ck_assert_int_eq(p[0].putchar('c'), 'c');
  ck_assert_int_eq(p[1].putchar_unlocked('3'), '3');
  ck_assert_int_eq(fputs("d", *p[0].out), 1);
  ck_assert_int_eq(p[1].fflush(NULL), 0);
  ck_assert_str_eq(out_text(), "123");
  ck_assert_int_ge(p[0].puts("e"), 0);
  ck_assert_str_eq(out_text(), "123a22cde\n");
  ck_assert_int_ge(p[1].puts(""), 0);
  ck_assert_str_eq(out_text(), "123a22cde\n\n");
  p[0].printf("rest");
  image_destruct(&img[0]);
  ck_assert_str_eq(out_text(), "123a22cde\n\nrest");
}
END_TEST

START_TEST(stdout_can_be_wide) {
  capture();
  load_two();
  ck_assert_int_eq(p[0].wprintf(L"%d", 12), 2);
  ck_assert_int_eq(p[0].putwchar(L'3'), L'3');
  image_destruct(&img[0]);
  ck_assert_str_eq(out_text(), "123");
}
END_TEST

START_TEST(closing_and_redirecting_concern_one_copy) {
  char path[] = "/tmp/pems-test-XXXXXX", text[16] = "";
  const int fd = mkstemp(path);
  capture();
  load_two();
  p[0].printf("a");
  ck_assert_int_eq(p[0].fclose(*p[0].out), 0);
  ck_assert_str_eq(out_text(), "a");
  ck_assert_int_eq(p[1].puts("b") < 0, 0);
  ck_assert_str_eq(out_text(), "ab\n");
  p[1].printf("c");
  ck_assert_ptr_null(p[1].freopen("/no/such/dir/x", "w", *p[1].out));
  ck_assert_ptr_nonnull(p[1].freopen(path, "w", *p[1].out));
  p[1].printf("to the file");
  ck_assert_int_eq(p[1].fclose(*p[1].out), 0);
  ck_assert_str_eq(out_text(), "ab\nc");
  ck_assert_int_eq(pread(fd, text, sizeof(text) - 1, 0), 11);
  ck_assert_str_eq(text, "to the file");
  FILE *other = fopen(path, "r");
  ck_assert_ptr_nonnull(p[0].freopen("/dev/null", "r", other));
  ck_assert_int_eq(getc(other), EOF);
  ck_assert_int_eq(p[0].fclose(other), 0);
  close(fd);
  unlink(path);
}
END_TEST

START_TEST(errors_of_stdout_are_seen) {
  dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), 1);
  load_two();
  p[0].printf("a");
  ck_assert_int_eq(p[0].fflush(*p[0].out), EOF);
  ck_assert_int_eq(p[0].fclose(*p[0].out), EOF);
  p[1].printf("b");
  ck_assert_int_eq(p[1].fflush(NULL), EOF);
}
END_TEST

START_TEST(no_stdout_at_all) {
  close(1);
  load_two();
  p[0].printf("lost\n");
  ck_assert_ptr_nonnull(*p[0].out);
  image_destruct(&img[0]);
}
END_TEST

/* A buffer of the program's may be gone when libc writes it at exit. */
START_TEST(a_buffer_of_the_programs_is_not_used) {
  char path[] = "/tmp/pems-test-XXXXXX", text[16] = "";
  const int fd = mkstemp(path);
  char buffer[BUFSIZ];
  memset(buffer, '-', sizeof(buffer));
  load_two();
  FILE *f = fopen(path, "w");
  ck_assert_int_eq(p[0].setvbuf(f, buffer, _IOFBF, sizeof(buffer)), 0);
  fputs("kept", f);
  ck_assert_int_eq(buffer[0], '-');
  ck_assert_int_eq(pread(fd, text, sizeof(text) - 1, 0), 0);
  fflush(f);
  p[0].setbuf(f, NULL);
  fputs("!", f);
  ck_assert_int_eq(pread(fd, text, sizeof(text) - 1, 0), 5);
  ck_assert_str_eq(text, "kept!");
  p[0].setbuf(f, buffer);
  fputs("?", f);
  ck_assert_int_eq(buffer[0], '-');
  fclose(f);
  close(fd);
  unlink(path);
}
END_TEST

/* --- all at once
 * -------------------------------------------------------------- */

static int expected[1000];
static pthread_barrier_t together;
static int wrong[COPIES];

static void *use_everything(void *arg) {
  const int i = (int)(intptr_t)arg;
  char text[64], *argv[] = {"p", "-a", "x", "-b", "y", "z", NULL};
  int bad = 0;
  p[i].srand(4);
  snprintf(text, sizeof(text), "%d %d %d", i, i + 1, i + 2);
  pthread_barrier_wait(&together);
  for (int n = 0; n < 1000; n++) {
    bad += p[i].rand() != expected[n];
  }
  char *word = p[i].strtok(text, " ");
  for (int n = 0; n < 3; n++, word = p[i].strtok(NULL, " ")) {
    bad += word == NULL || atoi(word) != i + n;
  }
  pthread_barrier_wait(&together);
  bad += p[i].getopt(6, argv, "ab:") != 'a';
  pthread_barrier_wait(&together);
  bad += p[i].getopt(6, argv, "ab:") != 'b' || strcmp(*p[i].optarg, "y") != 0;
  for (int n = 0; n < 100; n++) {
    p[i].printf("%d:", i);
    for (int j = 0; j < 10; j++) {
      p[i].putchar('x');
    }
    p[i].printf(":%d\n", i);
  }
  wrong[i] = bad;
  return NULL;
}

START_TEST(concurrent_copies_do_not_disturb_each_other) {
  pthread_t thread[COPIES];
  capture();
  load_all();
  srand(4);
  for (int n = 0; n < 1000; n++) {
    expected[n] = rand();
  }
  pthread_barrier_init(&together, NULL, COPIES);
  for (intptr_t i = 0; i < COPIES; i++) {
    pthread_create(&thread[i], NULL, use_everything, (void *)i);
  }
  for (int i = 0; i < COPIES; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_int_eq(wrong[i], 0);
  }
  int lines = 0, a, b, used;
  for (const char *t = out_text(); *t; t += used, lines++) {
    ck_assert_int_eq(sscanf(t, "%d:xxxxxxxxxx:%d%n", &a, &b, &used), 2);
    ck_assert_int_eq(a, b);
    used++;
  }
  ck_assert_int_eq(lines, 100 * COPIES);
}
END_TEST

/* Copies allocate with libc here, and what they keep LeakSanitizer cannot see:
   their data is no module's any more. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *
__asan_default_options(void) {
  return "detect_leaks=0";
}

int main(void) {
  Suite *suite = suite_create("private");
  TCase *two = tcase_create("two copies"), *own = tcase_create("stdout");
  tcase_add_checked_fixture(two, load_two, NULL);
  tcase_set_timeout(two, 60);
  tcase_set_timeout(own, 60);
  tcase_add_test(two, rand_and_random_give_libcs_numbers);
  tcase_add_test(two, initstate_and_setstate_are_libcs);
  tcase_add_test(two, drand48_family_gives_libcs_numbers);
  tcase_add_test(two, strtok_remembers_per_copy);
  tcase_add_test(two, each_copy_has_a_hash_table);
  tcase_add_test(two, the_calendar_is_libcs);
  tcase_add_test(two, asctime_of_nonsense_is_libcs);
  tcase_add_test(two, environment_starts_as_the_given_one);
  tcase_add_test(two, changes_of_the_environment_stay_in_the_copy);
  tcase_add_test(two, many_variables_and_bad_names);
  tcase_add_loop_test(two, getopt_is_libcs, 0, 8);
  tcase_add_test(two, getopt_starts_like_libcs);
  tcase_add_test(own, lines_of_copies_do_not_mix);
  tcase_add_test(own, stdout_can_be_wide);
  tcase_add_test(own, closing_and_redirecting_concern_one_copy);
  tcase_add_test(own, errors_of_stdout_are_seen);
  tcase_add_test(own, no_stdout_at_all);
  tcase_add_test(own, a_buffer_of_the_programs_is_not_used);
  tcase_add_test(own, concurrent_copies_do_not_disturb_each_other);
  suite_add_tcase(suite, two);
  suite_add_tcase(suite, own);
  return check_run(suite);
}
