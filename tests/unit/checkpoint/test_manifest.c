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
                           .stack_limit = UINT64_MAX,
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
  ck_assert_uint_eq(is.stack_limit, UINT64_MAX);
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

/* Its sum is right, but it has `to`, n bytes, in the place of `from`. */
static void refuse(const char *from, const char *to, size_t n) {
  size_t all, bytes;
  struct pems_error error;
  struct manifest m = example(), is;
  char *const text = text_of(&m, &all), *changed;
  FILE *const f = open_memstream(&changed, &bytes);
  const char *const at = strstr(text, from), *const rest = at + strlen(from),
                    *const end = strstr(text, "\nsum ") + 1;
  ck_assert_ptr_nonnull(strstr(text, from));
  fwrite(text, 1, (size_t)(at - text), f);
  fwrite(to, 1, n, f);
  fwrite(rest, 1, (size_t)(end - rest), f);
  fflush(f);
  fprintf(f, "sum %016llx\n",
          (unsigned long long)manifest_sum(changed, bytes).sum);
  fclose(f);
  ck_assert_msg(read_text(&is, changed, bytes, &error) == EILSEQ, "%s", to);
  ck_assert_ptr_nonnull(strstr(error.text, "here"));
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
    refuse(changes[i].from, changes[i].to, strlen(changes[i].to));
  }
  refuse(last, "rank 5 0000000000000003\n\0more", 29);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_was_written_is_read,
                                a_change_by_hand_is_found,
                                what_is_not_understood_is_refused, NULL};
  return check_main("manifest", tests);
}
