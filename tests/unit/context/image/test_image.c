/* Copies of the programs in tests/unit/image, built by the Makefile into the
   directory $PEMS_TEST_IMAGES. */
#define _GNU_SOURCE
#include "check_main.h"
#include "context/image/image.h"
#include "image/image_test.h"

#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pems_error error;

static const char *image_path(const char *name) {
  static char path[PATH_MAX];
  const char *dir = getenv("PEMS_TEST_IMAGES");
  snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
  return path;
}

static struct image_file *open_image(const char *name) {
  struct image_file *f;
  ck_assert_msg(image_open(&f, image_path(name), &error) == 0, "%s",
                error.text);
  return f;
}

static void load(struct image *img, const struct image_file *f, int rank) {
  ck_assert_msg(image_load(img, f, rank, NULL, &error) == 0, "%s", error.text);
}

static void end(struct image *img) {
  image_destruct(img);
  image_unload(img);
}

static char *env[] = {"ONE=1", NULL};

/* Constructs the copy and runs main, which fills *facts. */
static void start(const struct image *img, void *facts) {
  char *argv[] = {"program", facts, NULL};
  image_construct(img, 2, argv, env);
  ck_assert_int_eq(image_main(img, 2, argv, env), MAIN_RETURNS);
}

/* The line of /proc/self/maps that `p` is in. */
static bool find_mapping(const void *p, char *line, size_t size) {
  FILE *maps = fopen("/proc/self/maps", "re");
  unsigned long low, high;
  bool found = false;
  while (!found && fgets(line, (int)size, maps)) {
    found = sscanf(line, "%lx-%lx", &low, &high) == 2 && (uintptr_t)p >= low &&
            (uintptr_t)p < high;
  }
  fclose(maps);
  return found;
}

static size_t resident(const char *p, size_t len) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  for (size_t at = 0; at < len; at += page) {
    uint64_t entry = 0;
    const off_t where = (off_t)((uintptr_t)(p + at) / page * sizeof(entry));
    ck_assert(pread(fd, &entry, sizeof(entry), where) == sizeof(entry));
    n += entry >> 63;
  }
  close(fd);
  return n * page;
}

static int count_fds(void) {
  DIR *d = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(d)) {
    n++;
  }
  closedir(d);
  return n;
}

START_TEST(copies_have_variables_of_their_own) {
  struct image_file *f = open_image("globals");
  struct image img[2];
  struct globals g[2] = {{0}, {0}};
  for (int i = 0; i < 2; i++) {
    load(&img[i], f, i);
    start(&img[i], &g[i]);
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(*g[i].initialised, 7);
    ck_assert_ptr_eq(*g[i].relocated, g[i].initialised);
    ck_assert_int_eq(*g[i].zero, 0);
    for (int j = 0; j < FILLED; j++) {
      ck_assert_int_eq(g[i].filled[j], j);
    }
    for (int j = 1; j <= 3; j++) {
      ck_assert_int_eq(g[i].count(), j);
    }
    ck_assert_int_eq(g[i].constructor_argc, 2);
    ck_assert_ptr_eq(g[i].constructor_envp, env);
    *g[i].initialised = 100 + i;
    g[i].big[BIG - 1] = (char)(1 + i);
    *g[i].tls() += i;
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(*g[i].initialised, 100 + i);
    ck_assert_int_eq(g[i].big[BIG - 1], 1 + i);
    ck_assert_int_eq(*g[i].tls(), 5 + i);
    ck_assert_uint_eq(img[i].data_len, image_data_len(f));
    ck_assert((char *)g[i].initialised >= img[i].data);
    ck_assert(g[i].big + BIG <= img[i].data + img[i].data_len);
    end(&img[i]);
  }
  image_close(f);
}
END_TEST

START_TEST(constructors_and_handlers_run_in_order_and_once) {
  struct image_file *f = open_image("globals");
  struct image img;
  struct globals g = {0};
  load(&img, f, 0);
  start(&img, &g);
  ck_assert_str_eq(g.order, "abm");
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abmzyxYZ");
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abmzyxYZ");
  end(&img);
  image_close(f);
}
END_TEST

static void *destruct(void *img) {
  image_destruct(img);
  return img;
}

START_TEST(destruction_goes_on_after_a_handler_left) {
  struct image_file *f = open_image("globals");
  struct image img;
  struct globals g = {.leave = 1};
  pthread_t thread;
  void *returned;
  load(&img, f, 0);
  start(&img, &g);
  pthread_create(&thread, NULL, destruct, &img);
  pthread_join(thread, &returned);
  ck_assert_ptr_null(returned);
  ck_assert_str_eq(g.order, "abmzy");
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abmzyxYZ");
  end(&img);
  image_close(f);
}
END_TEST

