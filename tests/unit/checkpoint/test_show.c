/* What pemsinfo says of a checkpoint, good or bad. */
#include "checkpoint/show.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_main.h"
#include "checkpoint/shelf.h"

static char dir[] = "/tmp/pems-show.XXXXXX", folder[PATH_MAX], output[PATH_MAX];
static struct checkpoint_sum sum;
static char *words[] = {"p", "x y", NULL};
static struct manifest m = {.program = "/bin/p",
                            .directory = "/home",
                            .hosts = "here",
                            .argument = words,
                            .arguments = 2,
                            .v = 1,
                            .superstep = 42,
                            .sequence = 3,
                            .stack_limit = 8 << 20,
                            .context = 4 << 20,
                            .stack = 8 << 20,
                            .rank = &sum};

static void put_blocks(const char *path, struct checkpoint_sum *of) {
  struct checkpoint_out o;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 0, "bytes", 5, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, of, NULL), 0);
  checkpoint_close(&o);
}

static void make(void) {
  struct shelf s;
  struct checkpoint_sum files;
  char path[PATH_MAX], *text;
  size_t n;
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(shelf_open(&s, dir, true, NULL), 0);
  ck_assert_int_eq(shelf_begin(&s, 3, folder, NULL), 0);
  shelf_rank(folder, 0, path);
  put_blocks(path, &sum);
  shelf_files(folder, 0, path);
  put_blocks(path, &files);
  m.identity = manifest_sum("i", 1);
  ck_assert_int_eq(shelf_put(folder, "identity", "i", 1, NULL), 0);
  FILE *const f = open_memstream(&text, &n);
  ck_assert_int_eq(manifest_write(&m, f, NULL), 0);
  fclose(f);
  ck_assert_int_eq(shelf_put(folder, "manifest", text, n, NULL), 0);
  free(text);
  ck_assert_int_eq(shelf_commit(&s, 3, 2, NULL), 0);
  shelf_close(&s);
  ck_assert_int_eq(shelf_find(dir, folder, NULL), 0);
  snprintf(output, sizeof(output), "%s/output", dir);
}

static void drop(void) {
  char command[64];
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* Its status; what it prints and says is in the file. */
static int show(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    exit(checkpoint_show(dir));
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void expect(const char *text) {
  static char all[4096];
  FILE *const f = fopen(output, "r");
  all[fread(all, 1, sizeof(all) - 1, f)] = '\0';
  fclose(f);
  ck_assert_msg(strstr(all, text), "'%s' is not in '%s'", text, all);
}

/* One byte of the file becomes another one. */
static void change(const char *file) {
  char path[PATH_MAX + 16], byte;
  snprintf(path, sizeof(path), "%s/%s", folder, file);
  const int fd = open(path, O_RDWR);
  ck_assert_int_eq(pread(fd, &byte, 1, 0), 1);
  byte ^= 1;
  ck_assert_int_eq(pwrite(fd, &byte, 1, 0), 1);
  close(fd);
}

START_TEST(a_good_one_is_shown) {
  make();
  ck_assert_int_eq(show(), 0);
  expect("checkpoint-000003\n");
  expect("program    /bin/p x y\n");
  expect("started    here, in /home\n");
  expect("superstep  42\n");
  expect("ranks      1\n");
  expect("with       no messages\n");
  expect("size       69 B\n");
  expect("sound      all sums are right\n");
  drop();
}
END_TEST

START_TEST(one_with_messages_says_so) {
  m.messages = 1;
  make();
  ck_assert_int_eq(show(), 0);
  expect("with       messages, requests or windows of 1 ranks\n");
  drop();
}
END_TEST

START_TEST(each_of_its_files_is_read) {
  static const char *const files[] = {"identity", "rank-0", "files-0"};
  make();
  for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
    change(files[i]);
    ck_assert_int_eq(show(), 1);
    expect(files[i]);
    change(files[i]);
  }
  ck_assert_int_eq(show(), 0);
  change("manifest");
  ck_assert_int_eq(show(), 1);
  expect("manifest: it is not as pems wrote it");
  drop();
}
END_TEST

START_TEST(where_there_is_none_it_says_so) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(output, sizeof(output), "%s/output", dir);
  ck_assert_int_eq(show(), 2);
  expect("there is none");
  drop();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_good_one_is_shown, one_with_messages_says_so,
                                each_of_its_files_is_read,
                                where_there_is_none_it_says_so, NULL};
  return check_main("show", tests);
}
