/* A report where an allocation fails, each in its turn: it is refused, or what
   it leaves out is in its other files. A table is whole or not there. */
#define _GNU_SOURCE
#include "report/report.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/self.h"
#include "check_main.h"
#include "check_memory.h"
#include "report/trace_record.h"

enum { VPS = 40, STEPS = 60, SITES = 9 }; /* one for what was before */

static char dir[] = "/var/tmp/test_report-XXXXXX";

/* Lines of a table, -1: it is not there. */
static int lines(const char *name, bool *header_says_reading) {
  char path[PATH_MAX], line[4096];
  int n = 0;
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  FILE *const f = fopen(path, "r");
  if (!f) {
    return -1;
  }
  *header_says_reading = false;
  while (fgets(line, sizeof(line), f)) {
    n += line[0] != '#';
    const char *const at = strstr(line, " reading ");
    *header_says_reading |= at && strtod(at + strlen(" reading "), NULL) > 0;
  }
  fclose(f);
  return n;
}

static void record(void) {
  static char places[8];
  for (int i = 0; i < STEPS; i++) {
    for (int vp = 0; vp < VPS; vp++) {
      const uint64_t now = trace_now();
      self.site = &places[i % 8];
      self.function = "MPI_Send";
      trace_enter(vp, TRACE_COMPUTE);
      trace_enter(vp, TRACE_OTHERS);
      trace_move(vp, i % 2 == 0, now, now + 1000, 4096);
      trace_superstep(vp, "MPI_Bcast");
    }
  }
}

static int report(struct pems_error *error) {
  const int code = report_write(dir, 0, 1, error);
  return code ? code : report_merge(dir, 1, error);
}

static void expect_whole(void) {
  bool reading;
  ck_assert_int_eq(lines("sites.0.dat", &reading), SITES);
  ck_assert_int_ge(lines("supersteps.0.dat", &reading), VPS * STEPS);
  ck_assert(reading);
  ck_assert_int_ge(lines("totals.dat", &reading), STEPS);
  ck_assert_int_ge(lines("index.html", &reading), 1);
}

/* None that is there lacks anything. */
static void expect_whole_or_none(void) {
  bool reading;
  const int sites = lines("sites.0.dat", &reading);
  ck_assert(sites == -1 || sites == SITES);
  if (lines("supersteps.0.dat", &reading) >= 0) {
    ck_assert(reading);
  }
}

static int scenario(void *arg) {
  char command[PATH_MAX];
  struct pems_error error = {0};
  (void)arg;
  if (trace_start(VPS, 0) != 0) {
    return ENOMEM;
  }
  record();
  const int code = report(&error);
  if (code) {
    ck_assert_int_eq(strncmp(error.text, "report: ", 8), 0);
    expect_whole_or_none();
  } else {
    expect_whole();
  }
  trace_end();
  snprintf(command, sizeof(command), "rm -f %s/*", dir);
  ck_assert_int_eq(system(command), 0);
  return code;
}

START_TEST(a_report_is_complete_or_refused) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  memory_every(scenario, NULL, ENOMEM, MEMORY_SPARED);
  ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_report_is_complete_or_refused, NULL};
  return check_main("report_shortage", tests);
}