START_TEST(nothing_is_destructed_before_it_is_constructed) {
  struct image_file *f = open_image("globals");
  struct image img, other;
  struct globals g = {0};
  load(&img, f, 0);
  image_destruct(&img);
  load(&other, f, 1);
  start(&other, &g);
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abm");
  end(&img);
  end(&other);
  image_close(f);
}
END_TEST

START_TEST(data_is_one_anonymous_mapping_and_text_is_the_files) {
  struct image_file *f = open_image("globals");
  struct image img;
  struct globals g = {0};
  char line[PATH_MAX + 128], *path = realpath(image_path("globals"), NULL);
  unsigned long low, high, inode;
  char flags[5];
  load(&img, f, 0);
  start(&img, &g);
  ck_assert(find_mapping(img.data, line, sizeof(line)));
  ck_assert_int_eq(
      sscanf(line, "%lx-%lx %4s %*x %*s %lu", &low, &high, flags, &inode), 4);
  ck_assert(low <= (uintptr_t)img.data);
  ck_assert(high >= (uintptr_t)img.data + img.data_len);
  ck_assert_str_eq(flags, "rw-p");
  ck_assert_uint_eq(inode, 0);
  ck_assert(find_mapping((void *)(uintptr_t)g.count, line, sizeof(line)));
  ck_assert_ptr_nonnull(strstr(line, "r-xp"));
  ck_assert_ptr_nonnull(strstr(line, path));
  ck_assert((char *)(uintptr_t)g.count >= img.text &&
            (char *)(uintptr_t)g.count < img.text + img.text_len);
  for (char *p = img.text; p < img.text + img.text_len; p += 4096) {
    if (find_mapping(p, line, sizeof(line))) {
      ck_assert_ptr_null(strstr(line, "memfd"));
    }
  }
  Dl_info info;
  ck_assert(dladdr((void *)(uintptr_t)g.count, &info) != 0);
  ck_assert_str_eq(info.dli_fname, path);
  end(&img);
  image_close(f);
  free(path);
}
END_TEST

START_TEST(large_bss_stays_untouched_and_data_can_be_swapped) {
  struct image_file *f = open_image("globals");
  struct image img;
  struct globals g = {0};
  load(&img, f, 0);
  start(&img, &g);
  ck_assert_uint_lt(resident(img.data, img.data_len), 2 << 20);
  g.big[12345] = 9;
  *g.zero = 77;
  char *disk = malloc(img.data_len);
  memcpy(disk, img.data, img.data_len);
  madvise(img.data, img.data_len, MADV_DONTNEED);
  ck_assert_int_eq(*g.zero, 0);
  memcpy(img.data, disk, img.data_len);
  free(disk);
  ck_assert_int_eq(*g.zero, 77);
  ck_assert_int_eq(g.big[12345], 9);
  ck_assert_int_eq(g.filled[FILLED - 1], FILLED - 1);
  ck_assert_int_eq(g.count(), 1);
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abmzyxYZ");
  end(&img);
  image_close(f);
}
END_TEST

/* ld.so works with a copy whose data is away. */
START_TEST(others_are_loaded_while_one_is_swapped_out) {
  struct image_file *f = open_image("globals");
  struct image img, other;
  struct globals g = {0};
  load(&img, f, 0);
  start(&img, &g);
  char *disk = malloc(img.data_len);
  memcpy(disk, img.data, img.data_len);
  mmap(img.data, img.data_len, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  load(&other, f, 1);
  struct globals h = {0};
  start(&other, &h);
  image_destruct(&other);
  end(&other);
  ck_assert_ptr_nonnull(dlsym(img.handle, "pems_image"));
  mprotect(img.data, img.data_len, PROT_READ | PROT_WRITE);
  memcpy(img.data, disk, img.data_len);
  free(disk);
  image_destruct(&img);
  ck_assert_str_eq(g.order, "abmzyxYZ");
  end(&img);
  image_close(f);
}
END_TEST

enum { MANY = 1100 };

START_TEST(many_copies_with_few_descriptors) {
  const struct rlimit few = {40, 40};
  static struct image img[MANY];
  static struct globals g[MANY];
  struct image_file *f = open_image("globals");
  const int fds = count_fds();
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int i = 0; i < MANY; i++) {
    load(&img[i], f, i);
    start(&img[i], &g[i]);
    *g[i].initialised = i;
  }
  for (int i = 0; i < MANY; i++) {
    ck_assert_int_eq(*g[i].initialised, i);
    ck_assert_int_eq(*g[i].tls(), 5);
    image_destruct(&img[i]);
    ck_assert_str_eq(g[i].order, "abmzyxYZ");
  }
  ck_assert_int_eq(count_fds(), fds);
  for (int i = 0; i < MANY; i++) {
    end(&img[i]);
  }
  image_close(f);
}
END_TEST

