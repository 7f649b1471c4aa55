#define _GNU_SOURCE
#include "report/report.h"
#include "report/trace.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_main.h"
#include "config/machine.h"
#include "report/report.h"
#include "report/trace_record.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static char dir[64];
static struct pems_error error;

static void set_up(void) {
  strcpy(dir, "/var/tmp/test_trace-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  error.text[0] = '\0';
}

static void tear_down(void) {
  char command[100];
  trace_end();
  snprintf(command, sizeof(command), "rm -rf %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* A shell command with the directory in place of each %s (at most three). */
__attribute__((format(printf, 1, 2))) static int shell(const char *format,
                                                       ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof(command), format, args);
  va_end(args);
  const int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Says what is not tested where a program is missing. */
static bool have(const char *program) {
  if (shell("command -v %s >/dev/null", program) == 0) {
    return true;
  }
  printf("%s is not there: what it reads was not tested\n", program);
  return false;
}

static void write_all(int process, int processes) {
  ck_assert_msg(report_write(dir, process, processes, &error) == 0, "%s",
                error.text);
}

static void merge(int processes) {
  ck_assert_msg(report_merge(dir, processes, &error) == 0, "%s", error.text);
}

static bool exists(const char *name) {
  char path[128];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  return access(path, F_OK) == 0;
}

static struct trace_sums sums_of(int vp) {
  struct trace_sums sums = {0};
  const struct trace_vp *v = &trace_record.vp[vp];
  for (size_t i = 0; i < v->n_rows; i++) {
    trace_sums_add(&sums, &v->row[i].sums);
  }
  return sums;
}

static uint64_t time_of(const struct trace_sums *s) {
  uint64_t total = 0;
  for (int i = 0; i < TRACE_STATES; i++) {
    total += s->time[i];
  }
  return total;
}

/* --- off --- */

START_TEST(off_nothing_happens) {
  trace_enter(5, TRACE_COMPUTE);
  trace_add(5, TRACE_SENT, 1);
  trace_move(5, true, 0, 1, 2);
  trace_superstep(5, "MPI_Barrier");
  trace_leave(5);
  trace_note("k", "2");
  ck_assert_int_eq(trace_state_of(5), TRACE_COMPUTE);
  ck_assert_int_eq(trace_record.notes, 0);
  trace_end();
  trace_end();
}
END_TEST

START_TEST(no_vps_no_record) {
  ck_assert_int_eq(trace_start(0, 0), -1);
  ck_assert(!trace_on);
  ck_assert_uint_eq(trace_memory(0), 0);
}
END_TEST

START_TEST(too_much_memory_is_refused) {
  if (SANITIZED) {
    printf("sanitizers need the address space: not tested\n");
    return;
  }
  const struct rlimit few = {256 << 20, 256 << 20};
  ck_assert_int_eq(setrlimit(RLIMIT_AS, &few), 0);
  ck_assert_int_eq(trace_start(1 << 20, 0), -1);
  ck_assert(!trace_on);
  ck_assert_int_eq(trace_start(1, 0), 0);
}
END_TEST

/* --- sums --- */

START_TEST(states_last_until_the_next) {
  ck_assert_int_eq(trace_start(2, 4), 0);
  ck_assert_int_eq(trace_state_of(1), TRACE_SLOT);
  const uint64_t t = trace_record.start;
  trace_enter_slow(1, TRACE_SWAP, t + 10);
  trace_enter_slow(1, TRACE_COMPUTE, t + 30);
  trace_enter_slow(1, TRACE_COMPUTE, t + 70); /* no change */
  ck_assert_int_eq(trace_state_of(1), TRACE_COMPUTE);
  trace_enter_slow(1, TRACE_DISK, t + 100);
  trace_enter_slow(1, TRACE_COMPUTE, t + 95); /* another core's clock */
  trace_enter_slow(1, TRACE_OTHERS, t + 101);
  const struct trace_sums s = sums_of(1);
  ck_assert_uint_eq(s.time[TRACE_SLOT], 10);
  ck_assert_uint_eq(s.time[TRACE_SWAP], 20);
  ck_assert_uint_eq(s.time[TRACE_COMPUTE], 71);
  ck_assert_uint_eq(s.time[TRACE_DISK], 0);
  ck_assert_uint_eq(time_of(&s), 101);
}
END_TEST

START_TEST(bytes_belong_to_the_superstep_they_moved_in) {
  ck_assert_int_eq(trace_start(1, 0), 0);
  trace_add(0, TRACE_MEMORY, 5);
  trace_superstep(0, "MPI_Bcast");
  ck_assert_int_eq(trace_state_of(0), TRACE_DELIVER);
  trace_add(0, TRACE_MEMORY, 7);
  trace_add(0, TRACE_SENT, UINT64_C(1) << 40);
  trace_move(0, true, trace_record.start, trace_record.start + 9, 100);
  trace_superstep(0, "MPI_Barrier");
  trace_move(0, false, trace_record.start + 9, trace_record.start + 20, 50);
  trace_leave(0);
  trace_add(0, TRACE_WRITTEN, 3); /* by another, later */
  trace_finish();
  const struct trace_row *row = trace_record.vp[0].row;
  ck_assert_uint_eq(trace_record.vp[0].n_rows, 3);
  ck_assert_str_eq(row[0].what, "start");
  ck_assert_str_eq(row[1].what, "MPI_Bcast");
  ck_assert_str_eq(row[2].what, "MPI_Barrier");
  ck_assert_uint_eq(row[0].sums.bytes[TRACE_MEMORY], 5);
  ck_assert_uint_eq(row[1].sums.bytes[TRACE_MEMORY], 7);
  ck_assert_uint_eq(row[1].sums.bytes[TRACE_SENT], UINT64_C(1) << 40);
  ck_assert_uint_eq(row[1].sums.bytes[TRACE_OUT], 100);
  ck_assert_uint_eq(row[1].sums.moving[1], 9);
  ck_assert_uint_eq(row[1].sums.moving[0], 0);
  ck_assert_uint_eq(row[2].sums.bytes[TRACE_IN], 50);
  ck_assert_uint_eq(row[2].sums.moving[0], 11);
  ck_assert_uint_eq(row[2].sums.bytes[TRACE_WRITTEN], 3);
}
END_TEST

START_TEST(who_has_left_takes_no_more_time) {
  ck_assert_int_eq(trace_start(1, 0), 0);
  trace_enter(0, TRACE_COMPUTE);
  trace_leave(0);
  const struct trace_sums before = sums_of(0);
  const uint64_t end = trace_record.vp[0].since;
  usleep(2000);
  trace_enter(0, TRACE_OTHERS);
  trace_superstep(0, "MPI_Barrier");
  trace_leave(0);
  trace_finish();
  const struct trace_sums after = sums_of(0);
  ck_assert_mem_eq(&before, &after, sizeof(before));
  ck_assert_uint_eq(time_of(&after), end - trace_record.start);
}
END_TEST

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525 + 1013904223;
  return (uint32_t)(((uint64_t)random_state * n) >> 32);
}

/* One VP's life, in its thread. */
enum { VPS = 7, CHANGES = 20000, MOVERS = 3, MOVES = 4000 };

static void *live(void *arg) {
  const int vp = (int)(intptr_t)arg;
  for (int i = 0; i < CHANGES; i++) {
    trace_enter(vp, (enum trace_state)((i * 5 + vp) % TRACE_STATES));
    trace_add(vp, TRACE_MEMORY, 1);
    if (i % 50 == 49) {
      trace_superstep(vp, i % 100 == 49 ? "MPI_Alltoallv" : "MPI_Barrier");
    }
  }
  trace_leave(vp);
  return NULL;
}

static void *move(void *arg) {
  (void)arg;
  for (int i = 0; i < MOVES; i++) {
    const uint64_t now = trace_now();
    trace_move(i % VPS, i % 2, now, now + 100, 1000);
    trace_add(i % VPS, TRACE_WRITTEN, 3);
  }
  return NULL;
}

static void live_all(void) {
  pthread_t thread[VPS + MOVERS];
  for (int i = 0; i < VPS + MOVERS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, i < VPS ? live : move,
                                    (void *)(intptr_t)i),
                     0);
  }
  for (int i = 0; i < VPS + MOVERS; i++) {
    pthread_join(thread[i], NULL);
  }
  trace_finish();
}

