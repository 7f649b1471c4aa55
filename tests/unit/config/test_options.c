#define _GNU_SOURCE
#include "check_main.h"
#include "config/options.h"

#include "config.h"
#include "config/size.h"
#include "policy/policy.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static struct options o;
static struct pems_error error;
static char *argv[32];
static int argc;

static char *no_env[] = {NULL};

static int parse(char *const *env, const char *const *args) {
  argc = 0;
  argv[argc++] = (char *)"program";
  for (; *args; args++) {
    argv[argc++] = (char *)*args;
  }
  argv[argc] = NULL;
  error.text[0] = '\0';
  return options_parse(&o, &argc, argv, env, &error);
}

#define PARSE(...) parse(no_env, (const char *const[]){__VA_ARGS__, NULL})
#define ENV(...)                                                               \
  parse((char *[]){__VA_ARGS__, NULL}, (const char *const[]){NULL})

static void release(void) {
  options_free(&o);
}

START_TEST(nothing_given_leaves_all_to_pems) {
  ck_assert_int_eq(parse(no_env, (const char *const[]){NULL}), 0);
  const struct options none = {0};
  ck_assert_mem_eq(&o, &none, sizeof(o));
  ck_assert_int_eq(argc, 1);
  ck_assert_int_eq(options_parse(&o, NULL, NULL, NULL, &error), 0);
  ck_assert_mem_eq(&o, &none, sizeof(o));
}
END_TEST

START_TEST(all_options_as_arguments) {
  ck_assert_int_eq(PARSE("--pems-v=64", "--pems-procs=2", "--pems-split=auto",
                         "--pems-k=3", "--pems-memory=4G", "--pems-context=64M",
                         "--pems-sigma=1.5M", "--pems-alpha=5",
                         "--pems-disk=/a,/b", "--pems-io=fault:unix,read=1:EIO",
                         "--pems-depth=16", "--pems-stripe=256K",
                         "--pems-order=id", "--pems-swapin=lazy",
                         "--pems-track=fault", "--pems-bind=core",
                         "--pems-between=copy", "--pems-report=/r",
                         "--pems-strict", "--pems-stats", "--pems-progress=yes",
                         "--pems-debug=on", "--pems-check", "--pems-tag"),
                   0);
  ck_assert_int_eq(o.v, 64);
  ck_assert_int_eq(o.procs, 2);
  ck_assert_int_eq(o.split, SPLIT_AUTO);
  ck_assert_int_eq(o.k, 3);
  ck_assert_uint_eq(o.memory, 4 * GIB);
  ck_assert_uint_eq(o.context, 64 * MIB);
  ck_assert_uint_eq(o.sigma, 3 * MIB / 2);
  ck_assert_int_eq(o.alpha, 5);
  ck_assert_str_eq(o.disk, "/a,/b");
  ck_assert_str_eq(o.io, "fault:unix,read=1:EIO");
  ck_assert_int_eq(o.depth, 16);
  ck_assert_uint_eq(o.stripe, 256 * 1024);
  ck_assert_ptr_eq(policy_table[o.order], &policy_id);
  ck_assert_int_eq(o.swapin, SWAPIN_LAZY);
  ck_assert_int_eq(o.track, TRACK_FAULT);
  ck_assert_int_eq(o.bind, BIND_CORE);
  ck_assert_int_eq(o.between, BETWEEN_COPY);
  ck_assert_str_eq(o.report, "/r");
  ck_assert(o.strict && o.stats && o.progress && o.debug && o.check && o.tag);
  ck_assert_int_eq(argc, 1);
  ck_assert_ptr_null(argv[1]);
}
END_TEST

