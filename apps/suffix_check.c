/* Checks a suffix array, in memory as little as is given.

     suffix_check [options] TEXT ARRAY

   TEXT is any file, ARRAY one of the positions of its suffixes in order, 5
   bytes each, least significant first, as suffix_array writes it. Prints one
   line and ends with status 0 if it is right, 1 if it is wrong or cannot be
   read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "packed.h"
#include "settings.h"
#include "suffix_order.h"

#define USAGE "[options] TEXT ARRAY\nChecks the suffix array of a file."

int main(int argc, char **argv) {
  struct settings_machine machine = {0};
  uint64_t bits = 0;
  const struct setting settings[] = {
      SETTINGS_MACHINE(&machine),
      {"bits", SETTING_COUNT, &bits, "N        of positions, at least (40)"},
      {0}};
  const char *words[2];
  struct pems_error error = {0};
  settings_read(argc, argv, USAGE, settings, words, 2, 2);
  if (bits > POSITION_BITS) {
    settings_fail(&(struct pems_error){.text = "--bits must be at most 40"});
  }
  struct pems_disks *const disks = settings_disks(&machine);
  const double begin = settings_seconds();
  const int failed =
      suffix_order(&(struct suffix_order){.text = words[0],
                                          .array = words[1],
                                          .memory = machine.memory,
                                          .threads = (int)machine.threads,
                                          .bits = (int)bits,
                                          .disks = disks},
                   &error);
  pems_disks_close(disks);
  if (failed) {
    settings_fail(&error);
  }
  printf("RESULT app=suffix_check n=%" PRIu64 " right=1 seconds=%.2f\n",
         settings_file_size(words[0]), settings_seconds() - begin);
  return EXIT_SUCCESS;
}