START_TEST(threads_lose_nothing) {
  ck_assert_int_eq(trace_start(VPS, 0), 0);
  live_all();
  uint64_t in = 0, out = 0, written = 0, transfers = 0;
  for (int i = 0; i < VPS; i++) {
    const struct trace_vp *v = &trace_record.vp[i];
    const struct trace_sums s = sums_of(i);
    ck_assert_uint_eq(time_of(&s), v->since - trace_record.start);
    ck_assert_uint_eq(s.bytes[TRACE_MEMORY], CHANGES);
    ck_assert_uint_eq(v->superstep, CHANGES / 50);
    ck_assert_uint_eq(v->n_rows, CHANGES / 50 + 1);
    in += s.bytes[TRACE_IN];
    out += s.bytes[TRACE_OUT];
    written += s.bytes[TRACE_WRITTEN];
    transfers += v->transfers.n;
  }
  ck_assert_uint_eq(in, MOVERS * MOVES / 2 * 1000);
  ck_assert_uint_eq(out, MOVERS * MOVES / 2 * 1000);
  ck_assert_uint_eq(written, MOVERS * MOVES * 3);
  ck_assert_uint_eq(transfers, MOVERS * MOVES);
}
END_TEST

/* Single intervals give the same sums as were counted. */
START_TEST(intervals_add_up) {
  ck_assert_int_eq(trace_start(VPS, 0), 0);
  live_all();
  for (int i = 0; i < VPS; i++) {
    const struct trace_vp *v = &trace_record.vp[i];
    struct trace_cursor c = trace_walk(&v->intervals);
    const struct trace_interval *t = trace_next_interval(&c), *next;
    uint64_t time[TRACE_STATES] = {0};
    ck_assert_uint_gt(v->intervals.n, 2 * TRACE_CHUNK_INTERVALS);
    for (; t; t = next) {
      next = trace_next_interval(&c);
      time[t->state] += trace_interval_end(v, next) - t->begin;
    }
    const struct trace_sums s = sums_of(i);
    ck_assert_mem_eq(time, s.time, sizeof(time));
  }
}
END_TEST

