/* The suffix array of a text from the order of its LMS suffixes: the inducing
   step of suffix array construction in external memory (see induce.h).

     induce [options] TEXT SORTED ARRAY

   TEXT is any file; SORTED is its suffix array, as suffix_array writes it, of
   which only the order of the LMS suffixes is used; ARRAY becomes the suffix
   array that follows from that. --mode says how suffixes are taken from the
   queue: sequential, limit or bulk, each time those of one first byte and
   round. --check checks the array as suffix_check does. */
#include "induce.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "settings.h"
#include "suffix_order.h"

#define USAGE "[options] TEXT SORTED ARRAY\nInduces the suffix array of a file."

void induce_must(int failed, const struct pems_error *error) {
  if (failed) {
    settings_fail(error);
  }
}

_Noreturn void induce_refuse(const char *what, const char *path, int code) {
  struct pems_error error = {.code = code ? code : EINVAL};
  snprintf(error.text, sizeof(error.text), "%s: %.300s%s%s", what, path,
           code ? ": " : "", code ? strerror(code) : "");
  settings_fail(&error);
}

struct pems_sorter *induce_sorter(const struct induce *in,
                                  struct pems_record record) {
  const struct pems_sort_options options = {.record = record,
                                            .memory = in->memory / 8,
                                            .threads = in->threads,
                                            .disks = in->disks,
                                            .count = in->n};
  struct pems_sorter *sorter;
  struct pems_error error;
  induce_must(pems_sorter_new(&sorter, &options, &error), &error);
  return sorter;
}

static void report(const struct induce *in, const char *mode, double seconds) {
  struct pems_disk_counts io;
  struct rusage usage;
  pems_disks_counts(in->disks, &io);
  getrusage(RUSAGE_SELF, &usage);
  printf("RESULT app=induce mode=%s n=%" PRIu64 " memory=%" PRIu64
         " lms=%" PRIu64 " windows=%" PRIu64 " rounds=%" PRIu64
         " waiting=%" PRIu64 " flushes=%" PRIu64 " seconds=%.2f"
         " cpu_seconds=%.2f bytes_read=%" PRIu64 " bytes_written=%" PRIu64
         " rss=%" PRIu64 "\n",
         mode, in->n, in->memory, in->lms_count,
         in->window_count[PHASE_L] + in->window_count[PHASE_S],
         in->rounds[PHASE_L] + in->rounds[PHASE_S],
         in->counts[PHASE_L].most > in->counts[PHASE_S].most
             ? in->counts[PHASE_L].most
             : in->counts[PHASE_S].most,
         in->counts[PHASE_L].flushes + in->counts[PHASE_S].flushes, seconds,
         settings_cpu_seconds(), io.bytes_read, io.bytes_written,
         (uint64_t)usage.ru_maxrss << 10);
}

static void check(const struct induce *in) {
  struct pems_error error;
  const struct suffix_order order = {.text = in->text,
                                     .array = in->array,
                                     .memory = in->memory,
                                     .threads = in->threads,
                                     .disks = in->disks};
  induce_must(suffix_order(&order, &error), &error);
}

int main(int argc, char **argv) {
  static const char *const modes[] = {"sequential", "limit", "bulk", NULL};
  struct settings_machine machine = {.memory = 256 << 20};
  const char *words[3], *mode = "bulk";
  int checked = 0;
  const struct setting settings[] = {
      SETTINGS_MACHINE(&machine),
      {"mode", SETTING_TEXT, &mode, "MODE     sequential, limit or bulk"},
      {"check", SETTING_FLAG, &checked, "        checks the array"},
      {0}};
  settings_read(argc, argv, USAGE, settings, words, 3, 3);
  struct induce in = {
      .text = words[0],
      .sorted = words[1],
      .array = words[2],
      .mode = (enum induce_mode)settings_choice("mode", modes, mode),
      .n = settings_file_size(words[0]),
      .memory = machine.memory,
      .threads = (int)machine.threads,
      .disks = settings_disks(&machine)};
  const double begin = settings_seconds();
  if (in.n == 0 || in.n >> POSITION_BITS) {
    induce_refuse("cannot sort no suffixes, or more than 2^40", in.text, 0);
  }
  induce_scan(&in);
  induce_step(&in);
  report(&in, mode, settings_seconds() - begin);
  if (checked) {
    check(&in);
  }
  pems_disks_close(in.disks);
  return EXIT_SUCCESS;
}
