/* Files of blocks: what was written is read, and nothing else. */
#include "checkpoint/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "check_main.h"
#include "os/native.h"

enum { MIB = 1 << 20, PAGE_BYTES = 4096 };

static char dir[] = "/tmp/pems-blocks.XXXXXX", path[64];
static char *memory; /* 3 MiB, whole pages */

static void make(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/file", dir);
  memory = mmap(NULL, 3 * MIB, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(memory != MAP_FAILED);
}

static void drop(void) {
  unlink(path);
  rmdir(dir);
}

/* A rank's facts of 10 bytes, and memory. */
static struct checkpoint_sum write_file(void) {
  struct checkpoint_out o;
  struct checkpoint_sum sum;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(
      checkpoint_put(&o, CHECKPOINT_RANK, 5, "0123456789", 10, NULL), 0);
  ck_assert_int_eq(checkpoint_put_memory(&o, memory, 3 * MIB, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
  return sum;
}

START_TEST(memory_is_kept_without_zeros) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  static char copy[3 * MIB], to[MIB];
  make();
  memset(memory + PAGE_BYTES, 1, 2 * MIB - PAGE_BYTES);
  memory[3 * MIB - 1] = 2;
  const struct checkpoint_sum sum = write_file();
  ck_assert_uint_lt(sum.bytes, 2 * MIB + 2 * PAGE_BYTES);
  ck_assert_int_eq(checkpoint_look(path, &sum, NULL), 0);
  ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), 0);
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  ck_assert_int_eq(b.kind, CHECKPOINT_RANK);
  ck_assert_uint_eq(b.at, 5);
  ck_assert_uint_eq(b.n, 10);
  ck_assert_int_eq(checkpoint_get(&in, &b, to, NULL), 0);
  ck_assert_mem_eq(to, "0123456789", 10);
  while (checkpoint_next(&in, &b, NULL) == 0 && b.kind != CHECKPOINT_END) {
    ck_assert_int_eq(b.kind, CHECKPOINT_MEMORY);
    const size_t at = b.at - (uintptr_t)memory;
    ck_assert_uint_le(at + b.n, sizeof(copy));
    ck_assert_int_eq(checkpoint_get(&in, &b, copy + at, NULL), 0);
  }
  ck_assert_int_eq(b.kind, CHECKPOINT_END);
  ck_assert_mem_eq(copy, memory, 3 * MIB);
  checkpoint_shut(&in);
  drop();
}
END_TEST

static int synced = -1; /* the last file that was, at that length: */
static off_t length;

int __wrap_fdatasync(int fd) {
  synced = fd;
  length = lseek(fd, 0, SEEK_END);
  return length >= 0 ? 0 : -1;
}

START_TEST(all_of_it_is_synced_at_its_end) {
  struct checkpoint_out o;
  struct checkpoint_sum sum;
  make();
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 0, "x", 1, NULL), 0);
  ck_assert_int_eq(synced, -1);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  ck_assert_int_eq(synced, o.fd);
  ck_assert_int_eq(length, (off_t)sum.bytes);
  checkpoint_close(&o);
  drop();
}
END_TEST

/* Each byte of a file counts, and each length. */
START_TEST(changes_are_found) {
  make();
  memory[7] = 1;
  const struct checkpoint_sum sum = write_file();
  const int fd = open(path, O_RDWR);
  struct pems_error error;
  for (uint64_t i = 0; i < sum.bytes;
       i += i < 200 || i + 100 > sum.bytes ? 1 : 97) {
    char byte, other;
    ck_assert_int_eq(pread(fd, &byte, 1, (off_t)i), 1);
    other = (char)(byte ^ 4);
    ck_assert_int_eq(pwrite(fd, &other, 1, (off_t)i), 1);
    ck_assert_msg(checkpoint_verify(path, &sum, &error) == EILSEQ, "byte %d",
                  (int)i);
    ck_assert_ptr_nonnull(strstr(error.text, path));
    /* And without a manifest, by sums that are in the file. */
    ck_assert_msg(checkpoint_verify(path, NULL, NULL) == EILSEQ, "byte %d",
                  (int)i);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)i), 1);
  }
  ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), 0);
  for (off_t n = (off_t)sum.bytes - 1; n >= 0; n -= n > 100 ? 61 : 1) {
    ck_assert_int_eq(ftruncate(fd, n), 0);
    ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), EILSEQ);
    ck_assert_int_eq(checkpoint_look(path, &sum, NULL), EILSEQ);
  }
  close(fd);
  drop();
}
END_TEST