START_TEST(memory_is_bounded_and_sums_are_not) {
  enum { CALLS = 400000, EACH = 3 };
  const size_t most = trace_memory(2);
  ck_assert_uint_lt(most, (size_t)48 << 20);
  const uint64_t before = machine_rss();
  ck_assert_int_eq(trace_start(2, 0), 0);
  for (int i = 0; i < CALLS; i++) {
    trace_superstep(0, i % 3 ? "MPI_Bcast" : "MPI_Reduce");
    trace_add(0, TRACE_MEMORY, 2);
    for (int j = 0; j < EACH; j++) {
      trace_enter(0, (enum trace_state)j);
    }
    trace_move(0, false, trace_now(), trace_now(), 4);
  }
  trace_superstep(1, "MPI_Bcast");
  trace_leave(1);
  trace_finish();
  if (!SANITIZED) {
    ck_assert_uint_lt(machine_rss(), before + most + (4 << 20));
  }
  const struct trace_vp *v = &trace_record.vp[0];
  const struct trace_sums s = sums_of(0);
  ck_assert_uint_eq(time_of(&s), v->since - trace_record.start);
  ck_assert_uint_eq(s.bytes[TRACE_MEMORY], 2 * CALLS);
  ck_assert_uint_eq(s.bytes[TRACE_IN], 4 * CALLS);
  ck_assert_uint_eq(v->superstep, CALLS);
  ck_assert_uint_gt(v->stride, 1);
  ck_assert_uint_eq(v->n_rows, CALLS / v->stride + 1);
  ck_assert_str_eq(v->row[1].what, trace_various);
  ck_assert_uint_gt(v->intervals.dropped, 0);
  ck_assert_uint_gt(v->transfers.dropped, 0);
  ck_assert_uint_gt(v->intervals.n + v->transfers.n, 500000);
  ck_assert_uint_le(v->known_until, v->since);
  /* Rows follow each other, and all but the last are full. */
  for (size_t i = 1; i < v->n_rows; i++) {
    ck_assert_uint_ge(v->row[i].begin, v->row[i - 1].begin);
  }
  ck_assert_uint_eq(trace_record.vp[1].stride, 1);
  write_all(0, 1);
  merge(1);
  if (have("python3")) {
    ck_assert_int_eq(
        shell(
            "python3 -c 'import json; "
            "s=json.load(open(\"%s/summary.json\")); "
            "assert s[\"supersteps\"]==%d, s[\"supersteps\"]; "
            "assert s[\"supersteps_per_row\"]==%d; "
            "assert s[\"intervals_dropped\"]>0; "
            "assert sum(r[\"bytes\"][\"in\"] for r in s[\"by_superstep\"])==%d;"
            "assert sum(r[\"supersteps\"] for r in s[\"by_superstep\"])=="
            "s[\"supersteps\"]; json.load(open(\"%s/trace.0.json\"))'",
            dir, CALLS + 1, (int)v->stride, 4 * CALLS, dir),
        0);
  }
}
END_TEST

