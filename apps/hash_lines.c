/* Sorts the hashes of all lines of all files below some directories, and counts
   how many lines are different: real data for <pems/cgm.h>.

     hash_lines DIRECTORY...

   Rank 0 lists the regular files (it follows no links and stays on the file
   system of each directory) and deals them out, largest first, each to the rank
   with the fewest bytes so far. Every rank reads its files in pieces and keeps
   64 bits for each line, whatever is in it; the last line of a file need not
   end. The hashes are sorted by pems_cgm_sort, so that equal ones lie beside
   each other. Files and directories that cannot be read are named, and counted
   as unread. At the end the ranks check that the hashes are in order and the
   same as before;

     RESULT app=hash_lines files= unread= bytes= lines= different= sum= order=
       sorted= wrong= seconds=

   where sum is the sum of all hashes, and order that of each times its place,
   from 1, both modulo 2^64: they do not depend on the number of ranks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <mpi.h>
#include <pems/cgm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  EXIT_USAGE = 2,
  PIECE = 256 << 10, /* bytes read at once */
  WALKS = 32,        /* directories that are open while they are listed */
};

static struct pems_cgm *machine;
static int rank;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "hash_lines: rank %d: %s: %s\n", rank, what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* --- arrays that grow --- */

struct array {
  char *at;
  uint64_t bytes, room;
};

static void *array_add(struct array *a, uint64_t bytes) {
  if (bytes > a->room - a->bytes) {
    const uint64_t room = a->room + a->room / 4 + bytes + 4096;
    char *const at = realloc(a->at, room);
    if (at == NULL) {
      fail("memory");
    }
    a->at = at;
    a->room = room;
  }
  void *const place = a->at + a->bytes;
  a->bytes += bytes;
  return place;
}

/* --- which files: rank 0 --- */

struct file {
  uint64_t size;
  uint64_t name; /* where its path begins in `names` */
};

static struct array files, names;
static uint64_t unlisted; /* directories, or what is in them */

static int add_file(const char *path, const struct stat *s, int type,
                    struct FTW *place) {
  (void)place;
  if (type == FTW_DNR || type == FTW_NS) {
    fprintf(stderr, "hash_lines: %s: not read\n", path);
    unlisted++;
  } else if (type == FTW_F && S_ISREG(s->st_mode)) {
    struct file *const file = array_add(&files, sizeof(*file));
    const size_t length = strlen(path) + 1;
    file->size = (uint64_t)s->st_size;
    file->name = names.bytes;
    memcpy(array_add(&names, length), path, length);
  }
  return 0;
}

static int largest_first(const void *a, const void *b) {
  const struct file *const x = a, *const y = b;
  if (x->size != y->size) {
    return x->size < y->size ? 1 : -1;
  }
  return strcmp(names.at + x->name, names.at + y->name);
}

static int least_of(const uint64_t *n, int count) {
  int least = 0;
  for (int i = 1; i < count; i++) {
    least = n[i] < n[least] ? i : least;
  }
  return least;
}

/* The paths, each with its 0, in the order of the ranks that they are for:
   send[r] bytes for rank r. */
static void deal_out(struct pems_cgm_list *paths, uint64_t *send) {
  const int ranks = pems_cgm_size(machine);
  const uint64_t count = files.bytes / sizeof(struct file);
  struct file *const file = (struct file *)files.at;
  uint64_t *const load = calloc((size_t)ranks, sizeof(*load));
  uint64_t *const at = calloc((size_t)ranks, sizeof(*at));
  int *const owner = malloc(count * sizeof(*owner) + 1);
  paths->at = malloc(names.bytes + 1);
  if (load == NULL || at == NULL || owner == NULL || paths->at == NULL) {
    fail("memory");
  }
  if (count > 0) {
    qsort(file, count, sizeof(*file), largest_first);
  }
  for (uint64_t i = 0; i < count; i++) {
    owner[i] = least_of(load, ranks);
    load[owner[i]] += file[i].size + 4096; /* opening it is work, too */
    send[owner[i]] += strlen(names.at + file[i].name) + 1;
  }
  for (int r = 1; r < ranks; r++) {
    at[r] = at[r - 1] + send[r - 1];
  }
  for (uint64_t i = 0; i < count; i++) {
    const char *const name = names.at + file[i].name;
    const size_t length = strlen(name) + 1;
    memcpy((char *)paths->at + at[owner[i]], name, length);
    at[owner[i]] += length;
  }
  paths->n = names.bytes;
  free(load);
  free(at);
  free(owner);
  free(files.at);
  free(names.at);
}

/* The rank's paths. */
static struct pems_cgm_list share_out(char **directory, int directories) {
  struct pems_cgm_list paths = {.size = 1};
  uint64_t *const send = calloc((size_t)pems_cgm_size(machine), sizeof(*send));
  if (send == NULL) {
    fail("memory");
  }
  if (rank == 0) {
    for (int i = 0; i < directories; i++) {
      if (nftw(directory[i], add_file, WALKS, FTW_PHYS | FTW_MOUNT) != 0) {
        fail(directory[i]);
      }
    }
    deal_out(&paths, send);
  }
  pems_cgm_h_relation(machine, &paths, send, NULL);
  free(send);
  return paths;
}

/* --- lines --- */

/* What all ranks tell, to be added up. */
enum { FILES, UNREAD, BYTES, LINES, SUM, DIFFERENT, ORDER, DISORDER, TOTALS };

struct line {
  uint64_t hash; /* so far */
  int begun;
};

/* FNV-1a (Fowler, Noll and Vo), to be mixed at the end. */
static const struct line no_line = {.hash = 0xcbf29ce484222325u};

