/* MPI_File_read, _write, _seek and their kin: each rank by itself, in a common
   file and in one of its own. */
#include "files.h"

enum { INTS_EACH = 5000 };

static MPI_Offset position(MPI_File f) {
  MPI_Offset at = -1;
  MPI_File_get_position(f, &at);
  return at;
}

/* Every rank has its part of the file. */
static void parts(void) {
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  int *data = malloc(INTS_EACH * sizeof(*data));
  int *back = calloc(INTS_EACH, sizeof(*back));
  MPI_Status status;
  MPI_Offset size_now = 0;
  const MPI_Offset mine = (MPI_Offset)rank * INTS_EACH * (int)sizeof(*data);
  stream(data, INTS_EACH * sizeof(*data), seed_of(1, rank, 0));
  MPI_File_seek(f, mine, MPI_SEEK_SET);
  MPI_File_write(f, data, INTS_EACH / 2, MPI_INT, &status);
  if (elements(&status, MPI_INT) != INTS_EACH / 2) {
    fail("write: %d elements", elements(&status, MPI_INT));
  }
  if (position(f) != mine + INTS_EACH / 2 * 4) {
    fail("write: position %lld", (long long)position(f));
  }
  MPI_File_write_at(f, mine + INTS_EACH / 2 * 4, data + INTS_EACH / 2,
                    INTS_EACH - INTS_EACH / 2, MPI_INT, &status);
  if (position(f) != mine + INTS_EACH / 2 * 4) {
    fail("write_at: position %lld", (long long)position(f));
  }
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(f, &size_now);
  if (size_now != (MPI_Offset)size * INTS_EACH * 4) {
    fail("size %lld", (long long)size_now);
  }
  MPI_File_seek(f, mine - position(f), MPI_SEEK_CUR);
  MPI_File_read(f, back, INTS_EACH, MPI_INT, &status);
  if (memcmp(data, back, INTS_EACH * sizeof(*data)) != 0) {
    fail("read: other bytes");
  }
  /* The next rank's, and past the end of the file. */
  const int next = (rank + 1) % size;
  stream(data, INTS_EACH * sizeof(*data), seed_of(1, next, 0));
  MPI_File_read_at(f, (MPI_Offset)next * INTS_EACH * 4, back, INTS_EACH,
                   MPI_INT, &status);
  if (memcmp(data, back, INTS_EACH * sizeof(*data)) != 0) {
    fail("read_at: other bytes");
  }
  MPI_File_seek(f, -40, MPI_SEEK_END);
  MPI_File_read(f, back, 100, MPI_INT, &status);
  if (elements(&status, MPI_INT) != 10) {
    fail("read at the end: %d elements", elements(&status, MPI_INT));
  }
  mix(back, 40);
  MPI_File_read_at(f, size_now + 100, back, 1, MPI_INT, &status);
  if (elements(&status, MPI_INT) != 0) {
    fail("read past the end: %d elements", elements(&status, MPI_INT));
  }
  MPI_File_close(&f);
  if (f != MPI_FILE_NULL) {
    fail("close: handle left");
  }
  free(data);
  free(back);
  mix_file();
  report("parts");
  remove_file();
}

/* All shapes of memory, on the heap, among globals, on the stack. */
static struct shape shapes[SHAPES];

static void shape_of_memory(const struct rooms *rooms) {
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Status status;
  for (int i = 0; i < SHAPES; i++) {
    const struct shape *s = &shapes[i];
    const int n = count_of(s, 3);
    const MPI_Offset at = ((MPI_Offset)i * size + rank) * 3 * INTS * 4;
    struct arena out = arena_make(s, n, i % 3, 3, rooms->a, ROOM);
    arena_put(&out, 0, n, seed_of(i, rank, 1));
    struct arena same = arena_twin(&out);
    arena_put(&same, 0, n, seed_of(i, rank, 1));
    MPI_File_write_at(f, at, out.origin, n, s->type, &status);
    if (elements(&status, s->type) != n) {
      fail("%s: %d elements written", s->name, elements(&status, s->type));
    }
    arena_check(&out, &same, "write_at");
    struct arena in = arena_make(s, n, i % 5, i, rooms->b, ROOM);
    struct arena expected = arena_twin(&in);
    arena_put(&expected, 0, n, seed_of(i, rank, 1));
    MPI_File_read_at(f, at, in.origin, n, s->type, &status);
    if (elements(&status, s->type) != n) {
      fail("%s: %d elements read", s->name, elements(&status, s->type));
    }
    arena_check(&in, &expected, "read_at");
  }
  MPI_File_close(&f);
  mix_file();
  report("shapes");
  remove_file();
}

/* A file of one's own, a request, and no data. */
static void own(void) {
  char common[sizeof(path)];
  int in[3] = {rank, 2, 3}, out[3] = {0, 0, 0};
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Offset at = -1;
  memcpy(common, path, sizeof(path));
  snprintf(path + strlen(path), 20, ".%d", rank);
  MPI_File f = open_file(MPI_COMM_SELF, MPI_MODE_CREATE | MPI_MODE_RDWR |
                                            MPI_MODE_DELETE_ON_CLOSE);
  MPI_File_iwrite(f, in, 3, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  if (elements(&status, MPI_INT) != 3 || position(f) != 12) {
    fail("iwrite: %d elements", elements(&status, MPI_INT));
  }
  MPI_File_iwrite_at(f, 12, in, 1, MPI_INT, &requests[0]);
  MPI_File_iread_at(f, 0, out, 3, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("iread_at: other bytes");
  }
  MPI_File_iread(f, out, 1, MPI_INT, &requests[0]);
  int flag = 0;
  while (!flag) {
    MPI_Test(&requests[0], &flag, &status);
  }
  if (elements(&status, MPI_INT) != 1 || out[0] != rank) {
    fail("iread: %d elements", elements(&status, MPI_INT));
  }
  MPI_File_read_at(f, 0, out, 0, MPI_INT, &status);
  if (elements(&status, MPI_INT) != 0) {
    fail("read of nothing: %d elements", elements(&status, MPI_INT));
  }
  MPI_File_get_byte_offset(f, 5, &at);
  mix_number((uint64_t)at);
  MPI_File_close(&f);
  if (access(path, F_OK) == 0) {
    fail("the file was to be deleted");
  }
  memcpy(path, common, sizeof(path));
  report("own");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  make_shapes(shapes);
  name_file("individual");
  parts();
  run_everywhere(shape_of_memory);
  own();
  free_shapes(shapes);
  return end();
}
