/* What is wrong with files: modes, handles, arguments; who is told. */
#include "files.h"

static void say(const char *what, int code) {
  printf("rank %d: %s: class %d\n", rank, what, class_of(code));
}

static void say_open(const char *what, const char *name, int amode) {
  MPI_File f = MPI_FILE_NULL;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &f);
  say(what, code);
  if (code == MPI_SUCCESS) {
    MPI_File_close(&f);
  }
}

static void modes(void) {
  say_open("nothing there", path, MPI_MODE_RDONLY);
  say_open("no folder", "/nowhere/at/all", MPI_MODE_CREATE | MPI_MODE_RDWR);
  say_open("no mode", path, MPI_MODE_CREATE);
  say_open("two modes", path, MPI_MODE_RDONLY | MPI_MODE_RDWR);
  say_open("create to read", path, MPI_MODE_CREATE | MPI_MODE_RDONLY);
  say_open("sequential", path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL);
  say_open("create", path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
  say_open("again", path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
  say_open("read", path, MPI_MODE_RDONLY);
}

static void accesses(void) {
  int word = 1;
  MPI_Offset at;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  MPI_Datatype raw;
  int amode = 0;
  MPI_File_get_amode(f, &amode);
  if (amode != MPI_MODE_RDONLY) {
    fail("amode %d", amode);
  }
  say("write", MPI_File_write(f, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
  say("write_shared",
      MPI_File_write_shared(f, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
  say("count", MPI_File_read(f, &word, -1, MPI_INT, MPI_STATUS_IGNORE));
  say("type", MPI_File_read(f, &word, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
  MPI_Type_contiguous(2, MPI_INT, &raw);
  say("not committed", MPI_File_read(f, &word, 1, raw, MPI_STATUS_IGNORE));
  MPI_Type_free(&raw);
  say("whence", MPI_File_seek(f, 0, 77));
  say("whence", MPI_File_seek_shared(f, 0, 77));
  say("before the start", MPI_File_seek(f, -1, MPI_SEEK_SET));
  say("nowhere", MPI_File_get_position(f, NULL));
  say("nowhere", MPI_File_get_position_shared(f, NULL));
  say("nowhere", MPI_File_get_amode(f, NULL));
  say("displacement", MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT,
                                        MPI_INT, "native", MPI_INFO_NULL));
  say("representation",
      MPI_File_set_view(f, 0, MPI_INT, MPI_INT, NULL, MPI_INFO_NULL));
  say("filetype", MPI_File_set_view(f, 0, MPI_INT, MPI_DATATYPE_NULL, "native",
                                    MPI_INFO_NULL));
  say("no file", MPI_File_get_position(MPI_FILE_NULL, &at));
  say("no file",
      MPI_File_read(MPI_FILE_NULL, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_File none = MPI_FILE_NULL;
  say("no file", MPI_File_close(&none));
  MPI_File_close(&f);
  f = open_file(MPI_COMM_WORLD, MPI_MODE_WRONLY);
  say("read", MPI_File_read(f, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_File_close(&f);
}

static int called, called_for;
static MPI_File called_with;

static void handler(MPI_File *f, int *code, ...) {
  called++;
  called_with = *f;
  called_for = class_of(*code);
}

static void handlers(void) {
  MPI_Errhandler mine, got, wrong;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDONLY), g;
  int word = 0;
  MPI_File_get_errhandler(f, &got);
  if (got != MPI_ERRORS_RETURN) {
    fail("the default handler");
  }
  MPI_Errhandler_free(&got);
  MPI_File_create_errhandler(handler, &mine);
  MPI_File_set_errhandler(f, mine);
  MPI_Errhandler_free(&mine);
  MPI_File_write(f, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
  if (called != 1 || called_with != f) {
    fail("handler: called %d times", called);
  }
  printf("rank %d: handler: class %d\n", rank, called_for);
  MPI_File_call_errhandler(f, MPI_ERR_IO);
  if (called != 2 || called_for != MPI_ERR_IO) {
    fail("call_errhandler");
  }
  MPI_File_get_errhandler(f, &got);
  MPI_File_close(&f);
  /* New files get that of MPI_FILE_NULL, which is told of failed opens. */
  MPI_File_set_errhandler(MPI_FILE_NULL, got);
  MPI_Errhandler_free(&got);
  called_with = f;
  MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY,
                MPI_INFO_NULL, &g);
  if (called != 3 || called_with != MPI_FILE_NULL) {
    fail("open: handler called %d times", called);
  }
  f = open_file(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  MPI_File_seek(f, -1, MPI_SEEK_SET);
  if (called != 4 || called_with != f) {
    fail("inherited: handler called %d times", called);
  }
  MPI_File_close(&f);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Comm_create_errhandler(
      (MPI_Comm_errhandler_function *)(void (*)(void))handler, &wrong);
  say("another kind of handler", MPI_File_set_errhandler(MPI_FILE_NULL, wrong));
  MPI_Errhandler_free(&wrong);
}

static void infos(void) {
  MPI_Info info;
  MPI_File f = MPI_FILE_NULL;
  int n = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "nobody_knows", "this");
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &f)) {
    fail("open with an info");
  }
  MPI_File_set_info(f, info);
  MPI_Info_free(&info);
  MPI_File_get_info(f, &info);
  MPI_Info_get_nkeys(info, &n);
  if (n < 0) {
    fail("get_info");
  }
  MPI_Info_free(&info);
  if (MPI_File_f2c(MPI_File_c2f(f)) != f ||
      MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) != MPI_FILE_NULL) {
    fail("handles of Fortran");
  }
  MPI_File_close(&f);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("errors");
  modes();
  accesses();
  handlers();
  infos();
  remove_file();
  if (rank == 0) {
    say("delete nothing", MPI_File_delete(path, MPI_INFO_NULL));
  }
  return end();
}
