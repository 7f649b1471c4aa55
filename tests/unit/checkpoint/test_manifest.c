/* Manifests are read as they were written, or not at all. */
#include "checkpoint/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

static struct checkpoint_sum ranks[2] = {{1, 2}, {UINT64_MAX, 3}};
static char *words[] = {"a b", "", "%\n\xff%41", NULL};

static struct manifest example(void) {
  return (struct manifest){.program = "/bin/p q",
                           .directory = "/",
                           .hosts = "h",
                           .argument = words,
                           .arguments = 3,
                           .v = 2,
                           .superstep = 4,
                           .sequence = 5,
                           .messages = 6,
                           .stack_limit = 8 << 20,
                           .context = 4 << 20,
                           .stack = 1 << 20,
                           .guards = {UINT64_MAX, 1},
                           .identity = {10, 11},
                           .rank = ranks};
}

/* To be freed. */
static char *text_of(const struct manifest *m, size_t *n) {
  char *text;
  FILE *const f = open_memstream(&text, n);
  ck_assert_int_eq(manifest_write(m, f, NULL), 0);
  fclose(f);
  return text;
}

static int read_text(struct manifest *m, char *text, size_t n,
                     struct pems_error *error) {
  FILE *const f = fmemopen(text, n, "r");
  const int code = manifest_read(m, f, "here", error);
  fclose(f);
  return code;
}

START_TEST(what_was_written_is_read) {
  size_t n;
  struct manifest m = example(), is;
  char *const text = text_of(&m, &n);
  ck_assert_int_eq(read_text(&is, text, n, NULL), 0);
  ck_assert_str_eq(is.program, m.program);
  ck_assert_str_eq(is.directory, "/");
  ck_assert_str_eq(is.hosts, "h");
  ck_assert_int_eq(is.arguments, 3);
  for (int i = 0; i < 3; i++) {
    ck_assert_str_eq(is.argument[i], words[i]);
  }
  ck_assert_ptr_null(is.argument[3]);
  ck_assert_int_eq(is.v, 2);
  ck_assert_uint_eq(is.superstep, 4);
  ck_assert_uint_eq(is.sequence, 5);
  ck_assert_uint_eq(is.messages, 6);
  ck_assert_uint_eq(is.stack_limit, 8 << 20);
  ck_assert_uint_eq(is.context, 4 << 20);
  ck_assert_uint_eq(is.stack, 1 << 20);
  ck_assert_uint_eq(is.guards.stack, UINT64_MAX);
  ck_assert_uint_eq(is.guards.pointer, 1);
  ck_assert_uint_eq(is.identity.sum, 11);
  ck_assert_uint_eq(is.rank[1].bytes, UINT64_MAX);
  ck_assert_uint_eq(is.rank[1].sum, 3);
  ck_assert_uint_eq(is.sum, manifest_sum(text, n).sum);
  manifest_free(&is);
  free(text);
}
END_TEST

START_TEST(a_change_by_hand_is_found) {
  size_t n;
  struct manifest m = example(), is;
  char *const text = text_of(&m, &n);
  for (size_t i = 0; i < n; i++) {
    struct pems_error error;
    const char was = text[i];
    text[i] = (char)(was ^ 1);
    ck_assert_msg(read_text(&is, text, n, &error) == EILSEQ, "byte %d", (int)i);
    ck_assert_ptr_nonnull(strstr(error.text, "here"));
    manifest_free(&is);
    text[i] = was;
    if (i > 0) {
      ck_assert_int_eq(read_text(&is, text, i, &error), EILSEQ);
      manifest_free(&is);
    }
  }
  free(text);
}
END_TEST

/* As read_text, with a sum that is right for the n bytes, which lack one. */
static int read_mended(struct manifest *m, const char *body, size_t n,
                       struct pems_error *error) {
  char *text;
  size_t bytes;
  FILE *const f = open_memstream(&text, &bytes);
  fwrite(body, 1, n, f);
  fprintf(f, "sum %016llx\n", (unsigned long long)manifest_sum(body, n).sum);
  fclose(f);
  const int code = read_text(m, text, bytes, error);
  free(text);
  return code;
}

/* Without its sum; to be freed. */
static char *body_of_example(size_t *n) {
  const struct manifest m = example();
  char *const text = text_of(&m, n);
  *n = (size_t)(strstr(text, "\nsum ") + 1 - text);
  text[*n] = '\0';
  return text;
}

/* Its sum is right, but it has `to`, n bytes, in the place of `from`. */
static void refuse(const char *from, const char *to, size_t n,
                   const char *why) {
  size_t all, bytes;
  struct pems_error error;
  struct manifest is;
  char *const text = body_of_example(&all), *changed;
  FILE *const f = open_memstream(&changed, &bytes);
  const char *const at = strstr(text, from), *const rest = at + strlen(from);
  ck_assert_ptr_nonnull(at);
  fwrite(text, 1, (size_t)(at - text), f);
  fwrite(to, 1, n, f);
  fputs(rest, f);
  fclose(f);
  ck_assert_msg(read_mended(&is, changed, bytes, &error) == EILSEQ, "%s", to);
  ck_assert_msg(strstr(error.text, "here") && strstr(error.text, why), "%s: %s",
                to, error.text);
  manifest_free(&is);
  free(changed);
  free(text);
}

