/* The end of a file, where file pointers are moved relative to it: Open MPI
   counts without the holes of a view, and ends at 6 MiB. By MPI 3.1, 13.1, it
   is the offset of the first etype that starts after the last byte.
   tests/mpi/standard.sh runs it. */
#include "files.h"

static const MPI_Offset file_sizes[] = {
    0,           1,         5,       6,       40,        68,
    133,         5 << 20,   6 << 20, 7340035, 1LL << 31, (2LL << 30) + 9,
    (4LL << 30), 4294967303};
/* A view with holes is of tiles of so many integers; tiles of a large file are
   large, too, for ROMIO, which MPICH has, walks them one by one. */
enum {
  FILE_SIZES = sizeof(file_sizes) / sizeof(*file_sizes),
  ELEMENTS = 6,
  SMALL = 16,
  LARGE = 16 << 20,
  MANY_TILES = 1 << 30
};
static const int element[ELEMENTS] = {1, 4, 5, 6, 10, 11};

/* A view, and where its etypes are. */
struct view {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  int size; /* of an etype, if there are no holes; or 0 */
  MPI_Offset tile;
};

static MPI_Offset end_in(const struct view *v, MPI_Offset size) {
  if (size <= v->displacement) {
    return 0;
  }
  size -= v->displacement;
  if (v->size) {
    return (size + v->size - 1) / v->size;
  }
  const MPI_Offset whole = size / (v->tile * 4);
  int i = 0;
  while (i < ELEMENTS && element[i] * 4 < size % (v->tile * 4)) {
    i++;
  }
  return whole * ELEMENTS + i;
}

static void is(const char *what, MPI_Offset at, MPI_Offset wanted) {
  if (at != wanted) {
    fail("%s: %lld, not %lld", what, (long long)at, (long long)wanted);
  }
}

static MPI_Offset position(MPI_File f) {
  MPI_Offset at = -1;
  MPI_File_get_position(f, &at);
  return at;
}

static MPI_Offset shared_position(MPI_File f) {
  MPI_Offset at = -1;
  MPI_File_get_position_shared(f, &at);
  MPI_Barrier(MPI_COMM_WORLD);
  return at;
}

static void seeks(MPI_File f, MPI_Offset end) {
  MPI_File_seek(f, 0, MPI_SEEK_END);
  is("seek", position(f), end);
  MPI_File_seek(f, 17, MPI_SEEK_END);
  is("seek beyond", position(f), end + 17);
  MPI_File_seek(f, -18, MPI_SEEK_CUR);
  is("seek from there", position(f), end ? end - 1 : 17);
  if (MPI_File_seek(f, -end - 1, MPI_SEEK_END) == MPI_SUCCESS) {
    fail("seek before the view");
  }
  is("after an error", position(f), end ? end - 1 : 17);
  MPI_File_seek_shared(f, 2, MPI_SEEK_END);
  is("seek_shared", shared_position(f), end + 2);
  MPI_File_seek_shared(f, -1, MPI_SEEK_CUR);
  is("seek_shared from there", shared_position(f), end + 1);
  if (MPI_File_seek_shared(f, -end - 1, MPI_SEEK_END) == MPI_SUCCESS) {
    fail("seek_shared before the view");
  }
  is("after an error of seek_shared", shared_position(f), end + 1);
}

static MPI_Datatype with_holes(MPI_Offset tile) {
  MPI_Datatype blocks, holes;
  const int lengths[] = {1, 3, 2}, places[] = {1, 4, 10};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &blocks);
  MPI_Type_create_resized(blocks, 0, tile * 4, &holes);
  MPI_Type_commit(&holes);
  MPI_Type_free(&blocks);
  return holes;
}

static void ends(void) {
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype small = with_holes(SMALL), large = with_holes(LARGE);
  const struct view views[] = {
      {0, MPI_BYTE, MPI_BYTE, 1, 0}, {3, MPI_BYTE, MPI_BYTE, 1, 0},
      {0, MPI_INT, MPI_INT, 4, 0},   {5, MPI_DOUBLE, MPI_DOUBLE, 8, 0},
      {0, MPI_INT, small, 0, SMALL}, {5, MPI_INT, small, 0, SMALL},
      {0, MPI_INT, large, 0, LARGE}, {5, MPI_INT, large, 0, LARGE}};
  for (int i = 0; i < FILE_SIZES; i++) {
    MPI_Offset size_now = -1;
    i % 2 ? MPI_File_set_size(f, file_sizes[i])
          : (MPI_File_set_size(f, 0), MPI_File_set_size(f, file_sizes[i]));
    MPI_File_get_size(f, &size_now);
    is("size", size_now, file_sizes[i]);
    for (size_t j = 0; j < sizeof(views) / sizeof(*views); j++) {
      const struct view *v = &views[j];
#ifndef OPEN_MPI
      if (v->tile == SMALL && file_sizes[i] >= MANY_TILES) {
        continue;
      }
#endif
      MPI_File_set_view(f, v->displacement, v->etype, v->filetype, "native",
                        MPI_INFO_NULL);
      seeks(f, end_in(v, file_sizes[i]));
    }
  }
  MPI_Type_free(&small);
  MPI_Type_free(&large);
  MPI_File_close(&f);
}

/* What is written at the end is there: by either pointer, also where the end is
   a hole. */
static void appended(void) {
  int word = 0;
  MPI_Offset size_now = -1;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDWR);
  MPI_File_set_size(f, 7340035);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_seek_shared(f, 0, MPI_SEEK_END);
  MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(f, &size_now);
  is("size after write_ordered", size_now, 7340036 + 4 * size);
  MPI_File_seek(f, rank - size, MPI_SEEK_END);
  MPI_File_read(f, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
  is("word at the end", word, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_preallocate(f, 8 << 20);
  MPI_File_seek(f, 0, MPI_SEEK_END);
  is("preallocated", position(f), 2 << 20);
  MPI_File_close(&f);
}

/* All file pointers begin there. */
static void append_mode(void) {
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_APPEND);
  is("append: position", position(f), 8 << 20);
  is("append: shared position", shared_position(f), 8 << 20);
  MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  is("append: behind", shared_position(f), (8 << 20) + 4 * size);
  MPI_File_close(&f);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("ends");
  ends();
  appended();
  append_mode();
  remove_file();
  return end();
}
