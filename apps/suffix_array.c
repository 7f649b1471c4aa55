/* The suffix array of a file: the positions of all its suffixes in order.

     suffix_array [options] TEXT ARRAY

   TEXT is any file, of up to 2^40 - 2 bytes, also larger than the memory; ARRAY
   becomes a file of as many positions, 5 bytes each, least significant first.
   --algorithm is one of

     dc3          sorts two thirds of the suffixes by the same algorithm, and
   the rest by those: a few sorts of all (suffix_dc3.h) doubling     sorts by
   prefixes of 8, 16, 32, ... bytes: two sorts for each, until no two suffixes
   have the same (suffix_doubling.h) quadrupling  the same of 8, 32, 128, ...
   bytes

   --memory is all that is used, 256M unless given. The array is checked where
   --check asks for it. Prints a RESULT line: `rounds` are the rounds of
   doubling or the levels of dc3 that were not in memory, `runs` the most that
   one of the sorters from graph to graph had to merge. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings.h"
#include "suffix_dc3.h"
#include "suffix_doubling.h"
#include "suffix_memory.h"
#include "suffix_order.h"

#define USAGE "[options] TEXT ARRAY\nWrites the suffix array of a file."

enum { SCRATCH_MOST = 4096 };

enum algorithm { DOUBLING, QUADRUPLING, DC3 };
static const char *const algorithms[] = {"doubling", "quadrupling", "dc3",
                                         NULL};

struct options {
  struct settings_machine machine;
  const char *algorithm;
  const char *async;
  uint64_t bits;
  uint64_t base;
  int check;
  const char *words[2];
};

static struct options read_options(int argc, char **argv) {
  struct options o = {.machine = {.memory = 256 << 20},
                      .algorithm = "dc3",
                      .async = "none",
                      .base = UINT64_MAX};
  const struct setting settings[] = {
      SETTINGS_MACHINE(&o.machine),
      {"algorithm", SETTING_TEXT, &o.algorithm,
       "NAME  doubling, quadrupling or dc3"},
      {"async", SETTING_TEXT, &o.async, "NAME    none or all"},
      {"base", SETTING_COUNT, &o.base,
       "N        symbols that dc3 sorts in memory, at most"},
      {"bits", SETTING_COUNT, &o.bits,
       "N        of positions, as if the text had 2^N bytes"},
      {"check", SETTING_FLAG, &o.check, "        checks the array"},
      {0}};
  settings_read(argc, argv, USAGE, settings, o.words, 2, 2);
  return o;
}

/* Bits of positions. */
static int bits_of(const struct options *o, uint64_t n) {
  const int bits = packed_bits(n + 1);
  const int most = bits > (int)o->bits ? bits : (int)o->bits;
  struct pems_error error = {.code = EFBIG};
  if (most <= POSITION_BITS && o->bits <= POSITION_BITS) {
    return most;
  }
  snprintf(error.text, sizeof(error.text),
           "cannot sort %.300s: more than 2^40 - 2 bytes", o->words[0]);
  settings_fail(&error);
}

/* A directory for files beside the scratch of sorters, in the first disk if it
   is a directory. */
static void make_scratch(const struct settings_machine *m, char *path) {
  const char *directory = m->disks ? m->disk[0] : getenv("TMPDIR");
  struct stat s;
  struct pems_error error = {0};
  if (!directory || stat(directory, &s) || !S_ISDIR(s.st_mode)) {
    directory = "/var/tmp";
  }
  snprintf(path, SCRATCH_MOST, "%s/suffix_array.XXXXXX", directory);
  if (mkdtemp(path)) {
    return;
  }
  error.code = errno;
  snprintf(error.text, sizeof(error.text),
           "cannot make a directory in %.300s: %s", directory, strerror(errno));
  settings_fail(&error);
}

static uint64_t base_of(const struct options *o) {
  uint64_t most = o->machine.memory / 8 * 7 / SUFFIX_MEMORY_BYTES;
  if (most > SUFFIX_MEMORY_MOST) {
    most = SUFFIX_MEMORY_MOST;
  }
  return o->base < most ? o->base : most;
}

static int sort_suffixes(struct suffix_job *job, enum algorithm algorithm,
                         struct pems_error *error) {
  switch (algorithm) {
  case DOUBLING:
    return suffix_doubling(job, 2, error);
  case QUADRUPLING:
    return suffix_doubling(job, 4, error);
  default:
    return suffix_dc3(job, error);
  }
}

/* The array of no suffixes. */
static int write_nothing(const char *path, struct pems_error *error) {
  FILE *const file = fopen(path, "w");
  if (file && fclose(file) == 0) {
    return 0;
  }
  error->code = errno;
  snprintf(error->text, sizeof(error->text), "cannot write %.300s: %s", path,
           strerror(error->code));
  return error->code;
}

static void check(const struct options *o, struct pems_disks *disks) {
  struct pems_error error = {0};
  if (suffix_order(&(struct suffix_order){.text = o->words[0],
                                          .array = o->words[1],
                                          .memory = o->machine.memory,
                                          .threads = (int)o->machine.threads,
                                          .bits = (int)o->bits,
                                          .disks = disks},
                   &error)) {
    settings_fail(&error);
  }
}

static void report(const struct options *o, const struct suffix_job *job,
                   double seconds) {
  struct pems_disk_counts io;
  pems_disks_counts(job->disks, &io);
  printf("RESULT app=suffix_array algorithm=%s n=%" PRIu64 " memory=%" PRIu64
         " async=%s seconds=%.2f cpu_seconds=%.2f rounds=%d runs=%" PRIu64
         " bytes_read=%" PRIu64 " bytes_written=%" PRIu64
         " bytes_per_suffix=%.1f read_wait=%.2f write_wait=%.2f\n",
         o->algorithm, job->n, job->memory, o->async, seconds,
         settings_cpu_seconds(), job->rounds, job->runs, io.bytes_read,
         io.bytes_written,
         (double)(io.bytes_read + io.bytes_written) /
             (double)(job->n ? job->n : 1),
         1e-9 * (double)io.read_wait_ns, 1e-9 * (double)io.write_wait_ns);
}

static int run(const struct options *o, struct suffix_job *job,
               struct pems_error *error) {
  const enum algorithm algorithm =
      settings_choice("algorithm", algorithms, o->algorithm);
  char scratch[SCRATCH_MOST];
  if (job->n == 0) {
    return write_nothing(job->array, error);
  }
  make_scratch(&o->machine, scratch);
  job->scratch = scratch;
  const int failed = sort_suffixes(job, algorithm, error);
  rmdir(scratch);
  return failed;
}

int main(int argc, char **argv) {
  static const char *const asyncs[] = {"none", "all", NULL};
  /* Large arrays go back to the system when they are freed: they count. */
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const struct options o = read_options(argc, argv);
  const uint64_t n = settings_file_size(o.words[0]);
  struct pems_error error = {0};
  struct suffix_job job = {.text = o.words[0],
                           .array = o.words[1],
                           .n = n,
                           .bits = bits_of(&o, n),
                           .memory = o.machine.memory,
                           .base = base_of(&o),
                           .threads = (int)o.machine.threads,
                           .async = settings_choice("async", asyncs, o.async),
                           .disks = settings_disks(&o.machine)};
  const double begin = settings_seconds();
  if (run(&o, &job, &error)) {
    settings_fail(&error);
  }
  report(&o, &job, settings_seconds() - begin);
  if (o.check) {
    check(&o, job.disks);
  }
  pems_disks_close(job.disks);
  return EXIT_SUCCESS;
}
