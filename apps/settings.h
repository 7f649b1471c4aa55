/* What the programs on streams and sorters share: options of the command line,
   and how they end. */
#ifndef APPS_SETTINGS_H
#define APPS_SETTINGS_H

#include <stdint.h>

#include <pems/disk.h>
#include <pems/status.h>

enum { SETTINGS_DISKS_MOST = 64 };

/* Memory, threads and disks, as all of these programs are given them. */
struct settings_machine {
  uint64_t memory; /* bytes; 0: the library's choice */
  uint64_t threads;
  const char *disk[SETTINGS_DISKS_MOST];
  int disks;
  const char *io; /* driver, or NULL */
};

enum setting_kind {
  SETTING_COUNT, /* uint64_t */
  SETTING_SIZE,  /* uint64_t; K, M and G stand for powers of 1024 */
  SETTING_TEXT,  /* const char * */
  SETTING_FLAG,  /* int, becomes 1; takes no value */
  SETTING_DISK,  /* struct settings_machine; may be given again */
};

struct setting {
  const char *name; /* without "--"; NULL ends a list */
  enum setting_kind kind;
  void *value;
  const char *help;
};

/* The options for a struct settings_machine, to begin a list with. */
#define SETTINGS_MACHINE(m)                                                    \
  {"memory", SETTING_SIZE, &(m)->memory, "SIZE   memory budget, as 256M"},     \
      {"threads", SETTING_COUNT, &(m)->threads, "N     threads that sort"},    \
      {"disk", SETTING_DISK, (m), "PATH     scratch; again for more disks"}, { \
    "io", SETTING_TEXT, &(m)->io, "DRIVER     unix, aio, uring, mmap or mem"   \
  }

/* Reads "--name value", "--name=value" and `least` to `most` other words, which
   go to `words` (the rest becomes NULL). Ends the program with status 2 and a
   line on stderr for what is wrong, with 0 for --help. `usage` is what follows
   the program's name, then a line on what it does. */
void settings_read(int argc, char **argv, const char *usage,
                   const struct setting *settings, const char **words,
                   int least, int most);

/* The number of a word in a NULL-terminated list; ends the program with status
   2 if it is not there. */
int settings_choice(const char *name, const char *const *list,
                    const char *word);

/* Opens the disks of `machine`, or ends the program. */
struct pems_disks *settings_disks(const struct settings_machine *machine);

/* "<program>: <text>" on stderr, and the program ends with status 1. */
_Noreturn void settings_fail(const struct pems_error *error);

/* The bytes of a file, or ends the program. */
uint64_t settings_file_size(const char *path);

/* Seconds since some moment; and those of CPU time that all threads had. */
double settings_seconds(void);
double settings_cpu_seconds(void);

#endif
