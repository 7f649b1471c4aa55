/* MPI files on a disk that fills up: filefull FOLDER

   Each rank writes more than its share of the disk in each of many ways. Who is
   told of success finds its words in the file; somebody is told of
   MPI_ERR_NO_SPACE, and so is the next MPI_File_sync there. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 20 };

typedef int write_fn(MPI_File file, MPI_Offset at, int *words);

static int rank, failures;

static int write_at(MPI_File file, MPI_Offset at, int *words) {
  return MPI_File_write_at(file, at, words, WORDS, MPI_INT, MPI_STATUS_IGNORE);
}

static int write_at_all(MPI_File file, MPI_Offset at, int *words) {
  MPI_Status status;
  return MPI_File_write_at_all(file, at, words, WORDS, MPI_INT, &status);
}

static int write_next(MPI_File file, MPI_Offset at, int *words) {
  MPI_File_seek(file, at, MPI_SEEK_SET);
  return MPI_File_write(file, words, WORDS, MPI_INT, MPI_STATUS_IGNORE);
}

static int write_request(MPI_File file, MPI_Offset at, int *words) {
  MPI_Request request;
  const int code =
      MPI_File_iwrite_at(file, at, words, WORDS, MPI_INT, &request);
  return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int write_split(MPI_File file, MPI_Offset at, int *words) {
  const int begun =
      MPI_File_write_at_all_begin(file, at, words, WORDS, MPI_INT);
  const int ended = MPI_File_write_at_all_end(file, words, MPI_STATUS_IGNORE);
  return begun ? begun : ended;
}

/* Half of the words, by a type with gaps. */
static int write_gaps(MPI_File file, MPI_Offset at, int *words) {
  MPI_Datatype every_second;
  MPI_Type_vector(WORDS / 2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_File_set_view(file, at * (MPI_Offset)sizeof(int), MPI_INT, every_second,
                    "native", MPI_INFO_NULL);
  const int code =
      MPI_File_write(file, words, WORDS / 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_Type_free(&every_second);
  return code;
}

static const struct way {
  const char *name;
  write_fn *write;
  int stride; /* words of the file from one that is written to the next */
} ways[] = {
    {"write_at", write_at, 1},
    {"write_at_all", write_at_all, 1},
    {"write", write_next, 1},
    {"iwrite_at", write_request, 1},
    {"write_at_all_begin", write_split, 1},
    {"view", write_gaps, 2},
};

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code) {
    MPI_Error_class(code, &class);
  }
  return class;
}

static void wrong(const char *way, const char *what, int class) {
  printf("wrong: rank %d: %s: %s: class %d\n", rank, way, what, class);
  failures++;
}

static void compare(const struct way *way, const char *path, long at,
                    const int *words) {
  FILE *const f = fopen(path, "rb");
  for (int i = 0; i < WORDS / way->stride; i++) {
    int word = -1;
    if (!f || fseek(f, (at + (long)i * way->stride) * 4, SEEK_SET) != 0 ||
        fread(&word, sizeof(word), 1, f) != 1 || word != words[i]) {
      wrong(way->name, "a word is not in the file", i);
      break;
    }
  }
  if (f) {
    fclose(f);
  }
}

/* Returns whether this rank was told that there is no space. */
static bool fill(const struct way *way, const char *path, int *words) {
  MPI_File file;
  const MPI_Offset at = (MPI_Offset)rank * WORDS;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  const int written = class_of(way->write(file, at, words));
  const int synced = class_of(MPI_File_sync(file));
  if (written != MPI_SUCCESS && written != MPI_ERR_NO_SPACE) {
    wrong(way->name, "written", written);
  }
  if (synced != written) {
    wrong(way->name, "synced", synced);
  }
  if (class_of(MPI_File_sync(file)) != MPI_SUCCESS) {
    wrong(way->name, "told twice", 0);
  }
  if (written == MPI_SUCCESS) {
    compare(way, path, (long)at, words);
  }
  MPI_File_close(&file);
  return written != MPI_SUCCESS;
}

/* Few words fit, and are no error in any representation. */
static void write_little(const char *path) {
  static const char *const representations[] = {"native", "external32",
                                                "internal"};
  long words[100] = {0};
  for (int i = 0; i < 3; i++) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, representations[i],
                      MPI_INFO_NULL);
    const int code = MPI_File_write_at(file, rank * 100, words, 100, MPI_LONG,
                                       MPI_STATUS_IGNORE);
    if (class_of(code) != MPI_SUCCESS) {
      wrong(representations[i], "little", class_of(code));
    }
    MPI_File_close(&file);
  }
}

int main(int argc, char **argv) {
  char path[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *const words = malloc(WORDS * sizeof(*words));
  for (int i = 0; i < WORDS; i++) {
    words[i] = rank * WORDS + i + 1;
  }
  snprintf(path, sizeof(path), "%s/file", argc > 1 ? argv[1] : ".");
  for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
    int told = fill(&ways[i], path, words), any = 0;
    MPI_Allreduce(&told, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!any) {
      wrong(ways[i].name, "nobody was told", 0);
    }
    if (rank == 0) {
      MPI_File_delete(path, MPI_INFO_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  write_little(path);
  free(words);
  MPI_Finalize();
  return failures != 0;
}