START_TEST(all_options_as_variables) {
  ck_assert_int_eq(ENV("HOME=/", "PEMS_V=64", "PEMS_PROCS=2", "PEMS_SPLIT=auto",
                       "PEMS_K=3", "PEMS_MEMORY=4G", "PEMS_CONTEXT=64M",
                       "PEMS_SIGMA=2M", "PEMS_ALPHA=5", "PEMS_DISK=/a",
                       "PEMS_IO=mem", "PEMS_DEPTH=8", "PEMS_STRIPE=1M",
                       "PEMS_ORDER=id", "PEMS_SWAPIN=auto", "PEMS_TRACK=off",
                       "PEMS_BIND=numa", "PEMS_BETWEEN=read", "PEMS_REPORT=r",
                       "PEMS_STRICT=yes", "PEMS_STATS=1", "PEMS_PROGRESS=no",
                       "PEMS_DEBUG=TRUE", "PEMS_TEST_ANYTHING=x", "PEMS_CC=cc",
                       "PEMS_CXX=c++", "PEMS_FC=f77"),
                   0);
  ck_assert_int_eq(o.v, 64);
  ck_assert_int_eq(o.procs, 2);
  ck_assert_int_eq(o.split, SPLIT_AUTO);
  ck_assert_int_eq(o.k, 3);
  ck_assert_uint_eq(o.memory, 4 * GIB);
  ck_assert_uint_eq(o.context, 64 * MIB);
  ck_assert_uint_eq(o.sigma, 2 * MIB);
  ck_assert_int_eq(o.alpha, 5);
  ck_assert_str_eq(o.disk, "/a");
  ck_assert_str_eq(o.io, "mem");
  ck_assert_int_eq(o.depth, 8);
  ck_assert_uint_eq(o.stripe, MIB);
  ck_assert_ptr_eq(policy_table[o.order], &policy_id);
  ck_assert_int_eq(o.swapin, SWAPIN_AUTO);
  ck_assert_int_eq(o.track, TRACK_OFF);
  ck_assert_int_eq(o.bind, BIND_NUMA);
  ck_assert_int_eq(o.between, BETWEEN_READ);
  ck_assert_str_eq(o.report, "r");
  ck_assert(o.strict && o.stats && !o.progress && o.debug && !o.check);
}
END_TEST

/* Each option that is a choice of words: its field, and what each means. */
static const struct {
  const char *name, *word;
  int *field, value;
} choices[] = {
    {"split", "even", &o.split, SPLIT_EVEN},
    {"split", "auto", &o.split, SPLIT_AUTO},
    {"reserve", "used", &o.reserve, RESERVE_USED},
    {"reserve", "all", &o.reserve, RESERVE_ALL},
    {"order", "alternate", &o.order, 0},
    {"order", "id", &o.order, 1},
    {"swapin", "auto", &o.swapin, SWAPIN_AUTO},
    {"swapin", "eager", &o.swapin, SWAPIN_EAGER},
    {"swapin", "lazy", &o.swapin, SWAPIN_LAZY},
    {"swapin", "parts", &o.swapin, SWAPIN_PARTS},
    {"swapin", "pages", &o.swapin, SWAPIN_PAGES},
    {"track", "auto", &o.track, TRACK_AUTO},
    {"track", "async", &o.track, TRACK_ASYNC},
    {"track", "fault", &o.track, TRACK_FAULT},
    {"track", "off", &o.track, TRACK_OFF},
    {"compress", "none", &o.compress, COMPRESS_NONE},
    {"compress", "lz4", &o.compress, COMPRESS_LZ4},
    {"compress", "zstd", &o.compress, COMPRESS_ZSTD},
    {"compress", "auto", &o.compress, COMPRESS_AUTO},
    {"bind", "auto", &o.bind, BIND_AUTO},
    {"bind", "none", &o.bind, BIND_NONE},
    {"bind", "core", &o.bind, BIND_CORE},
    {"bind", "numa", &o.bind, BIND_NUMA},
    {"between", "auto", &o.between, BETWEEN_AUTO},
    {"between", "read", &o.between, BETWEEN_READ},
    {"between", "copy", &o.between, BETWEEN_COPY},
};

