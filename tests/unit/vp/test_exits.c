/* What a program has registered for its end is registered again. */
#include "vp/exits.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "vp/vp.h"

static int ends[2];

static void superstep(uintptr_t comm, bool moves) {
  (void)comm, (void)moves;
}

static void say(void *word) {
  ck_assert_int_eq(write(ends[1], word, 1), 1);
}

static struct vp vp;

static void begin(void) {
  self.vp = &vp;
  vp_superstep = superstep;
  ck_assert_int_eq(pipe(ends), 0);
  blocks_begin();
}

static void give_back(void) {
  exits_free(&vp);
  self.vp = NULL;
  vp_superstep = NULL;
}

START_TEST(the_last_one_is_called_first) {
  static char words[] = "abc";
  char said[8] = "";
  struct checkpoint_block b;
  begin();
  for (int i = 0; i < 3; i++) {
    exits_note(say, &words[i], NULL);
  }
  ck_assert_int_eq(exits_save(&vp, &blocks_out, NULL), 0);
  ck_assert_int_eq(
      checkpoint_put(&blocks_out, CHECKPOINT_HEAP, 0, "h", 1, NULL), 0);
  give_back();
  blocks_turn();
  const pid_t child = fork();
  if (child == 0) {
    const int bad = checkpoint_next(&blocks_in, &b, NULL) ||
                    exits_load(&blocks_in, &b, NULL) ||
                    b.kind != CHECKPOINT_HEAP || b.n != 1;
    exit(bad);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  ck_assert_int_eq(read(ends[0], said, sizeof(said) - 1), 3);
  ck_assert_str_eq(said, "cba");
  checkpoint_shut(&blocks_in);
  unlink(blocks_path);
  rmdir(blocks_dir);
}
END_TEST

START_TEST(more_than_one_block_is_written) {
  enum { MANY = 100000 };
  struct checkpoint_block b;
  size_t bytes = 0;
  int blocks = 0;
  begin();
  for (intptr_t i = 0; i < MANY; i++) {
    exits_note(say, (void *)i, NULL);
  }
  ck_assert_int_eq(exits_save(&vp, &blocks_out, NULL), 0);
  give_back();
  blocks_turn();
  char *const to = malloc(CHECKPOINT_LARGEST);
  while (checkpoint_next(&blocks_in, &b, NULL) == 0 &&
         b.kind == CHECKPOINT_EXITS) {
    ck_assert_int_eq(checkpoint_get(&blocks_in, &b, to, NULL), 0);
    bytes += b.n;
    blocks++;
  }
  ck_assert_int_ge(blocks, 2);
  ck_assert_uint_eq(bytes, MANY * 3 * sizeof(void *));
  free(to);
  checkpoint_shut(&blocks_in);
  unlink(blocks_path);
  rmdir(blocks_dir);
}
END_TEST

START_TEST(nothing_is_kept_without_checkpoints_or_of_other_threads) {
  begin();
  vp_superstep = NULL;
  exits_note(say, NULL, NULL);
  vp_superstep = superstep;
  self.helper = true;
  exits_note(say, NULL, NULL);
  self.helper = false;
  self.vp = NULL;
  exits_note(say, NULL, NULL);
  ck_assert_ptr_null(vp.exits);
  ck_assert_int_eq(exits_save(&vp, &blocks_out, NULL), 0);
  blocks_turn();
  blocks_end();
  give_back();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      the_last_one_is_called_first, more_than_one_block_is_written,
      nothing_is_kept_without_checkpoints_or_of_other_threads, NULL};
  return check_main("exits", tests);
}