START_TEST(what_is_not_understood_is_refused) {
  static const char last[] = "rank 18446744073709551615 0000000000000003\n";
  static const struct {
    const char *from, *to;
  } changes[] = {
      {"superstep 4", "superstep x"},
      {"superstep 4", "superstep -4"},
      {"superstep 4", "superstep 4x"},
      {"superstep 4", "superstep 18446744073709551616"},
      {"superstep 4", "other 4"},
      {"ranks 2\nrank 1 0000000000000002\nrank 18446744073709551615 "
       "0000000000000003\n",
       "ranks 0\n"},
      {"ranks 2", "ranks 3"},
      {"ranks 2", "ranks 1"},
      {"arguments 3\nargument a%20b\nargument \nargument %25%0a%ff%2541\n",
       "arguments 0\n"},
      {last, "rank 5 0000000000000003\nmore 1\n"},
  };
  for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
    refuse(changes[i].from, changes[i].to, strlen(changes[i].to), "");
  }
  refuse(last, "rank 5 0000000000000003\n\0more", 29, "");
}
END_TEST

START_TEST(numbers_out_of_their_ranges_are_refused) {
  static const struct {
    const char *from, *to, *name;
  } changes[] = {
      {"superstep 4", "superstep 9223372036854775808", "superstep"},
      {"sequence 5", "sequence 0", "sequence"},
      {"time 0", "time 253402300800", "time"},
      {"stack-limit 8388608", "stack-limit 0", "stack-limit"},
      {"stack-limit 8388608", "stack-limit 1", "stack-limit"},
      {"stack-limit 8388608", "stack-limit 18446744073709551615",
       "stack-limit"},
      {"context 4194304", "context 18446744073709551615", "context"},
      {"context 4194304", "context 1", "context"},
      {"stack 1048576", "stack 0", "stack"},
      {"stack 1048576", "stack 18446744073709551615", "stack"},
      {"images 0", "images 18446744073709551615", "images"},
      {"messages 6", "messages 18446744073709551615", "messages"},
      {"identity-bytes 10", "identity-bytes 0", "identity-bytes"},
      {"identity-bytes 10", "identity-bytes 18446744073709551615",
       "identity-bytes"},
      {"arguments 3", "arguments 1048577", "arguments"},
      {"ranks 2", "ranks 65537", "ranks"},
      /* Each could be, but not for two ranks. */
      {"context 4194304", "context 70368744177664", "context"},
  };
  for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
    char why[64];
    snprintf(why, sizeof(why), ": %s: out of its range", changes[i].name);
    refuse(changes[i].from, changes[i].to, strlen(changes[i].to), why);
  }
}
END_TEST

/* The same in each run. */
static uint32_t draw(uint32_t below) {
  static uint64_t state = 1;
  state = state * 6364136223846793005 + 1442695040888963407;
  return (uint32_t)(state >> 33) % below;
}

/* One change: a byte, a number in the place of one, a part that is left out or
   comes twice. Returns how long it is then; there is room for twice as much. */
static size_t change(char *text, size_t n) {
  static const char *const extremes[] = {"0",
                                         "1",
                                         "-1",
                                         "65536",
                                         "2147483648",
                                         "9223372036854775807",
                                         "18446744073709551615",
                                         "99999999999999999999"};
  const size_t at = draw((uint32_t)n), part = 1 + draw(64);
  const size_t end = at + part < n ? at + part : n;
  const char *number = extremes[draw(sizeof(extremes) / sizeof(*extremes))];
  const size_t digits = strspn(text + at, "0123456789"), put = strlen(number);
  switch (draw(4)) {
  case 0:
    text[at] = (char)draw(256);
    return n;
  case 1:
    memmove(text + at, text + end, n - end + 1);
    return n - (end - at);
  case 2:
    memmove(text + end, text + at, n - at + 1);
    return n + (end - at);
  default:
    memmove(text + at + put, text + at + digits, n - at - digits + 1);
    memcpy(text + at, number, put);
    return n - digits + put;
  }
}

/* What could lead a restart anywhere is refused. */
static void check_ranges(const struct manifest *m) {
  ck_assert(m->v >= 1 && m->v <= 65536 && m->arguments >= 1);
  ck_assert(m->rank && m->argument[0] && !m->argument[m->arguments]);
  ck_assert(m->program && m->directory && m->hosts);
  ck_assert(m->stack_limit >= 65536 && m->stack >= 4096);
  ck_assert(m->context >= 2 << 20 && m->identity.bytes <= 64 << 20);
  ck_assert((m->context + m->stack) * (uint64_t)m->v <= (uint64_t)1 << 47);
}

START_TEST(changes_with_the_sum_mended_do_no_harm) {
  int read = 0;
  for (int i = 0; i < 20000; i++) {
    size_t n;
    struct manifest m;
    struct pems_error error;
    char *const body = body_of_example(&n);
    char *const text = malloc(8 * n);
    memcpy(text, body, n + 1);
    for (uint32_t changes = 1 + draw(3); n && changes; changes--) {
      n = change(text, n);
    }
    if (read_mended(&m, text, n, &error) == 0) {
      check_ranges(&m);
      read++;
    } else {
      ck_assert_ptr_nonnull(strstr(error.text, "here"));
    }
    manifest_free(&m);
    free(text);
    free(body);
  }
  /* Some change words only. */
  ck_assert_int_gt(read, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_was_written_is_read,
                                a_change_by_hand_is_found,
                                what_is_not_understood_is_refused,
                                numbers_out_of_their_ranges_are_refused,
                                changes_with_the_sum_mended_do_no_harm,
                                NULL};
  return check_main("manifest", tests);
}
