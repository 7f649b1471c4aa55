/* Files of MPI with views, pointers of their own and shared ones, atomic and
   with split calls under way, in the folder $OBJECTS_DIR: see objects.h. */
#include "objects.h"

#include <unistd.h>

enum { CELLS = 16, LATE = 3 };

static MPI_File strided, shared, atomic, alone, read_only;
static MPI_Datatype every, record;
static MPI_Errhandler handler;
static char names[5][512];
static int errors, begun;
static int out[CELLS], in[CELLS];

static void failed(MPI_File *file, int *code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  errors += class + (*file == atomic);
}

static void open_file(int i, MPI_Comm comm, int amode, MPI_Info info,
                      MPI_File *file) {
  const int code = MPI_File_open(comm, names[i], amode, info, file);
  expect(code == MPI_SUCCESS, names[i]);
}

static void set_views(void) {
  MPI_Datatype block;
  MPI_Type_contiguous(2, MPI_INT, &record);
  MPI_Type_commit(&record);
  MPI_Type_create_resized(record, 0, size * (MPI_Aint)(2 * sizeof(int)),
                          &every);
  MPI_Type_commit(&every);
  MPI_File_set_view(strided, rank * (MPI_Offset)(2 * sizeof(int)), record,
                    every, "native", MPI_INFO_NULL);
  MPI_Type_contiguous(1, MPI_INT, &block);
  MPI_Type_commit(&block);
  MPI_File_set_view(shared, 8, block, block, "native", MPI_INFO_NULL);
  MPI_Type_free(&block); /* the view stays */
}

static void objects_make(void) {
  MPI_Info info;
  for (int i = 0; i < 5; i++) {
    snprintf(names[i], sizeof(names[i]), "%s/objects_file.%d.%d",
             getenv("OBJECTS_DIR"), i, i == 3 ? rank : 0);
  }
  if (rank == 0) {
    FILE *const f = fopen(names[4], "w");
    expect(f != NULL, "a file to be read");
    for (int i = 0; i < 512; i++) {
      fputc(i % 71, f);
    }
    fclose(f);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  unlink(names[3]); /* of a run before */
  MPI_Info_create(&info);
  MPI_Info_set(info, "access_style", "write_once");
  const int both = MPI_MODE_CREATE | MPI_MODE_RDWR;
  open_file(0, MPI_COMM_WORLD, both, info, &strided);
  open_file(1, MPI_COMM_WORLD, both, MPI_INFO_NULL, &shared);
  open_file(2, MPI_COMM_WORLD, both, MPI_INFO_NULL, &atomic);
  open_file(3, MPI_COMM_SELF, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
            MPI_INFO_NULL, &alone);
  open_file(4, MPI_COMM_WORLD, MPI_MODE_RDONLY, MPI_INFO_NULL, &read_only);
  MPI_Info_free(&info);
  MPI_File_set_atomicity(atomic, 1);
  MPI_File_create_errhandler(failed, &handler);
  MPI_File_set_errhandler(atomic, handler);
  set_views();
}

static void look(void) {
  int amode, flag;
  MPI_Offset at, bytes;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING];
  MPI_File_get_amode(alone, &amode);
  note(amode);
  MPI_File_get_atomicity(atomic, &flag);
  note(flag);
  MPI_File_get_position(strided, &at);
  note(at);
  MPI_File_get_byte_offset(strided, at, &bytes);
  note(bytes);
  MPI_File_get_position_shared(shared, &at);
  note(at);
  MPI_File_get_view(strided, &at, &etype, &filetype, datarep);
  note(at);
  note_bytes(datarep, strlen(datarep));
  MPI_File_seek(atomic, -1, MPI_SEEK_SET);
  note(errors);
}

/* Each rank goes on in its own part of the file. */
static void write_strided(int s) {
  for (int i = 0; i < CELLS; i++) {
    out[i] = 1000 * s + 10 * rank + i;
  }
  if (begun) {
    MPI_File_write_all_end(strided, out, MPI_STATUS_IGNORE);
    begun = 0;
  }
  MPI_File_write(strided, out, CELLS / 2, record, MPI_STATUS_IGNORE);
  if (s % 2) {
    MPI_File_write_all_begin(strided, out, 2, record);
    begun = 1;
  }
}

/* Who is late moves the pointer when its owner has been saved. */
static void write_shared(int s) {
  const int value = s;
  MPI_File_write_shared(shared, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void read_back(int s) {
  MPI_Offset bytes;
  MPI_Request request;
  char text[64];
  int value = 7 * s + rank;
  MPI_File_write_at(atomic, rank * (MPI_Offset)sizeof(int), &value, 1, MPI_INT,
                    MPI_STATUS_IGNORE);
  MPI_File_read_at(atomic, rank * (MPI_Offset)sizeof(int), in, 1, MPI_INT,
                   MPI_STATUS_IGNORE);
  note(in[0]);
  MPI_File_iread_at(read_only, s, text, sizeof(text) - 8, MPI_CHAR, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note_bytes(text, 8);
  MPI_File_read_at(shared, 0, in, s * size, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < s * size && i < CELLS; i++) {
    note(in[i] >= 0 && in[i] < s);
  }
  MPI_File_get_size(alone, &bytes);
  note(bytes);
  MPI_File_write(alone, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void objects_use(int s) {
  look();
  MPI_Barrier(MPI_COMM_WORLD);
  write_strided(s);
  if (s < CELLS / 8) {
    read_back(s);
  }
  write_shared(s);
}

static void objects_free(void) {
  MPI_Offset bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  if (begun) {
    MPI_File_write_all_end(strided, out, MPI_STATUS_IGNORE);
  }
  MPI_File_get_size(strided, &bytes);
  if (rank == 0) {
    printf("strided: %lld bytes\n", (long long)bytes);
  }
  MPI_File_get_size(shared, &bytes);
  if (rank == 0) {
    printf("shared: %lld bytes\n", (long long)bytes);
  }
  MPI_File *const all[] = {&strided, &shared, &atomic, &alone, &read_only};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    MPI_File_close(all[i]);
  }
  MPI_Type_free(&every);
  MPI_Type_free(&record);
  MPI_Errhandler_free(&handler);
}