/* Cost, roughly: a machine that is busy with others is not taken to task. */
START_TEST(a_change_of_state_costs_little) {
  enum { N = 200000 };
  uint64_t best = UINT64_MAX;
  ck_assert_int_eq(trace_start(1, 0), 0);
  for (int k = 0; k < 5; k++) {
    const uint64_t begin = trace_now();
    for (int i = 0; i < N; i++) {
      trace_enter(0, i % 2 ? TRACE_COMPUTE : TRACE_DISK);
    }
    const uint64_t took = trace_now() - begin;
    best = took < best ? took : best;
  }
  printf("a change of state: %llu ns\n", (unsigned long long)(best / N));
  ck_assert_uint_lt(best / N, 1000);
}
END_TEST

/* --- files --- */

/* Ranks first .. first + 3, four supersteps, random states and transfers. */
static void record(int first) {
  ck_assert_int_eq(trace_start(4, first), 0);
  trace_note("k", "2");
  trace_note("disk", "a \"strange\" one\\, \n \xff \xc3\xa9");
  for (int step = 0; step < 4; step++) {
    for (int vp = 0; vp < 4; vp++) {
      if (step) {
        trace_superstep(vp, step == 2 ? "MPI_Bcast of a large message"
                                      : "MPI_Alltoallv");
      }
      for (int i = 0; i < 40; i++) {
        trace_enter(vp, (enum trace_state)random_below(TRACE_STATES));
        trace_add(vp, (enum trace_bytes)(2 + random_below(4)), 1 << 20);
      }
      const uint64_t now = trace_now();
      trace_move(vp, step % 2, now - 40000 * vp, now, 8 << 20);
    }
  }
  for (int vp = 0; vp < 4; vp++) {
    trace_leave(vp);
  }
}

START_TEST(reports_are_complete) {
  static const char *const names[] = {
      "supersteps.0.dat", "states.0.dat", "swaps.0.dat",    "trace.0.json",
      "totals.dat",       "summary.txt",  "summary.json",   "report.gp",
      "sites.0.dat",      "waits.0.dat",  "resident.0.dat", "index.html"};
  ck_assert_msg(report_check_dir(dir, &error) == 0, "%s", error.text);
  record(0);
  write_all(0, 1);
  merge(1);
  int n = 0;
  DIR *d = opendir(dir);
  for (const struct dirent *e; (e = readdir(d));) {
    n += e->d_name[0] != '.';
  }
  closedir(d);
  ck_assert_int_eq(n, 12);
  for (int i = 0; i < 12; i++) {
    char path[128];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
    ck_assert_msg(stat(path, &st) == 0, "%s", path);
    ck_assert_uint_gt(st.st_size, i < 8 ? 100 : 10);
    ck_assert_uint_eq(st.st_mode & 0777, 0644);
  }
  if (have("python3")) {
    ck_assert_int_eq(shell("python3 -m json.tool %s/summary.json >%s/x && "
                           "python3 -m json.tool %s/trace.0.json >%s/x",
                           dir, dir, dir, dir),
                     0);
  }
}
END_TEST