struct vp {
  struct image img;
  struct globals g;
  pthread_t thread;
  int *tls;
  int seen;
};

static pthread_barrier_t all_there;

static void *run_vp(void *arg) {
  struct vp *vp = arg;
  start(&vp->img, &vp->g);
  vp->tls = vp->g.tls();
  vp->seen = (*vp->tls)++;
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < 1000; i++) {
    vp->g.count();
  }
  image_destruct(&vp->img);
  return NULL;
}

START_TEST(every_thread_runs_its_copy) {
  enum { VPS = 64 };
  static struct vp vp[VPS];
  struct image_file *f = open_image("globals");
  pthread_barrier_init(&all_there, NULL, VPS);
  for (int i = 0; i < VPS; i++) {
    load(&vp[i].img, f, i);
  }
  for (int i = 0; i < VPS; i++) {
    pthread_create(&vp[i].thread, NULL, run_vp, &vp[i]);
  }
  for (int i = 0; i < VPS; i++) {
    pthread_join(vp[i].thread, NULL);
  }
  for (int i = 0; i < VPS; i++) {
    ck_assert_int_eq(vp[i].seen, 5);
    ck_assert_int_eq(vp[i].g.count(), 1001);
    ck_assert_str_eq(vp[i].g.order, "abmzyxYZ");
    for (int j = 0; j < i; j++) {
      ck_assert_ptr_ne(vp[i].tls, vp[j].tls);
    }
  }
  image_close(f);
}
END_TEST

START_TEST(cxx_objects_are_private) {
  if (access(image_path("objects"), R_OK) != 0) {
    printf("skipped: no C++ compiler built %s\n", image_path("objects"));
    return;
  }
  struct image_file *f = open_image("objects");
  struct image img[2];
  int destroyed[2] = {0, 0};
  struct objects o[2] = {{.destroyed = &destroyed[0]},
                         {.destroyed = &destroyed[1]}};
  for (int i = 0; i < 2; i++) {
    load(&img[i], f, i);
    start(&img[i], &o[i]);
    ck_assert_int_eq(o[i].constructed, 2);
    ck_assert_int_eq(*o[i].inline_variable, 11);
    ck_assert_int_eq(*o[i].template_static, 12);
    ck_assert_int_eq(o[i].caught, 1);
    ck_assert_str_eq(o[i].text,
                     "a text too long to be kept within the string itself");
    *o[i].inline_variable = *o[i].template_static = 0;
  }
  image_destruct(&img[1]);
  ck_assert_int_eq(destroyed[0], 0);
  ck_assert_int_eq(destroyed[1], 2);
  image_destruct(&img[0]);
  ck_assert_int_eq(destroyed[0], 2);
  image_close(f);
}
END_TEST

START_TEST(a_named_copy_leaves_no_file) {
  char dir[] = "/tmp/pems-test-XXXXXX", line[PATH_MAX + 128];
  struct image_file *f = open_image("globals");
  struct image img[2];
  struct globals g[2] = {{0}};
  ck_assert_ptr_nonnull(mkdtemp(dir));
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(image_load(&img[i], f, 3, dir, &error), 0);
    start(&img[i], &g[i]);
    ck_assert(find_mapping((void *)(uintptr_t)g[i].count, line, sizeof(line)));
    ck_assert_ptr_nonnull(strstr(line, dir));
    ck_assert_int_eq(g[i].count(), 1);
  }
  ck_assert_int_eq(rmdir(dir), 0); /* so it is empty */
  end(&img[0]);
  end(&img[1]);
  ck_assert_int_eq(image_load(&img[0], f, 3, dir, &error), ENOENT);
  ck_assert_ptr_nonnull(strstr(error.text, dir));
  image_close(f);
}
END_TEST

/* What ld.so calls them is the original, and debuggers can open that. */
START_TEST(the_names_of_copies_are_the_original_s) {
  struct image_file *f = open_image("globals");
  struct stat original, named;
  struct image img[2];
  ck_assert_int_eq(stat(image_path("globals"), &original), 0);
  for (int i = 0; i < 2; i++) {
    struct link_map *map;
    load(&img[i], f, i);
    ck_assert_int_eq(dlinfo(img[i].handle, RTLD_DI_LINKMAP, &map), 0);
    ck_assert_int_eq(stat(map->l_name, &named), 0);
    ck_assert(named.st_ino == original.st_ino);
  }
  ck_assert_ptr_ne(img[0].handle, img[1].handle);
  image_unload(&img[0]);
  image_unload(&img[1]);
  image_close(f);
}
END_TEST

