/* Files that ranks have mapped: each rank's lie apart from others', and are
   mapped again as they were. */
#define _GNU_SOURCE
#include "interpose/file_mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "os/pages.h"
#include "vp/vp.h"

enum { RANKS = 2, EACH = 8 * PAGE, SIZE = 3 * PAGE };

static struct vp vp[RANKS];
static char dir[] = "/tmp/pems-file-mapping.XXXXXX";
static struct pems_error error;
static uintptr_t start; /* addresses that nobody has */

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(chdir(dir), 0);
  for (int i = 0; i < RANKS; i++) {
    vp[i].rank = vp[i].index = i;
  }
  void *const p = mmap(NULL, (size_t)RANKS * EACH, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_int_eq(munmap(p, (size_t)RANKS * EACH), 0);
  start = (uintptr_t)p;
  file_mappings_start(start, (size_t)RANKS * EACH, RANKS);
  self.vp = &vp[1];
}

static void finish(void) {
  char command[64];
  for (int i = 0; i < RANKS; i++) {
    file_mappings_end(&vp[i]);
    ck_assert_ptr_null(vp[i].file_mappings);
  }
  self.vp = NULL;
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* Opens a file of SIZE bytes, in each page another letter. */
static int make(const char *name) {
  char page[PAGE];
  const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < (int)(SIZE / PAGE); i++) {
    memset(page, 'a' + i, PAGE);
    ck_assert_int_eq(write(fd, page, PAGE), PAGE);
  }
  return fd;
}

/* Maps all of it and closes it. */
static char *map(const char *name, int prot, int flags) {
  const int fd = make(name);
  char *const p = file_mapping_make(SIZE, prot, flags, fd, 0);
  close(fd);
  return p;
}

static bool is_mapped(const char *p) {
  unsigned char there;
  return mincore((void *)p, PAGE, &there) == 0;
}

static void unmap(char *p, size_t n) {
  ck_assert_int_eq(munmap(p, n), 0);
  ck_assert(file_mapping_end(p, n));
}

START_TEST(each_rank_has_its_own_place) {
  begin();
  for (int i = 0; i < RANKS; i++) {
    self.vp = &vp[i];
    char *const a = map("a", PROT_READ, MAP_PRIVATE);
    char *const b = map("b", PROT_READ | PROT_WRITE, MAP_SHARED);
    ck_assert_uint_eq((uintptr_t)a, start + (uintptr_t)i * EACH);
    ck_assert_ptr_eq(b, a + SIZE);
    ck_assert(a[0] == 'a' && a[2 * PAGE] == 'c' && b[PAGE] == 'b');
    /* There is no room for a third one, but where one was. */
    ck_assert_ptr_null(map("c", PROT_READ, MAP_PRIVATE));
    unmap(a, SIZE);
    ck_assert(!file_mapping_end(a, SIZE));
    ck_assert_ptr_eq(map("c", PROT_READ, MAP_PRIVATE), a);
  }
  finish();
  ck_assert(!is_mapped((char *)start));
}
END_TEST

START_TEST(what_would_be_lost_is_not_mapped_here) {
  int fd;
  begin();
  ck_assert_ptr_null(map("a", PROT_READ | PROT_WRITE, MAP_PRIVATE));
  ck_assert_ptr_null(map("a", PROT_READ, MAP_SHARED | MAP_LOCKED));
  ck_assert_ptr_null(map("a", PROT_READ, MAP_SHARED | MAP_FIXED));
  fd = make("gone");
  unlink("gone");
  ck_assert_ptr_null(file_mapping_make(SIZE, PROT_READ, MAP_SHARED, fd, 0));
  close(fd);
  fd = open("/dev/zero", O_RDONLY);
  ck_assert_ptr_null(file_mapping_make(SIZE, PROT_READ, MAP_SHARED, fd, 0));
  close(fd);
  /* As mmap says it. */
  fd = make("a");
  close(fd);
  fd = open("a", O_WRONLY);
  errno = 0;
  ck_assert_ptr_eq(file_mapping_make(SIZE, PROT_READ, MAP_SHARED, fd, 0),
                   MAP_FAILED);
  ck_assert_int_eq(errno, EACCES);
  close(fd);
  file_mappings_start(start, 0, RANKS);
  ck_assert_ptr_null(map("a", PROT_READ, MAP_PRIVATE));
  finish();
}
END_TEST

static void is_in_the_way(const char *what) {
  ck_assert_int_eq(file_mappings_check(&vp[1], &error), ENOTSUP);
  ck_assert_msg(strstr(error.text, what) != NULL, "%s", error.text);
}