/* The tables, the summary and the trace say the same, exactly. */
START_TEST(files_agree) {
  if (!have("python3")) {
    return;
  }
  record(0);
  write_all(0, 1);
  merge(1);
  ck_assert_int_eq(
      shell("cat >%s/check.py <<'END'\n"
            "import json, sys\n"
            "from decimal import Decimal as D\n"
            "d = sys.argv[1] + '/'\n"
            "rows = [l.split() for l in open(d + 'supersteps.0.dat')\n"
            "        if l[0] not in '#\\n']\n"
            "s = json.load(open(d + 'summary.json'), parse_float=D)\n"
            "t = [l.split() for l in open(d + 'totals.dat') if l[0] != '#']\n"
            "i = [l.split() for l in open(d + 'states.0.dat') if l[0] != '#']\n"
            "w = [l.split() for l in open(d + 'swaps.0.dat') if l[0] != '#']\n"
            "assert len(rows) == 16 and len(t) == 4 and len(w) == 16\n"
            "assert {len(r) for r in rows} == {21}\n"
            "assert {len(r) for r in t} == {20}\nEND",
            dir),
      0);
  ck_assert_int_eq(
      shell(
          "cat >>%s/check.py <<'END'\n"
          "states = list(s['time_s'])\n"
          "for r in rows:\n"
          "  assert sum(map(D, r[5:12])) == D(r[4]) - D(r[3]), r\n"
          "for c, name in enumerate(states):\n"
          "  whole = sum(D(r[5 + c]) for r in rows)\n"
          "  assert whole == s['time_s'][name] == sum(D(r[4 + c]) for r in t)\n"
          "  assert whole == sum(D(x[2]) - D(x[1]) for x in i\n"
          "                      if x[4] == name), name\n"
          "for c, name in enumerate(s['bytes']):\n"
          "  assert sum(int(r[14 + c]) for r in rows) == s['bytes'][name]\n"
          "END",
          dir),
      0);
  ck_assert_int_eq(
      shell(
          "cat >>%s/check.py <<'END'\n"
          "assert s['bytes']['in'] == s['bytes']['out'] == 64 << 20\n"
          "assert sum(s['bytes'].values()) == (128 + 640) << 20\n"
          "assert sum(int(x[4]) for x in w) == 128 << 20\n"
          "assert s['notes']['disk'] == 'a \"strange\" one\\\\, \\n ? \\xe9'\n"
          "c = json.load(open(d + 'trace.0.json'), parse_float=D)\n"
          "e = c['traceEvents']\n"
          "x = [y for y in e if y['ph'] == 'X']\n"
          "named = sum(y['dur'] for y in x if y['name'] == 'computing')\n"
          "assert named == s['time_s']['compute'] * 1000000\n"
          "assert {y['tid'] for y in x} == set(range(1, 9))\n"
          "assert sum(y['ph'] == 'C' for y in e) == 1001\n"
          "assert sum(y['name'] == 'swap out' for y in x) == 8\n"
          "assert s['ranks'] == len(s['by_rank']) == 4\n"
          "END\npython3 %s/check.py %s",
          dir, dir, dir),
      0);
}
END_TEST

START_TEST(decimal_commas_change_nothing) {
  /* Any locale with a comma that is there. */
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
    printf("no locale with decimal commas: not tested\n");
  }
  record(0);
  write_all(0, 1);
  merge(1);
  setlocale(LC_ALL, "C");
  ck_assert_int_eq(shell("! grep -q '[0-9],[0-9]' %s/*.dat", dir), 0);
  if (have("python3")) {
    ck_assert_int_eq(
        shell("python3 -m json.tool %s/summary.json >%s/x", dir, dir), 0);
  }
}
END_TEST

START_TEST(processes_make_one_report) {
  uint64_t zero = 0;
  for (int p = 2; p >= 0; p--) {
    record(4 * p);
    if (zero) {
      trace_set_zero(zero);
    }
    zero = trace_zero();
    write_all(p, 3);
    if (p) {
      trace_end();
    }
  }
  merge(3);
  ck_assert_int_eq(shell("grep -q '^pems report: 12 ranks in 3 processes, 4 "
                         "supersteps' %s/summary.txt && "
                         "! grep -q '^Only' %s/summary.txt",
                         dir, dir),
                   0);
  if (have("python3")) {
    ck_assert_int_eq(
        shell(
            "python3 -c 'import json; s=json.load(open(\"%s/summary.json\")); "
            "assert s[\"processes_seen\"]==3; "
            "assert [r[\"rank\"] for r in s[\"by_rank\"]]==list(range(12)); "
            "assert s[\"bytes\"][\"in\"]==3*64<<20'",
            dir),
        0);
  }
}
END_TEST

