/* index.html: its structure, and what it says; tests/wrappers/report.sh has a
   browser draw it. */
#define _GNU_SOURCE
#include "report/report.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "report/report_detail.h"
#include "report/trace_record.h"

static char dir[64];
static struct pems_error error;

static void set_up(void) {
  strcpy(dir, "/var/tmp/test_page-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void tear_down(void) {
  char command[100];
  trace_end();
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* The page, to be freed. */
static char *written(void) {
  char path[PATH_MAX], *text = NULL;
  size_t size = 0;
  ck_assert_int_eq(report_write(dir, 0, 1, &error), 0);
  ck_assert_int_eq(report_merge(dir, 1, &error), 0);
  snprintf(path, sizeof(path), "%s/index.html", dir);
  FILE *f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_gt(getdelim(&text, &size, '\0', f), 0);
  fclose(f);
  return text;
}

static int count(const char *text, const char *word) {
  int n = 0;
  for (; (text = strstr(text, word)); text += strlen(word)) {
    n++;
  }
  return n;
}

/* n states of each VP that alternate. */
static void record(int vps, int n) {
  ck_assert_int_eq(trace_start(vps, 0), 0);
  for (int i = 0; i < n; i++) {
    for (int vp = 0; vp < vps; vp++) {
      const uint64_t now = trace_now();
      trace_enter(vp, i % 2 ? TRACE_COMPUTE : TRACE_OTHERS);
      if (i % 100 == 0) {
        trace_superstep(vp, "MPI_Bcast");
        trace_move(vp, i % 200 == 0, now, now + 1000, 4096);
      }
    }
  }
}

START_TEST(the_page_needs_nothing_else) {
  record(4, 400);
  trace_note("program", "a </script><script>alert(1)");
  char *page = written();
  ck_assert_int_eq(count(page, "<script"), 2);
  ck_assert_int_eq(count(page, "</script>"), 2);
  ck_assert_int_eq(count(page, "</html>"), 1);
  ck_assert_int_eq(count(page, "@DATA@"), 0);
  ck_assert_int_eq(count(page, "http"), 1); /* the name space of SVG */
  ck_assert_int_eq(count(page, " src="), 0);
  ck_assert_int_eq(count(page, "import "), 0);
  ck_assert_int_eq(count(page, "fetch("), 0);
  ck_assert_int_eq(count(page, "prefers-color-scheme: dark"), 2);
  free(page);
}
END_TEST

START_TEST(its_data_is_json) {
  char command[300];
  if (system("command -v python3 >/dev/null") != 0) {
    printf("python3 is not there: the data was not read\n");
    return;
  }
  record(4, 400);
  trace_woken(1, 3);
  free(written());
  snprintf(command, sizeof(command),
           "python3 -c 'import json\n"
           "p = open(\"%s/index.html\").read()\n"
           "d = json.loads(p.split(\"id=\\\"data\\\">\")[1]"
           ".split(\"</script>\")[0])\n"
           "assert d[\"ranks\"] == 4 and len(d[\"lines\"]) == 4\n"
           "assert d[\"steps\"] and d[\"moves\"] and d[\"advice\"]'",
           dir);
  ck_assert_int_eq(system(command), 0);
}
END_TEST

/* However much was recorded, the page has some 10^5 items. */
START_TEST(the_page_is_bounded) {
  record(8, 110000);
  char *page = written();
  ck_assert_uint_gt(strlen(page), 100000);
  ck_assert_uint_lt(strlen(page), 4000000);
  free(page);
}
END_TEST

int main(void) {
  Suite *s = suite_create("report_page");
  TCase *t = tcase_create("report_page");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, the_page_needs_nothing_else);
  tcase_add_test(t, its_data_is_json);
  tcase_add_test(t, the_page_is_bounded);
  suite_add_tcase(s, t);
  return check_run(s);
}