/* A file that is whole but for a block in its midst. */
START_TEST(a_block_that_is_missing_is_found) {
  static char all[4 * PAGE_BYTES];
  struct pems_error error;
  make();
  memory[7] = memory[2 * PAGE_BYTES + 7] = 1;
  const struct checkpoint_sum sum = write_file();
  const size_t head = (sum.bytes - 10 - 2 * PAGE_BYTES) / 4;
  const size_t first = head + 10, block = head + PAGE_BYTES;
  const int fd = open(path, O_RDWR);
  ck_assert_int_eq(read(fd, all, sizeof(all)), (ssize_t)sum.bytes);
  ck_assert_int_eq(pwrite(fd, all + first + block, block + head, (off_t)first),
                   (ssize_t)(block + head));
  ck_assert_int_eq(ftruncate(fd, (off_t)(sum.bytes - block)), 0);
  close(fd);
  ck_assert_int_eq(checkpoint_verify(path, NULL, &error), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "lacks blocks"));
  drop();
}
END_TEST

START_TEST(another_kind_is_not_taken) {
  struct checkpoint_in in;
  struct pems_error error;
  void *bytes;
  size_t n;
  make();
  (void)write_file();
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_take(&in, CHECKPOINT_RANK, &bytes, &n, NULL), 0);
  ck_assert_uint_eq(n, 10);
  ck_assert_mem_eq(bytes, "0123456789", 10);
  native_free(bytes);
  checkpoint_shut(&in);
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_take(&in, CHECKPOINT_NAMES, &bytes, &n, &error),
                   EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "something else"));
  checkpoint_shut(&in);
  drop();
}
END_TEST

START_TEST(another_file_is_found) {
  make();
  memory[7] = 1;
  const struct checkpoint_sum sum = write_file();
  memory[7] = 2;
  (void)write_file();
  ck_assert_int_eq(checkpoint_look(path, &sum, NULL), 0);
  ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), EILSEQ);
  unlink(path);
  ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), ENOENT);
  drop();
}
END_TEST

START_TEST(more_is_added_to_what_was_finished) {
  struct checkpoint_out o;
  struct checkpoint_sum sum, before;
  struct checkpoint_in in;
  struct checkpoint_block b;
  char to[8];
  make();
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 1, "one", 3, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &before, NULL), 0);
  const struct checkpoint_tail tail = o.tail;
  checkpoint_close(&o);
  ck_assert_int_eq(checkpoint_verify(path, &before, NULL), 0);
  ck_assert_int_eq(checkpoint_create_more(&o, path, &tail, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_NAMES, 2, "two", 3, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
  ck_assert_int_eq(checkpoint_look(path, &sum, NULL), 0);
  ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), 0);
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  ck_assert_int_eq(checkpoint_get(&in, &b, to, NULL), 0);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  ck_assert_int_eq(b.kind, CHECKPOINT_NAMES);
  ck_assert_int_eq(checkpoint_get(&in, &b, to, NULL), 0);
  ck_assert_mem_eq(to, "two", 3);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  ck_assert_int_eq(b.kind, CHECKPOINT_END);
  checkpoint_shut(&in);
  drop();
  ck_assert_int_eq(checkpoint_create_more(&o, path, &tail, NULL), ENOENT);
}
END_TEST

#if !defined __SANITIZE_THREAD__
static atomic_bool written;

static void *change(void *arg) {
  (void)arg;
  for (char c = 1; !written; c++) {
    memset(memory, c, MIB);
  }
  return NULL;
}

/* Whatever is read of memory that another thread writes to: the sum is of
   that. */