static uint64_t finished(const struct line *line) {
  uint64_t x = line->hash;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

static void end_line(struct line *line, struct array *hashes) {
  const uint64_t hash = finished(line);
  memcpy(array_add(hashes, sizeof(hash)), &hash, sizeof(hash));
  *line = no_line;
}

static void hash_piece(struct line *line, const unsigned char *bytes, size_t n,
                       struct array *hashes) {
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] == '\n') {
      end_line(line, hashes);
    } else {
      line->hash = (line->hash ^ bytes[i]) * 0x100000001b3u;
      line->begun = 1;
    }
  }
}

static void hash_file(const char *path, unsigned char *piece,
                      struct array *hashes, uint64_t *total) {
  struct line line = no_line;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t n = -1;
  while (fd >= 0 && (n = read(fd, piece, PIECE)) > 0) {
    hash_piece(&line, piece, (size_t)n, hashes);
    total[BYTES] += (uint64_t)n;
  }
  if (n < 0) {
    fprintf(stderr, "hash_lines: %s: %s: not read\n", path, strerror(errno));
    total[UNREAD]++;
  }
  if (line.begun) {
    end_line(&line, hashes);
  }
  if (fd >= 0) {
    close(fd);
  }
}

static struct pems_cgm_list hash_files(struct pems_cgm_list *paths,
                                       uint64_t *total) {
  struct array hashes = {0};
  unsigned char *const piece = malloc(PIECE);
  if (piece == NULL) {
    fail("memory");
  }
  for (uint64_t at = 0; at < paths->n;) {
    const char *const path = (char *)paths->at + at;
    hash_file(path, piece, &hashes, total);
    total[FILES]++;
    at += strlen(path) + 1;
  }
  free(piece);
  pems_cgm_list_free(paths);
  return (struct pems_cgm_list){
      .at = hashes.at,
      .n = hashes.bytes / sizeof(uint64_t),
      .size = sizeof(uint64_t),
  };
}

static uint64_t sum_of(const struct pems_cgm_list *hashes) {
  const uint64_t *const hash = hashes->at;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < hashes->n; i++) {
    sum += hash[i];
  }
  return sum;
}

/* --- what came out --- */

/* The hash before this rank's first one, from the rank before: shares are even,
   so that has some if this one has. */
static uint64_t hash_before(const struct pems_cgm_list *hashes) {
  const uint64_t *const hash = hashes->at;
  const uint64_t last = hashes->n > 0 ? hash[hashes->n - 1] : 0;
  const int after =
      rank + 1 < pems_cgm_size(machine) ? rank + 1 : MPI_PROC_NULL;
  uint64_t before = 0;
  MPI_Sendrecv(&last, 1, MPI_UINT64_T, after, 0, &before, 1, MPI_UINT64_T,
               rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, pems_cgm_comm(machine),
               MPI_STATUS_IGNORE);
  return before;
}

/* `lines`: of all ranks. */
static void look_at(const struct pems_cgm_list *hashes, uint64_t lines,
                    uint64_t *total) {
  const uint64_t *const hash = hashes->at;
  const uint64_t first = pems_cgm_first(machine, lines, rank);
  uint64_t before = hash_before(hashes);
  for (uint64_t i = 0; i < hashes->n; i++) {
    total[DIFFERENT] += first + i == 0 || hash[i] != before;
    total[DISORDER] += first + i > 0 && hash[i] < before;
    total[ORDER] += (first + i + 1) * hash[i];
    before = hash[i];
  }
}

static void add_up(uint64_t *total) {
  MPI_Allreduce(MPI_IN_PLACE, total, TOTALS, MPI_UINT64_T, MPI_SUM,
                pems_cgm_comm(machine));
}

static int result(const uint64_t *total, const uint64_t *after,
                  double seconds) {
  const bool wrong = after[DISORDER] > 0 || after[LINES] != total[LINES] ||
                     after[SUM] != total[SUM];
  if (rank == 0) {
    printf("RESULT app=hash_lines files=%" PRIu64 " unread=%" PRIu64
           " bytes=%" PRIu64 " lines=%" PRIu64 " different=%" PRIu64
           " sum=%016" PRIx64 " order=%016" PRIx64
           " sorted=%d wrong=%d seconds=%.3f\n",
           total[FILES], total[UNREAD], total[BYTES], total[LINES],
           after[DIFFERENT], total[SUM], after[ORDER], after[DISORDER] == 0,
           wrong, seconds);
  }
  return wrong;
}

int main(int argc, char **argv) {
  static const struct pems_record record = {.size = sizeof(uint64_t),
                                            .key = PEMS_KEY_U64};
  uint64_t total[TOTALS] = {0}, after[TOTALS] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) {
    if (rank == 0) {
      fprintf(stderr, "usage: hash_lines DIRECTORY...\n");
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }
  pems_cgm_open(&machine, MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  struct pems_cgm_list paths = share_out(argv + 1, argc - 1);
  struct pems_cgm_list hashes = hash_files(&paths, total);
  total[UNREAD] += unlisted;
  total[LINES] = hashes.n;
  total[SUM] = sum_of(&hashes);
  add_up(total);
  pems_cgm_sort(machine, &hashes, &record);
  after[LINES] = hashes.n;
  after[SUM] = sum_of(&hashes);
  look_at(&hashes, total[LINES], after);
  add_up(after);
  pems_cgm_list_free(&hashes);
  const int wrong = result(total, after, MPI_Wtime() - begin);
  pems_cgm_close(machine);
  MPI_Finalize();
  return wrong;
}