START_TEST(each_word_of_a_choice_has_its_meaning) {
  for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
    char argument[64];
    if ((choices[i].field == &o.compress) &&
        ((choices[i].value == COMPRESS_LZ4 && !HAVE_LZ4) ||
         (choices[i].value == COMPRESS_ZSTD && !HAVE_ZSTD))) {
      *choices[i].field = 0;
      continue;
    }
    snprintf(argument, sizeof(argument), "--pems-%s=%s", choices[i].name,
             choices[i].word);
    *choices[i].field = -1;
    ck_assert_int_eq(options_set(&o, choices[i].name, choices[i].word, &error),
                     0);
    ck_assert_msg(*choices[i].field == choices[i].value, "%s", argument);
    ck_assert_int_eq(PARSE(argument), 0);
    ck_assert_msg(*choices[i].field == choices[i].value, "%s", argument);
    ck_assert_int_eq(argc, 1);
  }
  /* No other field is touched. */
  o.between = BETWEEN_AUTO;
  const struct options none = {0};
  ck_assert_mem_eq(&o, &none, sizeof(o));
}
END_TEST

START_TEST(compressors_have_levels_if_they_are_there) {
  static const struct {
    const char *word;
    int which, level;
  } good[] = {{"zstd:1", COMPRESS_ZSTD, 1},
              {"zstd:19", COMPRESS_ZSTD, 19},
              {"zstd", COMPRESS_ZSTD, 0}};
  for (size_t i = 0; i < sizeof(good) / sizeof(*good) && HAVE_ZSTD; i++) {
    ck_assert_int_eq(options_set(&o, "compress", good[i].word, &error), 0);
    ck_assert_int_eq(o.compress, good[i].which);
    ck_assert_int_eq(o.compress_level, good[i].level);
  }
  static const char *const bad[] = {
      "zstd:0", "zstd:20", "zstd:",  "zstd:x", "lz4:1",
      "none:0", "auto:1",  "zstd 1", ""};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    ck_assert_int_eq(options_set(&o, "compress", bad[i], &error), EINVAL);
    ck_assert_ptr_nonnull(strstr(error.text, "give none, auto, lz4, zstd or "));
  }
  ck_assert_int_eq(options_set(&o, "compress", "lz4", &error),
                   HAVE_LZ4 ? 0 : EINVAL);
  ck_assert(HAVE_LZ4 || strstr(error.text, "was built without its library"));
}
END_TEST

START_TEST(no_word_of_a_choice_is_forgotten) {
  size_t n = 0;
  for (const struct option_spec *s = option_specs; s->name; s++) {
    if (!s->operand || !strchr(s->operand, '|')) {
      continue;
    }
    char words[64];
    snprintf(words, sizeof(words), "%s", s->operand);
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"), n++) {
      ck_assert_str_eq(choices[n].name, s->name);
      ck_assert_str_eq(choices[n].word, word);
    }
  }
  ck_assert_uint_eq(n, sizeof(choices) / sizeof(*choices));
}
END_TEST

START_TEST(a_later_choice_wins) {
  char *env[] = {(char *)"PEMS_ORDER=id", (char *)"PEMS_BIND=core",
                 (char *)"PEMS_TRACK=", NULL};
  ck_assert_int_eq(
      parse(env, (const char *const[]){"--pems-order", "alternate",
                                       "--pems-swapin=lazy",
                                       "--pems-swapin=eager", NULL}),
      0);
  ck_assert_ptr_eq(policy_table[o.order], &policy_alternate);
  ck_assert_int_eq(o.swapin, SWAPIN_EAGER);
  ck_assert_int_eq(o.track, TRACK_AUTO);
  ck_assert_int_eq(o.bind, BIND_CORE);
}
END_TEST

START_TEST(a_bad_choice_changes_nothing) {
  ck_assert_int_eq(PARSE("--pems-track=fault"), 0);
  ck_assert_int_eq(options_set(&o, "track", "on", &error), EINVAL);
  ck_assert_int_eq(o.track, TRACK_FAULT);
}
END_TEST

START_TEST(an_empty_variable_is_not_set) {
  ck_assert_int_eq(ENV("PEMS_V=", "PEMS_DISK=", "PEMS_STATS=", "PEMS_ORDER="),
                   0);
  ck_assert_int_eq(o.v, 0);
  ck_assert_ptr_null(o.disk);
  ck_assert(!o.stats);
}
END_TEST