START_TEST(what_is_not_there_is_not_merged) {
  /* Process 1's is of an older job, process 2's elsewhere, 3 and 7 of a job
     with more processes. */
  record(4);
  write_all(1, 3);
  write_all(3, 4);
  write_all(7, 8);
  trace_end();
  ck_assert_int_eq(shell("touch %s/states.x.dat %s/states.9.data "
                         "%s/states.05.dat",
                         dir, dir, dir),
                   0);
  usleep(1000);
  record(0);
  write_all(0, 3);
  merge(3);
  ck_assert_int_eq(shell("grep -q '^pems report: 4 ranks in 3 processes' "
                         "%s/summary.txt && grep -q '^Only the tables of 1 of "
                         "3 processes' %s/summary.txt",
                         dir, dir),
                   0);
  ck_assert(exists("supersteps.1.dat"));
  ck_assert(!exists("supersteps.3.dat"));
  ck_assert(!exists("trace.7.json"));
  ck_assert(exists("states.x.dat") && exists("states.9.data"));
  ck_assert(exists("states.05.dat"));
}
END_TEST

START_TEST(damaged_tables_are_no_tables) {
  static const char *const bad[] = {
      "",
      "# pems-report 2 process 1 of 2",
      "# pems-report 1 process 0 of 2",
      "# pems-report 1 process 1 of 3",
      "# pems-report 1 process 1 of 2\n# ranks x",
      "# pems-report 1 process 1 of 2\n# ranks 4 first 0",
      "# pems-report 1 process 1 of 2\n# ranks 4 first 0 stride 0 dropped 0",
      ("# pems-report 1 process 1 of 2\n# ranks 1 first 0 stride 1 dropped 0\n"
       "# end 1.0 reading 1.0 5"),
  };
  record(0);
  write_all(0, 2);
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    ck_assert_int_eq(shell("printf '%s\\n' >%s/supersteps.1.dat", bad[i], dir),
                     0);
    merge(2);
    ck_assert_int_eq(shell("grep -q '^Only the tables of 1 of 2' "
                           "%s/summary.txt",
                           dir),
                     0);
  }
}
END_TEST

static void draw(void) {
  ck_assert_int_eq(shell("cd %s && gnuplot report.gp >out 2>&1; status=$?; "
                         "cat out; grep -v adjusting out | grep -i warning && "
                         "status=1; exit $status",
                         dir),
                   0);
}

START_TEST(gnuplot_draws_it) {
  static const char *const names[] = {"elapsed", "states", "time", "bytes"};
  if (!have("gnuplot")) {
    return;
  }
  record(0);
  const uint64_t zero = trace_zero();
  write_all(0, 2);
  trace_end();
  /* The second process moved nothing, and has one superstep. */
  ck_assert_int_eq(trace_start(1, 4), 0);
  trace_set_zero(zero);
  trace_enter(0, TRACE_COMPUTE);
  usleep(1000);
  write_all(1, 2);
  merge(2);
  if (getenv("PEMS_TEST_KEEP_REPORT")) { /* to look at */
    shell("cp -r %s $PEMS_TEST_KEEP_REPORT", dir);
  }
  draw();
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(shell("test -s %s/%s.png || test -s %s/%s.svg", dir,
                           names[i], dir, names[i]),
                     0);
  }
}
END_TEST

START_TEST(gnuplot_draws_a_job_without_io) {
  if (!have("gnuplot")) {
    return;
  }
  ck_assert_int_eq(trace_start(1, 0), 0);
  usleep(1000);
  write_all(0, 1);
  merge(1);
  draw();
}
END_TEST

