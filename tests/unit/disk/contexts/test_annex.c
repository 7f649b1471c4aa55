/* Room beside the contexts of each disk. */
#define _GNU_SOURCE
#include "disk/contexts/annex.h"

#include "check_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 4, KIB = 1 << 10, ROOM = N * 128 * KIB };

static char dir[64], dirs[256];
static struct disks *d;
static char *memory;

static void start(const char *io, int disks) {
  struct pems_error error;
  strcpy(dir, "/var/tmp/test_annex-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  dirs[0] = '\0';
  for (int i = 0; i < disks; i++) {
    char one[80];
    snprintf(one, sizeof(one), "%s/%d", dir, i);
    ck_assert_int_eq(mkdir(one, 0700), 0);
    snprintf(dirs + strlen(dirs), sizeof(dirs) - strlen(dirs), "%s%s",
             i ? "," : "", one);
  }
  const struct disks_options o = {.dirs = dirs, .io = io};
  ck_assert_int_eq(disks_open(&d, &o, N, 256 * KIB, &error), 0);
  memory = aligned_alloc(DISK_BLOCK, ROOM);
}

/* Nothing is left in the directories. */
static void end(int disks) {
  disks_close(d);
  free(memory);
  for (int i = 0; i < disks; i++) {
    char one[80];
    snprintf(one, sizeof(one), "%s/%d", dir, i);
    ck_assert_int_eq(rmdir(one), 0);
  }
  ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(what_is_written_is_read) {
  struct disks_annexed a, b;
  start("unix", 1);
  ck_assert_int_eq(disks_annex_take(d, 2 * DISK_BLOCK, &a), 0);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &b), 0);
  memset(memory, 'a', 2 * DISK_BLOCK);
  ck_assert_int_eq(disks_annex_move(d, true, a, memory, 2 * DISK_BLOCK), 0);
  memset(memory, 'b', DISK_BLOCK);
  ck_assert_int_eq(disks_annex_move(d, true, b, memory, DISK_BLOCK), 0);
  ck_assert_int_eq(disks_annex_move(d, false, a, memory, 2 * DISK_BLOCK), 0);
  ck_assert_int_eq(memory[0], 'a');
  ck_assert_int_eq(memory[2 * DISK_BLOCK - 1], 'a');
  ck_assert_int_eq(disks_annex_move(d, false, b, memory, DISK_BLOCK), 0);
  ck_assert_int_eq(memory[DISK_BLOCK - 1], 'b');
  end(1);
}
END_TEST

START_TEST(room_ends_and_comes_back) {
  struct disks_annexed all, more;
  start("unix", 1);
  ck_assert_int_eq(disks_annex_take(d, ROOM, &all), 0);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &more), -1);
  disks_annex_give(d, all, ROOM);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &more), 0);
  end(1);
}
END_TEST

START_TEST(disks_take_turns) {
  struct disks_annexed a, b, c;
  start("unix", 2);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &a), 0);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &b), 0);
  ck_assert_int_ne(a.disk, b.disk);
  disks_annex_give(d, a, DISK_BLOCK);
  disks_annex_give(d, b, DISK_BLOCK);
  /* One that is full is passed over. */
  ck_assert_int_eq(disks_annex_take(d, ROOM, &a), 0);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &b), 0);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &c), 0);
  ck_assert_int_ne(a.disk, b.disk);
  ck_assert_int_ne(a.disk, c.disk);
  end(2);
}
END_TEST

START_TEST(there_is_none_in_memory_or_without_a_grant) {
  struct disks_annexed a;
  start("mem", 1);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &a), -1);
  end(1);
  start("fault:unix,room=65536", 1);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &a), -1);
  ck_assert_int_eq(disks_annex_take(d, DISK_BLOCK, &a), -1);
  end(1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      what_is_written_is_read, room_ends_and_comes_back, disks_take_turns,
      there_is_none_in_memory_or_without_a_grant, NULL};
  return check_main("annex", tests);
}