START_TEST(what_cannot_be_mapped_again_is_named) {
  begin();
  char *const p = map("a", PROT_READ, MAP_PRIVATE);
  ck_assert_int_eq(file_mappings_check(&vp[1], &error), 0);
  unlink("a");
  is_in_the_way("removed, or replaced: ");
  close(make("a")); /* the number of a file may be used again: not here */
  close(make("b"));
  ck_assert_int_eq(rename("b", "a"), 0);
  is_in_the_way("/a");
  unmap(p, SIZE);
  char *const q = map("c", PROT_READ, MAP_PRIVATE);
  ck_assert(!file_mapping_change(q - PAGE, PAGE));
  ck_assert(!file_mapping_change(q + SIZE, PAGE));
  ck_assert_int_eq(file_mappings_check(&vp[1], &error), 0);
  unmap(q + PAGE, 1);
  is_in_the_way("changed in part: ");
  unmap(q, SIZE);
  ck_assert_int_eq(file_mappings_check(&vp[1], &error), 0);
  char *const r = map("d", PROT_READ, MAP_PRIVATE);
  ck_assert(file_mapping_change(r + SIZE - 1, 1));
  is_in_the_way("/d");
  finish();
}
END_TEST

static int note(const char *path, bool writes, bool still, void *arg) {
  char *const text = arg;
  sprintf(text + strlen(text), "%s%d%d ", strrchr(path, '/') + 1, writes,
          still);
  return path[strlen(path) - 1] == 'c';
}

START_TEST(they_are_listed) {
  char text[64] = "";
  begin();
  ck_assert_int_eq(file_mappings_each(&vp[1], note, text), 0);
  (void)map("a", PROT_READ, MAP_PRIVATE);
  (void)map("b", PROT_READ | PROT_WRITE, MAP_SHARED);
  ck_assert_int_eq(file_mappings_each(&vp[1], note, text), 0);
  ck_assert_str_eq(text, "a01 b10 ");
  const uintptr_t b = start + EACH + SIZE;
  ck_assert(file_mapping_covers(&vp[1], b, SIZE));
  ck_assert(file_mapping_covers(&vp[1], b + SIZE - 1, 1));
  ck_assert(!file_mapping_covers(&vp[1], b + SIZE - 1, 2));
  ck_assert(!file_mapping_covers(&vp[1], b - 1, 2));
  ck_assert(!file_mapping_covers(&vp[1], b - 1, 1)); /* a's */
  unmap((char *)start + EACH, SIZE);
  (void)map("c", PROT_READ, MAP_SHARED);
  text[0] = '\0';
  ck_assert_int_eq(file_mappings_each(&vp[1], note, text), 1);
  ck_assert_str_eq(text, "c00 ");
  finish();
}
END_TEST

/* In another process. */
static int load(void) {
  blocks_turn();
  const int code = file_mappings_load(&vp[1], &blocks_in, &error);
  if (!code) {
    blocks_end();
  }
  return code;
}

static void save(void) {
  blocks_begin();
  ck_assert_int_eq(file_mappings_save(&vp[1], &blocks_out, NULL), 0);
  file_mappings_end(&vp[1]);
}

START_TEST(they_are_mapped_again) {
  char path[128];
  begin();
  char *const a = map("a", PROT_READ, MAP_PRIVATE);
  const int fd = make("b");
  char *const b =
      file_mapping_make(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
  save();
  ck_assert(!is_mapped(a) && !is_mapped(b));
  ck_assert_int_eq(load(), 0);
  ck_assert(a[0] == 'a' && a[SIZE - 1] == 'c' && b[0] == 'b');
  b[1] = 'x';
  ck_assert_int_eq(pread(fd, path, 1, PAGE + 1), 1);
  ck_assert_int_eq(path[0], 'x');
  ck_assert_int_eq(file_mappings_check(&vp[1], &error), 0);
  /* It is as if they had been mapped here: */
  path[0] = '\0';
  ck_assert_int_eq(file_mappings_each(&vp[1], note, path), 0);
  ck_assert_str_eq(path, "a01 b10 ");
  ck_assert_ptr_eq(file_mapping_make(PAGE, PROT_READ, MAP_SHARED, fd, 0),
                   b + PAGE);
  close(fd);
  finish();
}
END_TEST

START_TEST(what_cannot_be_is_said) {
  begin();
  (void)map("a", PROT_READ, MAP_PRIVATE);
  save();
  unlink("a");
  ck_assert_int_eq(load(), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, "restart: rank 1: "));
  ck_assert_ptr_nonnull(strstr(error.text, "/a: No such file"));
  char *const p = map("a", PROT_READ, MAP_PRIVATE);
  save();
  ck_assert_ptr_eq(
      mmap(p, PAGE, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      p);
  ck_assert_int_eq(load(), EEXIST);
  ck_assert_ptr_nonnull(strstr(error.text, "is in use"));
  ck_assert_int_eq(munmap(p, PAGE), 0);
  /* Of a job of more ranks, say. */
  (void)map("a", PROT_READ, MAP_PRIVATE);
  save();
  file_mappings_start(start, RANKS * PAGE, RANKS);
  ck_assert_int_eq(load(), EILSEQ);
  finish();
}
END_TEST

int main(void) {
  return check_main("file_mapping",
                    (const TTest *[]){each_rank_has_its_own_place,
                                      what_would_be_lost_is_not_mapped_here,
                                      what_cannot_be_mapped_again_is_named,
                                      they_are_listed, they_are_mapped_again,
                                      what_cannot_be_is_said, NULL});
}
