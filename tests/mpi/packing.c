/* Packing, in the representation of the machine and in external32, and packed
   messages. */
#include "test.h"

static MPI_Comm team; /* the world in reverse order */
static int me;

/* Three calls into one buffer, which travels and is taken apart. */
static void messages(struct shape *shapes) {
  const int left = (me + size - 1) % size;
  for (int i = 0; i < SHAPES; i++) {
    const struct shape *s = &shapes[i];
    const int n = count_of(s, 3);
    int room = 0, need = 0, position = 0, got = -1;
    char tail = 0;
    MPI_Status status;
    MPI_Pack_size(n, s->type, team, &need);
    MPI_Pack_size(1, MPI_CHAR, team, &room);
    room += need + (int)sizeof(double) + 64;
    char *out = malloc((size_t)room), *in = malloc((size_t)room);
    struct arena a = arena_make(s, n, 0, 7, NULL, 0);
    arena_put(&a, 0, n, seed_of(i, me, 0));
    const double value = me + 0.5;
    MPI_Pack(&value, 1, MPI_DOUBLE, out, room, &position, team);
    MPI_Pack(a.origin, n, s->type, out, room, &position, team);
    MPI_Pack("z", 1, MPI_CHAR, out, room, &position, MPI_COMM_SELF);
    if (position != 8 + n * s->size + 1) {
      fail("%s: packed to %d", s->name, position);
    }
    MPI_Sendrecv(out, position, MPI_PACKED, (me + 1) % size, 5, in, room,
                 MPI_PACKED, left, 5, team, &status);
    MPI_Get_count(&status, MPI_PACKED, &got);
    if (got != position) {
      fail("%s: %d bytes came", s->name, got);
    }
    double number = 0;
    struct arena b = arena_make(s, n, 4, 9, NULL, 0), twin = arena_twin(&b);
    position = 0;
    MPI_Unpack(in, got, &position, &number, 1, MPI_DOUBLE, team);
    MPI_Unpack(in, got, &position, b.origin, n, s->type, team);
    MPI_Unpack(in, got, &position, &tail, 1, MPI_CHAR, MPI_COMM_WORLD);
    arena_put(&twin, 0, n, seed_of(i, left, 0));
    if (number != left + 0.5 || tail != 'z' || position != got) {
      fail("%s: %g, %d, to %d of %d", s->name, number, tail, position, got);
    }
    arena_check(&b, &twin, "unpacked");
    arena_free(&a);
    free(out);
    free(in);
  }
  report("messages");
}

/* Sent by its type, received packed, and the other way. */
static void one_side(struct shape *shapes) {
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  for (int i = 0; i < SHAPES; i++) {
    const struct shape *s = &shapes[i];
    const int n = count_of(s, 2), bytes = n * s->size;
    char *packed = malloc((size_t)bytes + 1);
    int position = 0;
    struct arena a = arena_make(s, n, 0, 7, NULL, 0), twin = arena_twin(&a);
    arena_put(&a, 0, n, seed_of(i, me, 1));
    MPI_Sendrecv(a.origin, n, s->type, right, 6, packed, bytes, MPI_PACKED,
                 left, 6, team, MPI_STATUS_IGNORE);
    arena_put(&twin, 0, n, seed_of(i, left, 1));
    MPI_Unpack(packed, bytes, &position, a.origin, n, s->type, team);
    struct arena again = arena_twin(&twin);
    memcpy(again.memory, twin.memory, twin.bytes);
    arena_check(&a, &twin, "received packed");
    struct arena c = arena_make(s, n, 0, 7, NULL, 0);
    MPI_Sendrecv(packed, bytes, MPI_PACKED, right, 7, c.origin, n, s->type,
                 left, 7, team, MPI_STATUS_IGNORE);
    struct arena older = arena_twin(&c);
    arena_put(&older, 0, n, seed_of(i, (left + size - 1) % size, 1));
    arena_check(&c, &older, "sent packed");
    arena_free(&again);
    free(packed);
  }
  report("one side");
}