START_TEST(arguments_win_over_variables_and_later_over_earlier) {
  char *env[] = {(char *)"PEMS_V=4", (char *)"PEMS_DISK=/env",
                 (char *)"PEMS_STATS=yes", (char *)"PEMS_K=2", NULL};
  ck_assert_int_eq(
      parse(env,
            (const char *const[]){"--pems-v=8", "--pems-v=9", "--pems-disk=/x",
                                  "--pems-disk=/arg", "--pems-stats=no", NULL}),
      0);
  ck_assert_int_eq(o.v, 9);
  ck_assert_int_eq(o.k, 2);
  ck_assert_str_eq(o.disk, "/arg");
  ck_assert(!o.stats);
}
END_TEST

START_TEST(the_programs_arguments_stay_in_order) {
  ck_assert_int_eq(PARSE("-n", "--pems-v", "8", "--pems", "--pems-stats",
                         "file", "--pemsx", "--pems-disk", "-", "--",
                         "--pems-k=2", "--"),
                   0);
  ck_assert_int_eq(o.v, 8);
  ck_assert_int_eq(o.k, 0);
  ck_assert_str_eq(o.disk, "-");
  ck_assert(o.stats);
  static const char *const left[] = {"program", "-n", "--pems",     "file",
                                     "--pemsx", "--", "--pems-k=2", "--"};
  ck_assert_int_eq(argc, 8);
  for (int i = 0; i < 8; i++) {
    ck_assert_str_eq(argv[i], left[i]);
  }
  ck_assert_ptr_null(argv[8]);
}
END_TEST

