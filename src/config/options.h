/* The options of a pems job, from --pems-* arguments and PEMS_* variables.
   Errors are 0 or an errno value, with *error filled in. */
#ifndef PEMS_CONFIG_OPTIONS_H
#define PEMS_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* Values of the options that are a choice of words: the first is the default.
 */
enum option_split {
  SPLIT_EVEN, /* as many ranks in each process */
  SPLIT_AUTO, /* by what each process has (config/split.h) */
};
enum option_reserve {
  RESERVE_USED, /* space on disk as ranks allocate memory */
  RESERVE_ALL,  /* for all that they may have, before they start */
};
enum option_swapin {
  SWAPIN_AUTO,  /* at each call site what takes less time there */
  SWAPIN_EAGER, /* a whole context at once */
  SWAPIN_LAZY,  /* what was touched last time; the rest when it is touched */
  SWAPIN_PARTS, /* what is due next, while what is due last leaves memory */
  SWAPIN_PAGES, /* to measure: single pages, all of them when touched */
};
enum option_track {
  TRACK_AUTO,  /* async where the kernel can and the VP gains, else off */
  TRACK_ASYNC, /* asynchronous write-protect, always */
  TRACK_FAULT, /* 2 MiB units of mprotect, always */
  TRACK_OFF,   /* all that is resident counts as changed */
};
enum option_compress {
  COMPRESS_NONE,
  COMPRESS_LZ4,
  COMPRESS_ZSTD,
  COMPRESS_AUTO, /* the fastest, where it pays */
};
enum option_between {
  BETWEEN_AUTO, /* read, where that is allowed */
  BETWEEN_READ, /* processes of a host read each other's memory */
  BETWEEN_COPY, /* all goes through the MPI */
};
enum option_bind { BIND_AUTO, BIND_NONE, BIND_CORE, BIND_NUMA };

/* Zero or NULL in a field means "not given: let pems choose". */
struct options {
  int v;              /* virtual processors in the whole job */
  int universe;       /* VPs that the job may come to by MPI_Comm_spawn */
  int procs;          /* P, real processes; used by pemsrun only */
  int split;          /* enum option_split */
  int k;              /* VPs running at once per process */
  uint64_t memory;    /* bytes of memory per process */
  uint64_t context;   /* mu, bytes per context */
  uint64_t stack;     /* bytes of each VP's stack; 0: as large as a process's */
  uint64_t sigma;     /* bytes of the shared (communication) buffer */
  int alpha;          /* messages sent to a process together, at most */
  char *disk;         /* directories, comma-separated */
  char *io;           /* driver, "unix" or "fault:unix,..." */
  int depth;          /* requests in flight per disk */
  uint64_t stripe;    /* bytes; 0: each context lies on one disk */
  int reserve;        /* enum option_reserve */
  int order;          /* index in policy_table (policy/policy.h) */
  int swapin;         /* enum option_swapin */
  int track;          /* enum option_track */
  int compress;       /* enum option_compress */
  int compress_level; /* of zstd; 0: not given */
  int bind;           /* enum option_bind */
  int between;        /* enum option_between */
  char *checkpoint;   /* directory, when and how many: checkpoint/wish.h */
  char *restart;      /* directory of a checkpoint, or of several */
  char *report;       /* directory for tables, plots and a trace */
  char *shared;       /* libraries that ranks share, comma-separated */
  bool strict;        /* no fallback: what cannot be had as asked is an error */
  bool stats;         /* print RESULT-like counters at the end */
  bool tag;           /* begin each line that is printed with its rank */
  bool progress;      /* print progress on stderr while running */
  bool check;         /* look for mistakes in the use of MPI */
  bool debug;         /* has no effect any more */
};

/* One row per option; the single source for parsing, --help, man page tests. */
struct option_spec {
  const char *name;    /* "memory": --pems-memory, PEMS_MEMORY */
  const char *operand; /* "SIZE", or NULL for a switch */
  const char *help;    /* one line */
};
extern const struct option_spec option_specs[]; /* ends with name == NULL */

/* Initialises *o, reads PEMS_* from `env` (an empty value counts as not set;
   PEMS_TEST_*, PEMS_CC, PEMS_CXX and PEMS_FC are left alone), then
   --pems-NAME=VALUE (or --pems-NAME VALUE; a switch also takes =yes/=no) from
   argv up to "--", which stays; arguments win over variables. Recognised
   arguments are removed from argv and *argc. Checks ranges that need no
   knowledge of the machine (v >= 1, k >= 1, sizes). EINVAL, e.g. for an unknown
   option, with the nearest known one in error->text ("<what>: <value>: <what to
   do>", without "pems: "); ENOMEM. Strings in *o are owned by it; options_free
   releases them, also after a failure, which leaves the order of argv
   unspecified. argc, argv and env may be NULL. */
int options_parse(struct options *o, int *argc, char **argv, char *const *env,
                  struct pems_error *error);
/* Does the argument look like another option, so that it is not the value of
   the one before it? */
bool options_is_option(const char *arg);
/* Applies one setting as "--pems-<name>=<value>" would; *o as options_parse
   left it, or all zero. */
int options_set(struct options *o, const char *name, const char *value,
                struct pems_error *error);
/* The same for the number of ranks, which the user gave with option `arg`. */
int options_set_ranks(struct options *o, const char *arg, const char *value,
                      struct pems_error *error);
/* Directories that are named relative to the current one (disk, report) become
   absolute: the program may change its directory before they are used. ENOMEM.
 */
int options_keep_places(struct options *o, struct pems_error *error);
void options_free(struct options *o);

#endif
