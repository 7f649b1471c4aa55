/* Mappings of one thread come where they are to, and nothing else changes. */
#define _GNU_SOURCE
#include "os/guided.h"

#include "check_main.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEN = 1 << 16 };

static void *const place = (void *)((uintptr_t)5 << 44);
static int fd;

/* False: not with this kernel, or in this build. */
static bool begins(void) {
  const int code = guided_begin(place);
  if (code) {
    printf("SKIP: system calls cannot be caught: %s\n", strerror(code));
  }
  return code == 0;
}

static void open_file(void) {
  fd = memfd_create("guided", MFD_CLOEXEC);
  ck_assert_int_eq(ftruncate(fd, LEN), 0);
  ck_assert_int_eq(pwrite(fd, "text", 4, 0), 4);
}

static void *map(int of, int prot, int flags) {
  return mmap(NULL, LEN, prot, MAP_PRIVATE | flags, of, 0);
}

START_TEST(the_first_file_comes_there) {
  open_file();
  if (!begins()) {
    return;
  }
  const pid_t me = getpid();
  void *const other = map(-1, PROT_READ | PROT_WRITE, MAP_ANONYMOUS);
  void *const first = map(fd, PROT_READ, 0);
  void *const second = map(fd, PROT_READ, 0);
  ck_assert_int_eq(guided_end(), 0);
  ck_assert_ptr_eq(first, place);
  ck_assert_int_eq(memcmp(first, "text", 4), 0);
  ck_assert_ptr_ne(other, MAP_FAILED);
  ck_assert_ptr_ne(second, MAP_FAILED);
  ck_assert_int_eq(me, getpid());
  munmap(first, LEN);
  ck_assert_ptr_ne(map(fd, PROT_READ, 0), place);
}
END_TEST

START_TEST(so_do_addresses_for_one) {
  if (!begins()) {
    return;
  }
  void *const p = map(-1, PROT_NONE, MAP_ANONYMOUS);
  ck_assert_int_eq(guided_end(), 0);
  ck_assert_ptr_eq(p, place);
}
END_TEST

START_TEST(what_is_there_stays) {
  open_file();
  char *const there = mmap(place, LEN, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  *there = 'x';
  if (!begins()) {
    return;
  }
  const void *const p = map(fd, PROT_READ, 0);
  const int reason = errno;
  ck_assert_int_eq(guided_end(), EEXIST);
  ck_assert_ptr_eq(p, MAP_FAILED);
  ck_assert_int_eq(reason, EEXIST);
  ck_assert_int_eq(*there, 'x');
}
END_TEST

START_TEST(without_a_file_it_says_so) {
  if (begins()) {
    (void)getpid();
    ck_assert_int_eq(guided_end(), ENOENT);
  }
}
END_TEST

START_TEST(a_library_comes_there) {
  char path[4096];
  struct link_map *map;
  void *handle = dlopen("libresolv.so.2", RTLD_NOW);
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
    printf("SKIP: there is no libresolv\n");
    return;
  }
  snprintf(path, sizeof(path), "%s", map->l_name);
  dlclose(handle);
  if (!begins()) {
    return;
  }
  handle = dlopen(path, RTLD_NOW);
  ck_assert_int_eq(guided_end(), 0);
  ck_assert_ptr_nonnull(handle);
  ck_assert_int_eq(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  ck_assert_ptr_eq((void *)map->l_addr, place);
  ck_assert_ptr_nonnull(dlsym(handle, "ns_name_pton"));
}
END_TEST

static volatile int signals;

/* Makes a system call itself. */
static void count(int number) {
  signals += number == SIGUSR1 && getppid() != 0;
}

START_TEST(handlers_of_signals_run_as_ever) {
  sigset_t all, now;
  open_file();
  signal(SIGUSR1, count);
  sigemptyset(&all);
  sigaddset(&all, SIGSYS);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (!begins()) {
    return;
  }
  raise(SIGUSR1);
  raise(SIGUSR1);
  const void *const p = map(fd, PROT_READ, 0);
  ck_assert_int_eq(guided_end(), 0);
  ck_assert_int_eq(signals, 2);
  ck_assert_ptr_eq(p, place);
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  ck_assert(sigismember(&now, SIGSYS)); /* as it was */
}
END_TEST

static _Atomic int turn;

static void *map_in_turn(void *arg) {
  (void)arg;
  while (turn != 1) {
    sched_yield();
  }
  void *const p = map(fd, PROT_READ, 0);
  turn = 2;
  return p;
}

START_TEST(other_threads_map_where_they_like) {
  pthread_t other;
  void *p;
  open_file();
  pthread_create(&other, NULL, map_in_turn, NULL);
  const bool caught = begins();
  turn = 1;
  while (turn != 2) {
    sched_yield();
  }
  if (caught) {
    const void *const mine = map(fd, PROT_READ, 0);
    ck_assert_int_eq(guided_end(), 0);
    ck_assert_ptr_eq(mine, place);
  }
  pthread_join(other, &p);
  ck_assert_ptr_ne(p, MAP_FAILED);
  ck_assert_ptr_ne(p, place);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {the_first_file_comes_there,
                                so_do_addresses_for_one,
                                what_is_there_stays,
                                without_a_file_it_says_so,
                                a_library_comes_there,
                                handlers_of_signals_run_as_ever,
                                other_threads_map_where_they_like,
                                NULL};
  return check_main("guided", tests);
}