/* external32: big-endian, without gaps. */
static void external(void) {
  const unsigned char wanted[] = {0,    0,    1,    2,    0xff, 0xff, 0xff,
                                  0xfe, 0x3f, 0xf8, 0,    0,    0,    0,
                                  0,    0,    0x12, 0x34, 'q'};
  const int ints[2] = {0x102, -2};
  const double real = 1.5;
  const short half = 0x1234;
  unsigned char bytes[64] = {0}, came[64] = {0};
  MPI_Aint at = 0, need = -1;
  const int left = (me + size - 1) % size;
  MPI_Pack_external_size("external32", 2, MPI_INT, &need);
  if (need != 8) {
    fail("MPI_Pack_external_size: %ld", (long)need);
  }
  MPI_Pack_external("external32", ints, 2, MPI_INT, bytes, 64, &at);
  MPI_Pack_external("external32", &real, 1, MPI_DOUBLE, bytes, 64, &at);
  MPI_Pack_external("external32", &half, 1, MPI_SHORT, bytes, 64, &at);
  MPI_Pack_external("external32", "q", 1, MPI_CHAR, bytes, 64, &at);
  if (at != sizeof(wanted) || memcmp(bytes, wanted, sizeof(wanted)) != 0) {
    fail("MPI_Pack_external: %ld bytes", (long)at);
  }
  MPI_Sendrecv(bytes, (int)at, MPI_BYTE, (me + 1) % size, 8, came, 64, MPI_BYTE,
               left, 8, team, MPI_STATUS_IGNORE);
  int back[2] = {0, 0};
  double number = 0;
  short small = 0;
  char letter = 0;
  MPI_Aint end = at;
  at = 0;
  MPI_Unpack_external("external32", came, end, &at, back, 2, MPI_INT);
  MPI_Unpack_external("external32", came, end, &at, &number, 1, MPI_DOUBLE);
  MPI_Unpack_external("external32", came, end, &at, &small, 1, MPI_SHORT);
  MPI_Unpack_external("external32", came, end, &at, &letter, 1, MPI_CHAR);
  if (at != end || back[0] != 0x102 || back[1] != -2 || number != 1.5 ||
      small != 0x1234 || letter != 'q') {
    fail("MPI_Unpack_external: %d %d %g %d, at %ld", back[0], back[1], number,
         small, (long)at);
  }
}

/* A derived type in external32 is its elements, turned around. */
static void external_derived(struct shape *shapes) {
  for (int i = 0; i < SHAPES; i++) {
    const struct shape *s = &shapes[i];
    const int n = count_of(s, 1);
    unsigned char swapped[INTS * 4] = {0};
    uint32_t numbers[INTS];
    MPI_Aint at = 0, need = -1;
    struct arena a = arena_make(s, n, 0, 7, NULL, 0), twin = arena_twin(&a);
    arena_put(&a, 0, n, 99);
    stream(numbers, sizeof(numbers), 99);
    MPI_Pack_external_size("external32", n, s->type, &need);
    MPI_Pack_external("external32", a.origin, n, s->type, swapped,
                      sizeof(swapped), &at);
    for (int k = 0; k < INTS; k++) {
      const unsigned char *b = swapped + 4 * k;
      const uint32_t number = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
                              (uint32_t)b[2] << 8 | b[3];
      if (number != numbers[k]) {
        fail("%s: number %d in external32", s->name, k);
      }
    }
    if (need != sizeof(swapped) || at != sizeof(swapped)) {
      fail("%s: %ld bytes, %ld needed", s->name, (long)at, (long)need);
    }
    stream(a.memory, a.bytes, a.seed);
    at = 0;
    MPI_Unpack_external("external32", swapped, sizeof(swapped), &at, a.origin,
                        n, s->type);
    arena_put(&twin, 0, n, 99);
    arena_check(&a, &twin, "unpacked from external32");
  }
  report("external32");
}

static void errors(void) {
  char room[4];
  int position = 0, code, class = 0, number = 7;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(team, MPI_ERRORS_RETURN);
  code = MPI_Pack(&number, 2, MPI_INT, room, 4, &position, team);
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_TRUNCATE || position != 0) {
    fail("MPI_Pack without room: class %d", class);
  }
  code = MPI_Pack(&number, 1, MPI_INT, room, 4, &position, MPI_COMM_NULL);
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_COMM) {
    fail("MPI_Pack, no communicator: class %d", class);
  }
  code = MPI_Pack_size(1, MPI_DATATYPE_NULL, team, &position);
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_TYPE) {
    fail("MPI_Pack_size, no type: class %d", class);
  }
}

int main(int argc, char **argv) {
  struct shape shapes[SHAPES];
  begin(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &team);
  MPI_Comm_rank(team, &me);
  make_shapes(shapes);
  messages(shapes);
  one_side(shapes);
  external();
  external_derived(shapes);
  errors();
  free_shapes(shapes);
  MPI_Comm_free(&team);
  return end();
}