START_TEST(a_copy_can_be_unloaded_and_loaded_again) {
  struct image_file *f = open_image("globals");
  char line[PATH_MAX + 128];
  for (int i = 0; i < 100; i++) {
    struct image img;
    struct globals g = {0};
    load(&img, f, 0);
    start(&img, &g);
    ck_assert_int_eq(g.count(), 1);
    image_destruct(&img);
    end(&img);
    ck_assert(!find_mapping(img.data, line, sizeof(line)));
  }
  image_close(f);
}
END_TEST

START_TEST(out_of_descriptors_is_an_error) {
  struct image_file *f = open_image("globals");
  struct image img;
  const int next = dup(0);
  close(next);
  const struct rlimit none = {(rlim_t)next, (rlim_t)next};
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  ck_assert_int_eq(image_load(&img, f, 0, NULL, &error), EMFILE);
  ck_assert_ptr_nonnull(strstr(error.text, "Too many open files"));
  image_close(f);
}
END_TEST

/* The file itself can be run; only the runtime starts. */
START_TEST(run_by_itself_it_starts_the_runtime_only) {
  int out[2], status;
  char text[256] = "";
  ck_assert_int_eq(pipe(out), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], 1);
    execl(image_path("globals"), "globals", "one", NULL);
    _exit(127);
  }
  close(out[1]);
  size_t n = 0;
  for (ssize_t got; (got = read(out[0], text + n, sizeof(text) - 1 - n)) > 0;) {
    n += (size_t)got;
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 12);
  ck_assert_str_eq(text, "base\n");
}
END_TEST

/* --- files that are no programs of ours ------------------------------------
 */

static void refused(const char *path, int code, const char *because) {
  struct image_file *f;
  error.text[0] = '\0';
  ck_assert_int_eq(image_check(path, &error), code);
  ck_assert_msg(strstr(error.text, because), "%s", error.text);
  error.text[0] = '\0';
  ck_assert_int_eq(image_open(&f, path, &error), code);
  ck_assert_msg(strstr(error.text, because), "%s", error.text);
  ck_assert_ptr_null(f);
}

START_TEST(foreign_files_are_refused) {
  const int fds = count_fds();
  refused("/proc/self/exe", ENOEXEC, "not built with pemscc");
  refused("/bin/sh", ENOEXEC, "not built with pemscc: /bin/sh");
  refused("/proc/self/maps", ENOEXEC, "not built with pemscc");
  refused("/no/such/file", ENOENT, "/no/such/file: No such file");
  refused("/tmp", EINVAL, "not a file");
  refused("/dev/null", EINVAL, "not a file");
  char dir[] = "/tmp/pems-test-XXXXXX", path[64];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/fifo", dir);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  refused(path, EINVAL, "not a file");
  unlink(path);
  rmdir(dir);
  ck_assert_int_eq(count_fds(), fds);
  ck_assert_int_eq(image_check(image_path("globals"), &error), 0);
}
END_TEST

struct victim {
  char *bytes;
  size_t len;
  int fd;
  char path[64];
};

static void read_victim(struct victim *v) {
  struct stat st;
  const int fd = open(image_path("globals"), O_RDONLY | O_CLOEXEC);
  ck_assert_int_eq(fstat(fd, &st), 0);
  v->len = (size_t)st.st_size;
  v->bytes = malloc(v->len);
  ck_assert_int_eq(read(fd, v->bytes, v->len), (ssize_t)v->len);
  close(fd);
  v->fd = memfd_create("victim", MFD_CLOEXEC);
  ck_assert_int_eq(pwrite(v->fd, v->bytes, v->len, 0), (ssize_t)v->len);
  snprintf(v->path, sizeof(v->path), "/proc/self/fd/%d", v->fd);
}

/* Opens the damaged file; a refusal needs a reason. Returns success. */
static bool survive(const struct victim *v) {
  struct image_file *f;
  error.text[0] = '\0';
  const int checked = image_check(v->path, &error);
  ck_assert(checked == 0 || error.text[0]);
  error.text[0] = '\0';
  const int opened = image_open(&f, v->path, &error);
  ck_assert(opened == 0 || error.text[0]);
  ck_assert(checked == 0 || opened != 0);
  image_close(f);
  return opened == 0;
}