START_TEST(the_programs_own_name_is_not_read) {
  char *only[] = {(char *)"--pems-v=3", NULL};
  int n = 1;
  ck_assert_int_eq(options_parse(&o, &n, only, NULL, &error), 0);
  ck_assert_int_eq(o.v, 0);
  ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(an_unknown_option_names_the_nearest) {
  static const char *const cases[][2] = {
      {"--pems-memroy=4G", "unknown option: --pems-memroy: did you mean "
                           "--pems-memory?"},
      {"--pems-Disk", "unknown option: --pems-Disk: did you mean --pems-disk?"},
      {"--pems-proc",
       "unknown option: --pems-proc: did you mean --pems-procs?"},
      {"--pems-contxet",
       "unknown option: --pems-contxet: did you mean --pems-context?"},
      {"--pems-prgress",
       "unknown option: --pems-prgress: did you mean --pems-progress?"},
      {"--pems-stripes=1M",
       "unknown option: --pems-stripes: did you mean --pems-stripe?"},
      {"--pems-tracking=off",
       "unknown option: --pems-tracking: did you mean --pems-track?"},
      {"--pems-vv=3", "unknown option: --pems-vv: did you mean --pems-v?"},
      {"--pems-=3", "unknown option: --pems-: did you mean --pems-v?"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    ck_assert_int_eq(PARSE(cases[i][0]), EINVAL);
    ck_assert_str_eq(error.text, cases[i][1]);
    release();
  }
  ck_assert_int_eq(ENV("PEMS_MEMORIES=1"), EINVAL);
  ck_assert_str_eq(error.text, "unknown option: PEMS_MEMORIES: did you mean "
                               "PEMS_MEMORY?");
  ck_assert_int_eq(ENV("PEMS_CCC=cc"), EINVAL);
  ck_assert_int_eq(ENV("PEMS_memory=1G"), EINVAL);
  ck_assert_str_eq(error.text, "unknown option: PEMS_memory: did you mean "
                               "PEMS_MEMORY?");
}
END_TEST

START_TEST(a_very_long_unknown_option_is_survived) {
  char argument[4000] = "--pems-";
  memset(argument + 7, 'x', sizeof(argument) - 8);
  argument[sizeof(argument) - 1] = '\0';
  ck_assert_int_eq(PARSE(argument), EINVAL);
  ck_assert_int_eq(strncmp(error.text, "unknown option: --pems-xxx", 26), 0);
  ck_assert_ptr_nonnull(strstr(error.text, "did you mean --pems-"));
}
END_TEST

START_TEST(bad_values_say_the_range) {
  static const char *const cases[][2] = {
      {"--pems-v=0", "--pems-v: 0: give a number from 1 to 65536"},
      {"--pems-v=65537", "--pems-v: 65537: give a number from 1 to 65536"},
      {"--pems-v=", "--pems-v: : give a number from 1 to 65536"},
      {"--pems-v=-1", "--pems-v: -1: give a number from 1 to 65536"},
      {"--pems-v=4x", "--pems-v: 4x: give a number from 1 to 65536"},
      {"--pems-v= 4", "--pems-v:  4: give a number from 1 to 65536"},
      {"--pems-v=99999999999999999999999",
       "--pems-v: 99999999999999999999999: give a number from 1 to 65536"},
      {"--pems-procs=0", "--pems-procs: 0: give a number from 1 to 65536"},
      {"--pems-k=0", "--pems-k: 0: give a number from 1 to 65536"},
      {"--pems-alpha=0", "--pems-alpha: 0: give a number from 1 to 1048576"},
      {"--pems-memory=15M",
       "--pems-memory: 15M: give a size from 16M to 64T, such as 1.5G"},
      {"--pems-memory=1E",
       "--pems-memory: 1E: give a size from 16M to 64T, such as 1.5G"},
      {"--pems-memory=lots",
       "--pems-memory: lots: give a size from 16M to 64T, such as 1.5G"},
      {"--pems-context=63K",
       "--pems-context: 63K: give a size from 64K to 64T, such as 1.5G"},
      {"--pems-sigma=1",
       "--pems-sigma: 1: give a size from 64K to 64T, such as 1.5G"},
      {"--pems-stats=maybe", "--pems-stats: maybe: give yes or no"},
      {"--pems-io=", "--pems-io: \"\": give a name"},
      {"--pems-disk=", "--pems-disk: \"\": give a name"},
      {"--pems-disk=/a,,/b", "--pems-disk: /a,,/b: a name is empty: give "
                             "directories with commas between"},
      {"--pems-disk=,/b", "--pems-disk: ,/b: a name is empty: give "
                          "directories with commas between"},
      {"--pems-disk=/b,", "--pems-disk: /b,: a name is empty: give "
                          "directories with commas between"},
      {"--pems-k", "--pems-k: no value: give --pems-k=K"},
      {"--pems-depth=0", "--pems-depth: 0: give a number from 1 to 1024"},
      {"--pems-depth=1025", "--pems-depth: 1025: give a number from 1 to 1024"},
      {"--pems-stripe=4095",
       "--pems-stripe: 4095: give a size from 4K to 64T, such as 1.5G"},
      {"--pems-report=", "--pems-report: \"\": give a name"},
      {"--pems-report", "--pems-report: no value: give --pems-report=DIR"},
      {"--pems-strict=very", "--pems-strict: very: give yes or no"},
      {"--pems-order=up", "--pems-order: up: give one of alternate|id"},
      {"--pems-order=", "--pems-order: \"\": give one of alternate|id"},
      {"--pems-order=ID", "--pems-order: ID: give one of alternate|id"},
      {"--pems-order=i", "--pems-order: i: give one of alternate|id"},
      {"--pems-order=idd", "--pems-order: idd: give one of alternate|id"},
      {"--pems-order=alternate|id",
       "--pems-order: alternate|id: give one of alternate|id"},
      {"--pems-order=|", "--pems-order: |: give one of alternate|id"},
      {"--pems-order",
       "--pems-order: no value: give --pems-order=alternate|id"},
      {"--pems-swapin=none",
       "--pems-swapin: none: give one of auto|eager|lazy|parts|pages"},
      {"--pems-track=yes",
       "--pems-track: yes: give one of auto|async|fault|off"},
      {"--pems-split=4:1", "--pems-split: 4:1: give one of even|auto"},
      {"--pems-bind=socket",
       "--pems-bind: socket: give one of auto|none|core|numa"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    ck_assert_int_eq(PARSE(cases[i][0]), EINVAL);
    ck_assert_str_eq(error.text, cases[i][1]);
    release();
  }
  ck_assert_int_eq(PARSE("--pems-k", "--"), EINVAL);
  ck_assert_str_eq(error.text, "--pems-k: no value: give --pems-k=K");
  ck_assert_int_eq(PARSE("--pems-report", "--pems-progress"), EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-report: no value: give --pems-report=DIR");
  ck_assert_int_eq(ENV("PEMS_K=none"), EINVAL);
  ck_assert_str_eq(error.text, "PEMS_K: none: give a number from 1 to 65536");
  ck_assert_int_eq(ENV("PEMS_ORDER=1"), EINVAL);
  ck_assert_str_eq(error.text, "PEMS_ORDER: 1: give one of alternate|id");
}
END_TEST

START_TEST(the_ends_of_the_ranges_are_in) {
  ck_assert_int_eq(PARSE("--pems-v=1", "--pems-k=65536", "--pems-memory=16M",
                         "--pems-context=64K", "--pems-sigma=64K",
                         "--pems-alpha=1", "--pems-depth=1",
                         "--pems-stripe=4096"),
                   0);
  ck_assert_int_eq(PARSE("--pems-v=65536", "--pems-memory=64T",
                         "--pems-depth=1024", "--pems-stripe=64T"),
                   0);
  ck_assert_int_eq(o.v, 65536);
  ck_assert_uint_eq(o.memory, 65536 * GIB);
}
END_TEST

START_TEST(strings_are_copies) {
  char argument[] = "--pems-disk=/abc";
  ck_assert_int_eq(PARSE(argument), 0);
  memset(argument, 'x', sizeof(argument) - 1);
  ck_assert_str_eq(o.disk, "/abc");
  options_free(&o);
  ck_assert_ptr_null(o.disk);
  options_free(&o); /* may be repeated */
}
END_TEST

START_TEST(an_error_leaves_options_that_can_be_freed) {
  ck_assert_int_eq(PARSE("--pems-disk=/a", "--pems-io=mem", "--pems-v=0"),
                   EINVAL);
  options_free(&o);
}
END_TEST

START_TEST(set_is_like_an_argument) {
  ck_assert_int_eq(PARSE("--pems-v=4"), 0);
  ck_assert_int_eq(options_set(&o, "memory", "1G", &error), 0);
  ck_assert_uint_eq(o.memory, GIB);
  ck_assert_int_eq(options_set(&o, "stats", "yes", &error), 0);
  ck_assert(o.stats);
  ck_assert_int_eq(options_set(&o, "v", "0", &error), EINVAL);
  ck_assert_str_eq(error.text, "--pems-v: 0: give a number from 1 to 65536");
  ck_assert_int_eq(o.v, 4);
  ck_assert_int_eq(options_set(&o, "universe", "70", &error), 0);
  ck_assert_int_eq(o.universe, 70);
  ck_assert_int_eq(options_set(&o, "universe", "65537", &error), EINVAL);
  ck_assert_str_eq(error.text,
                   "--pems-universe: 65537: give a number from 1 to 65536");
  ck_assert_int_eq(options_set(&o, "dsik", "/", &error), EINVAL);
  ck_assert_str_eq(error.text, "unknown option: --pems-dsik: did you mean "
                               "--pems-disk?");
}
END_TEST

START_TEST(a_long_message_is_cut_and_none_need_be_wanted) {
  char value[2 * sizeof(error.text)];
  memset(value, 'x', sizeof(value) - 1);
  value[sizeof(value) - 1] = '\0';
  ck_assert_int_eq(options_set(&o, "k", value, &error), EINVAL);
  ck_assert_int_eq(error.code, EINVAL);
  ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
  ck_assert_int_eq(options_set(&o, "nothing", "1", NULL), EINVAL);
}
END_TEST

START_TEST(every_spec_can_be_set) {
  int n = 0;
  for (const struct option_spec *s = option_specs; s->name; s++, n++) {
    ck_assert_ptr_nonnull(s->help);
    ck_assert_ptr_null(strchr(s->help, '\n'));
    const char *const last = s->operand ? strrchr(s->operand, '|') : NULL;
    const bool compress = strcmp(s->name, "compress") == 0; /* if it is there */
    const char *const value = !s->operand                       ? "yes"
                              : compress                        ? "none"
                              : last                            ? last + 1
                              : strcmp(s->operand, "SIZE") == 0 ? "64M"
                                                                : "1";
    ck_assert_int_eq(options_set(&o, s->name, value, &error), 0);
  }
  ck_assert_int_eq(n, 31);
}
END_TEST

START_TEST(sizes_are_parsed) {
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {
      {"0", 0},
      {"4096", 4096},
      {"4096B", 4096},
      {"1k", 1024},
      {"1K", 1024},
      {"1KB", 1024},
      {"1KiB", 1024},
      {"64M", 64 * MIB},
      {"1.5G", 3 * GIB / 2},
      {"1GiB", GIB},
      {"1.5 GiB", 3 * GIB / 2},
      {"2T", 2048 * GIB},
      {"1P", MIB * GIB},
      {"15E", 15 * GIB * GIB},
      {"0.5k", 512},
      {"0.25M", MIB / 4},
      {"0.33333333333333333333333G", 357913940},
      {"18446744073709551615", UINT64_MAX},
  };
  static const char *const bad[] = {
      "",
      " ",
      "M",
      "-1",
      "+1",
      "1.5",
      "1.",
      ".5M",
      "1..5M",
      "1X",
      "1MM",
      "1iB",
      "1M ",
      " 1M",
      "1 ",
      "1,5G",
      "16E",
      "0x10",
      "1e3",
      "1.5B",
      "18446744073709551616",
      "99999999999999999999999",
  };
  for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
    uint64_t x = 1;
    ck_assert_msg(size_parse(good[i].text, &x) == 0, "%s", good[i].text);
    ck_assert_msg(x == good[i].bytes, "%s is %llu", good[i].text,
                  (unsigned long long)x);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    uint64_t x;
    ck_assert_msg(size_parse(bad[i], &x) == -1, "\"%s\"", bad[i]);
  }
}
END_TEST

START_TEST(sizes_are_formatted) {
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {
      {0, "0 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1536 * MIB, "1.5 GiB"},
      {12 * GIB, "12.0 GiB"},
      {MIB - 1, "1.0 MiB"},
      {1000 * MIB, "1000.0 MiB"},
      {UINT64_MAX, "16.0 EiB"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char buf[16];
    ck_assert_ptr_eq(size_format(cases[i].bytes, buf, sizeof(buf)), buf);
    ck_assert_str_eq(buf, cases[i].text);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("options");
  TCase *const t = tcase_create("options");
  tcase_add_checked_fixture(t, NULL, release);
  tcase_add_test(t, nothing_given_leaves_all_to_pems);
  tcase_add_test(t, all_options_as_arguments);
  tcase_add_test(t, all_options_as_variables);
  tcase_add_test(t, each_word_of_a_choice_has_its_meaning);
  tcase_add_test(t, no_word_of_a_choice_is_forgotten);
  tcase_add_test(t, compressors_have_levels_if_they_are_there);
  tcase_add_test(t, a_later_choice_wins);
  tcase_add_test(t, a_bad_choice_changes_nothing);
  tcase_add_test(t, an_empty_variable_is_not_set);
  tcase_add_test(t, arguments_win_over_variables_and_later_over_earlier);
  tcase_add_test(t, the_programs_arguments_stay_in_order);
  tcase_add_test(t, the_programs_own_name_is_not_read);
  tcase_add_test(t, an_unknown_option_names_the_nearest);
  tcase_add_test(t, a_very_long_unknown_option_is_survived);
  tcase_add_test(t, bad_values_say_the_range);
  tcase_add_test(t, the_ends_of_the_ranges_are_in);
  tcase_add_test(t, strings_are_copies);
  tcase_add_test(t, an_error_leaves_options_that_can_be_freed);
  tcase_add_test(t, set_is_like_an_argument);
  tcase_add_test(t, a_long_message_is_cut_and_none_need_be_wanted);
  tcase_add_test(t, every_spec_can_be_set);
  tcase_add_test(t, sizes_are_parsed);
  tcase_add_test(t, sizes_are_formatted);
  suite_add_tcase(s, t);
  return check_run(s);
}