START_TEST(an_older_report_is_replaced) {
  record(0);
  ck_assert_int_eq(shell("for f in supersteps.0.dat summary.json report.gp; do "
                         "echo old >%s/$f; done; "
                         "echo old >%s/states.0.dat.tmp",
                         dir, dir),
                   0);
  write_all(0, 1);
  merge(1);
  ck_assert_int_eq(shell("! grep -q ^old %s/*", dir), 0);
  ck_assert_int_eq(shell("! ls %s/*.tmp 2>/dev/null", dir), 0);
}
END_TEST

/* --- errors --- */

static void refused(const char *path, int code) {
  error.text[0] = '\0';
  ck_assert_int_eq(report_check_dir(path, &error), code);
  ck_assert_msg(strncmp(error.text, "report: ", 8) == 0, "%s", error.text);
  ck_assert_msg(strstr(error.text, strerror(code)), "%s", error.text);
  ck_assert_msg(strstr(error.text, "--pems-report"), "%s", error.text);
}

START_TEST(directories_are_checked) {
  char path[128];
  static char name[PATH_MAX + 100];
  snprintf(path, sizeof(path), "%s/new", dir);
  ck_assert_int_eq(report_check_dir(path, &error), 0);
  ck_assert(exists("new"));
  ck_assert_int_eq(report_check_dir(path, &error), 0);
  ck_assert_int_eq(rmdir(path), 0); /* nothing remains in it */
  snprintf(path, sizeof(path), "%s/not/there", dir);
  refused(path, ENOENT);
  snprintf(path, sizeof(path), "%s/file", dir);
  ck_assert_int_eq(shell("touch %s", path), 0);
  refused(path, ENOTDIR);
  strcat(path, "/below");
  refused(path, ENOTDIR);
  refused("", ENOENT);
  memset(name, 'x', sizeof(name) - 1);
  refused(name, ENAMETOOLONG);
  name[300] = '\0'; /* one component of 300 */
  refused(name, ENAMETOOLONG);
  snprintf(path, sizeof(path), "%s/nowhere", dir);
  ck_assert_int_eq(symlink("/nonexistent/x", path), 0);
  refused(path, ENOENT);
}
END_TEST

START_TEST(a_directory_of_another_user_is_refused) {
  if (geteuid() != 0) {
    printf("only root can give a directory away: not tested\n");
    return;
  }
  ck_assert_int_eq(chown(dir, 65534, 65534), 0);
  ck_assert_int_eq(report_check_dir(dir, &error), EPERM);
  ck_assert_ptr_nonnull(strstr(error.text, "another user"));
}
END_TEST

START_TEST(read_only_directories_are_refused) {
  if (geteuid() == 0) {
    printf("root may write anywhere: mode bits were not tested\n");
  } else {
    ck_assert_int_eq(chmod(dir, 0500), 0);
    refused(dir, EACCES);
    ck_assert_int_eq(chmod(dir, 0700), 0);
  }
  refused("/proc/self", ENOENT);
}
END_TEST

/* A file system of `size` on dir, in a namespace of our own. */
static bool mount_tmpfs(const char *options) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", dir, "tmpfs", 0, options) != 0) {
    printf("mounting needs root: not tested\n");
    return false;
  }
  return true;
}