static void damage(const struct victim *v, size_t from, size_t len) {
  static const unsigned char masks[] = {0x01, 0x80, 0xff, 0x40};
  for (size_t at = from; at < from + len; at++) {
    for (size_t i = 0; i < sizeof(masks); i++) {
      const char bad = (char)(v->bytes[at] ^ masks[i]);
      pwrite(v->fd, &bad, 1, (off_t)at);
      survive(v);
      pwrite(v->fd, v->bytes + at, 1, (off_t)at);
    }
  }
}

START_TEST(damaged_headers_never_crash) {
  struct victim v;
  read_victim(&v);
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)v.bytes;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(v.bytes + h->e_phoff);
  damage(&v, 0, h->e_phoff + h->e_phnum * sizeof(*p));
  for (int i = 0; i < h->e_phnum; i++) {
    if (p[i].p_type == PT_NOTE || p[i].p_type == PT_DYNAMIC) {
      damage(&v, p[i].p_offset, p[i].p_filesz);
    }
  }
  ck_assert(survive(&v));
  free(v.bytes);
  close(v.fd);
}
END_TEST

/* Many bytes wrong at once. */
START_TEST(random_headers_never_crash) {
  struct victim v;
  read_victim(&v);
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)v.bytes;
  const size_t len = h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr);
  char *bad = malloc(len);
  unsigned short seed[3] = {1, 2, 3};
  for (int round = 0; round < 3000; round++) {
    memcpy(bad, v.bytes, len);
    for (int i = 0; i < 1 + round % 8; i++) {
      const size_t at = h->e_phoff + (size_t)nrand48(seed) % (len - h->e_phoff);
      bad[at] = (char)nrand48(seed);
    }
    pwrite(v.fd, bad, len, 0);
    survive(&v);
  }
  free(bad);
  free(v.bytes);
  close(v.fd);
}
END_TEST

START_TEST(truncated_files_are_refused) {
  struct victim v;
  read_victim(&v);
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)v.bytes;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(v.bytes + h->e_phoff);
  size_t needed = 0;
  for (int i = 0; i < h->e_phnum; i++) {
    if (p[i].p_filesz && p[i].p_offset + p[i].p_filesz > needed) {
      needed = p[i].p_offset + p[i].p_filesz;
    }
  }
  for (size_t len = needed; len-- > 0;) {
    if (len > 2048) {
      len -= len % 97;
    }
    ck_assert_int_eq(ftruncate(v.fd, (off_t)len), 0);
    ck_assert_msg(!survive(&v), "accepted %zu of %zu bytes", len, needed);
  }
  free(v.bytes);
  close(v.fd);
}
END_TEST

/* Copies allocate with libc here, and what they keep LeakSanitizer cannot see:
   their data is no module's any more. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *
__asan_default_options(void) {
  return "detect_leaks=0";
}

int main(void) {
  Suite *suite = suite_create("image");
  TCase *copies = tcase_create("copies"), *files = tcase_create("files");
  tcase_set_timeout(copies, 60);
  tcase_set_timeout(files, 60);
  tcase_add_test(copies, copies_have_variables_of_their_own);
  tcase_add_test(copies, constructors_and_handlers_run_in_order_and_once);
  tcase_add_test(copies, destruction_goes_on_after_a_handler_left);
  tcase_add_test(copies, nothing_is_destructed_before_it_is_constructed);
  tcase_add_test(copies, data_is_one_anonymous_mapping_and_text_is_the_files);
  tcase_add_test(copies, large_bss_stays_untouched_and_data_can_be_swapped);
  tcase_add_test(copies, others_are_loaded_while_one_is_swapped_out);
  tcase_add_test(copies, many_copies_with_few_descriptors);
  tcase_add_test(copies, every_thread_runs_its_copy);
  tcase_add_test(copies, cxx_objects_are_private);
  tcase_add_test(copies, a_named_copy_leaves_no_file);
  tcase_add_test(copies, the_names_of_copies_are_the_original_s);
  tcase_add_test(copies, a_copy_can_be_unloaded_and_loaded_again);
  tcase_add_test(copies, out_of_descriptors_is_an_error);
  tcase_add_test(copies, run_by_itself_it_starts_the_runtime_only);
  tcase_add_test(files, foreign_files_are_refused);
  tcase_add_test(files, damaged_headers_never_crash);
  tcase_add_test(files, random_headers_never_crash);
  tcase_add_test(files, truncated_files_are_refused);
  suite_add_tcase(suite, copies);
  suite_add_tcase(suite, files);
  return check_run(suite);
}
