/* Streams that a rank's program opens: which they are is kept, and what the C
   library does with all streams is done for them. */
#define _GNU_SOURCE
#include "interpose/stdio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/self.h"
#include "check_blocks.h"
#include "check_main.h"
#include "interpose/descriptor.h"
#include "interpose/malloc.h"
#include "interpose/record_lock.h"
#include "vp/vp.h"

static struct vp vp[2];
static char dir[] = "/tmp/pems-stdio.XXXXXX", path[64];

/* All that calls here is a rank's program, with memory of its own. */
bool malloc_is_program(const void *caller) {
  return caller != NULL;
}

void malloc_keep(bool on) {
  (void)on;
}

int descriptor_take(int fd) {
  return fd;
}

void descriptor_lacks(void) {
}

void record_lock_close(int fd) {
  (void)fd;
}

bool __wrap_vp_in_job(void) {
  return true;
}

static void step(uintptr_t comm, bool moves) {
  (void)comm, (void)moves;
}

static void begin(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/file", dir);
  vp_superstep = step;
  vp[1].rank = 1;
  self.vp = &vp[0];
}

static void finish(void) {
  char command[64];
  for (int i = 0; i < 2; i++) {
    stdio_end(&vp[i]);
    ck_assert_ptr_null(vp[i].streams);
  }
  self.vp = NULL;
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

static long long size(void) {
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  return (long long)st.st_size;
}

/* The C library does not know them any more. */
START_TEST(all_streams_are_flushed) {
  begin();
  FILE *const f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  fputs("abc", f);
  ck_assert_int_eq(size(), 0);
  fflush(NULL);
  ck_assert_int_eq(size(), 3);
  fputs("d", f);
  self.vp = &vp[1]; /* which has none */
  stdio_flush();
  fflush(NULL);
  ck_assert_int_eq(size(), 3);
  self.vp = &vp[0];
  stdio_flush();
  ck_assert_int_eq(size(), 4);
  fputs("e", f);
  fflush(f);
  ck_assert_int_eq(size(), 5);
  fclose(f);
  finish();
}
END_TEST

/* What a checkpoint has of n streams is what another process flushes. */
static void turn(FILE *const *streams, int n) {
  blocks_begin();
  ck_assert_int_eq(stdio_save(&vp[0], &blocks_out, NULL), 0);
  blocks_turn();
  stdio_end(&vp[0]);
  ck_assert_int_eq(stdio_load(&vp[0], &blocks_in, NULL), 0);
  blocks_end();
  for (int i = 0; i < n; i++) {
    fputs("x", streams[i]);
  }
  const long long was = size();
  fflush(NULL);
  ck_assert_int_eq(size(), was + n);
}

START_TEST(streams_of_a_rank_are_saved) {
  enum { N = 20 }; /* the list grows */
  FILE *f[N];
  begin();
  for (int i = 0; i < N; i++) {
    f[i] = i % 3 ? fdopen(dup(fileno(f[0])), "a") : fopen(path, "a");
    ck_assert_ptr_nonnull(f[i]);
  }
  turn(f, N);
  fclose(f[3]);
  f[3] = freopen(path, "a", f[7]);
  f[7] = f[N - 1];
  turn(f, N - 1);
  for (int i = 0; i < N - 1; i++) {
    fclose(f[i]);
  }
  turn(NULL, 0);
  finish();
}
END_TEST

START_TEST(a_wide_one_is_in_the_way) {
  struct pems_error error;
  begin();
  FILE *const f = fopen(path, "w");
  ck_assert_int_eq(stdio_check(&vp[0], &error), 0);
  ck_assert_int_gt(fwide(f, 1), 0);
  ck_assert_int_eq(stdio_check(&vp[0], &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "wide characters: descriptor"));
  ck_assert_int_eq(stdio_check(&vp[1], &error), 0);
  fclose(f);
  ck_assert_int_eq(stdio_check(&vp[0], &error), 0);
  finish();
}
END_TEST

START_TEST(a_list_of_another_length_is_refused) {
  struct pems_error error;
  const uint64_t two[] = {2, 0};
  begin();
  blocks_begin();
  ck_assert_int_eq(checkpoint_put(&blocks_out, CHECKPOINT_STREAMS, 0, two,
                                  sizeof(two), NULL),
                   0);
  blocks_turn();
  ck_assert_int_eq(stdio_load(&vp[0], &blocks_in, &error), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "streams: 16 bytes"));
  ck_assert_ptr_null(vp[0].streams);
  blocks_end();
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      all_streams_are_flushed, streams_of_a_rank_are_saved,
      a_wide_one_is_in_the_way, a_list_of_another_length_is_refused, NULL};
  return check_main("stdio", tests);
}