START_TEST(a_read_only_file_system_is_refused) {
  if (!mount_tmpfs("size=1m")) {
    return;
  }
  ck_assert_int_eq(mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
  refused(dir, EROFS);
  umount(dir);
}
END_TEST

START_TEST(a_full_disk_is_said_and_leaves_no_half_file) {
  if (!mount_tmpfs("size=64k")) {
    return;
  }
  ck_assert_int_eq(report_check_dir(dir, &error), 0);
  record(0);
  ck_assert_int_eq(report_write(dir, 0, 1, &error), ENOSPC);
  ck_assert_msg(strstr(error.text, strerror(ENOSPC)) && strstr(error.text, dir),
                "%s", error.text);
  ck_assert_int_eq(shell("! ls %s/*.tmp 2>/dev/null", dir), 0);
  /* Now there is no room at all. */
  ck_assert_int_eq(shell("cat /dev/zero >%s/fill 2>/dev/null", dir), 1);
  refused(dir, ENOSPC);
  ck_assert_int_eq(report_merge(dir, 1, &error), ENOSPC);
  ck_assert_msg(strstr(error.text, strerror(ENOSPC)), "%s", error.text);
  umount(dir);
}
END_TEST

START_TEST(a_directory_that_vanished_is_said) {
  record(0);
  ck_assert_int_eq(rmdir(dir), 0);
  ck_assert_int_eq(report_write(dir, 0, 1, &error), ENOENT);
  ck_assert_msg(strstr(error.text, strerror(ENOENT)), "%s", error.text);
  ck_assert_int_eq(report_merge(dir, 1, &error), ENOENT);
  ck_assert_int_eq(mkdir(dir, 0700), 0);
  /* A directory stands where a file should. */
  ck_assert_int_eq(shell("mkdir %s/swaps.0.dat", dir), 0);
  ck_assert_int_eq(report_write(dir, 0, 1, &error), EISDIR);
  ck_assert_msg(strstr(error.text, strerror(EISDIR)), "%s", error.text);
  ck_assert_int_eq(shell("! ls %s/*.tmp 2>/dev/null", dir), 0);
}
END_TEST

/* --- parts --- */

START_TEST(notes_are_cut_and_counted) {
  ck_assert_int_eq(trace_start(1, 0), 0);
  char longer[400];
  memset(longer, 'a', sizeof(longer) - 1);
  longer[sizeof(longer) - 1] = '\0';
  for (int i = 0; i < TRACE_NOTES + 3; i++) {
    trace_note(longer, longer);
  }
  ck_assert_int_eq(trace_record.notes, TRACE_NOTES);
  ck_assert_uint_lt(strlen(trace_record.note[0].value), sizeof(longer) - 1);
  write_all(0, 1);
  merge(1);
}
END_TEST

START_TEST(zero_is_never_after_the_start) {
  ck_assert_int_eq(trace_start(1, 0), 0);
  const uint64_t start = trace_record.start, real = trace_zero();
  ck_assert_uint_eq(trace_since_zero(start + 5), 5);
  trace_set_zero(real + 100);
  ck_assert_uint_eq(trace_since_zero(start + 5), 5);
  trace_set_zero(real - 100);
  ck_assert_uint_eq(trace_zero(), real - 100);
  ck_assert_uint_eq(trace_since_zero(start + 5), 105);
  ck_assert_uint_eq(trace_since_zero(start - 50), 100);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("trace");
  TCase *tc = tcase_create("trace");
  tcase_set_timeout(tc, 60);
  tcase_add_checked_fixture(tc, set_up, tear_down);
  tcase_add_test(tc, off_nothing_happens);
  tcase_add_test(tc, no_vps_no_record);
  tcase_add_test(tc, too_much_memory_is_refused);
  tcase_add_test(tc, states_last_until_the_next);
  tcase_add_test(tc, bytes_belong_to_the_superstep_they_moved_in);
  tcase_add_test(tc, who_has_left_takes_no_more_time);
  tcase_add_test(tc, threads_lose_nothing);
  tcase_add_test(tc, intervals_add_up);
  tcase_add_test(tc, memory_is_bounded_and_sums_are_not);
  tcase_add_test(tc, a_change_of_state_costs_little);
  tcase_add_test(tc, reports_are_complete);
  tcase_add_test(tc, files_agree);
  tcase_add_test(tc, decimal_commas_change_nothing);
  tcase_add_test(tc, processes_make_one_report);
  tcase_add_test(tc, what_is_not_there_is_not_merged);
  tcase_add_test(tc, damaged_tables_are_no_tables);
  tcase_add_test(tc, gnuplot_draws_it);
  tcase_add_test(tc, gnuplot_draws_a_job_without_io);
  tcase_add_test(tc, an_older_report_is_replaced);
  tcase_add_test(tc, directories_are_checked);
  tcase_add_test(tc, a_directory_of_another_user_is_refused);
  tcase_add_test(tc, read_only_directories_are_refused);
  tcase_add_test(tc, a_read_only_file_system_is_refused);
  tcase_add_test(tc, a_full_disk_is_said_and_leaves_no_half_file);
  tcase_add_test(tc, a_directory_that_vanished_is_said);
  tcase_add_test(tc, notes_are_cut_and_counted);
  tcase_add_test(tc, zero_is_never_after_the_start);
  suite_add_tcase(suite, tc);
  return check_run(suite);
}