START_TEST(memory_may_change_meanwhile) {
  pthread_t thread;
  make();
  ck_assert_int_eq(pthread_create(&thread, NULL, change, NULL), 0);
  for (int i = 0; i < 100; i++) {
    struct checkpoint_out o;
    struct checkpoint_sum sum;
    ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
    ck_assert_int_eq(checkpoint_put_changing(&o, NULL), 0);
    ck_assert_int_eq(checkpoint_put_memory(&o, memory, MIB, NULL), 0);
    ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
    checkpoint_close(&o);
    ck_assert_int_eq(checkpoint_verify(path, &sum, NULL), 0);
  }
  written = true;
  pthread_join(thread, NULL);
  drop();
}
END_TEST
#endif

static struct checkpoint_sum piped;

static void *write_to_pipe(void *arg) {
  struct checkpoint_out o;
  (void)arg;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put_memory(&o, memory, 3 * MIB, NULL), 0);
  for (int i = 0; i < 50; i++) {
    usleep(1000);
    ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_NAMES, 0, "x", 1, NULL), 0);
  }
  /* A pipe cannot be synced. */
  ck_assert_int_eq(checkpoint_finish(&o, &piped, NULL), ESPIPE);
  checkpoint_close(&o);
  return NULL;
}

static void nothing(int number) {
  (void)number;
}

/* Through a pipe: first who writes waits, for he is faster, and has written
   some when a signal comes; then who reads does. */
START_TEST(signals_and_short_writes_change_nothing) {
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
  const struct sigaction action = {.sa_handler = nothing};
  struct checkpoint_in in;
  struct checkpoint_block b;
  static char to[MIB];
  pthread_t thread;
  sigset_t alarm;
  make();
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  for (size_t i = 0; i < 3 * MIB; i++) {
    memory[i] = (char)(i % 255 + 1);
  }
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigaction(SIGALRM, &action, NULL);
  ck_assert_int_eq(pthread_create(&thread, NULL, write_to_pipe, NULL), 0);
  /* checkpoint_open refuses pipes. */
  in = (struct checkpoint_in){.fd = open(path, O_RDONLY)};
  ck_assert_int_ge(in.fd, 0);
  pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* they are for the other one */
  setitimer(ITIMER_REAL, &often, NULL);
  do {
    usleep(2000);
    ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
    ck_assert_int_eq(checkpoint_get(&in, &b, to, NULL), 0);
  } while (b.kind == CHECKPOINT_MEMORY);
  pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
  do {
    ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
    ck_assert_int_eq(b.n ? checkpoint_get(&in, &b, to, NULL) : 0, 0);
  } while (b.kind != CHECKPOINT_END);
  setitimer(ITIMER_REAL, &never, NULL);
  pthread_join(thread, NULL);
  ck_assert_uint_eq(in.sum.sum, piped.sum);
  ck_assert_uint_eq(in.sum.bytes, piped.bytes);
  checkpoint_shut(&in);
  drop();
}
END_TEST

START_TEST(errors_of_the_disk_are_told) {
  struct checkpoint_out o;
  struct checkpoint_sum sum;
  struct pems_error error;
  make();
  ck_assert_int_eq(checkpoint_create(&o, "/dev/full", &error), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 0, "x", 1, &error),
                   ENOSPC);
  ck_assert_ptr_nonnull(strstr(error.text, "/dev/full"));
  checkpoint_close(&o);
  setenv("PEMS_TEST_CHECKPOINT", "eio:3", 1);
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 0, "x", 1, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), EIO);
  checkpoint_close(&o);
  drop();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    memory_is_kept_without_zeros,
    all_of_it_is_synced_at_its_end,
    changes_are_found,
    a_block_that_is_missing_is_found,
    another_kind_is_not_taken,
    another_file_is_found,
    more_is_added_to_what_was_finished,
#if !defined __SANITIZE_THREAD__
    memory_may_change_meanwhile,
#endif
    signals_and_short_writes_change_nothing,
    errors_of_the_disk_are_told,
    NULL
  };
  return check_main("blocks", tests);
}
