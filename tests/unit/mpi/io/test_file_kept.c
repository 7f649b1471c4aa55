/* A file of MPI that a rank has open, written and read anew. */
#include "mpi/io/file_kept.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../check_byte.h"
#include "../check_kept.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/io/file.h"
#include "mpi/io/file_open.h"
#include "mpi/io/file_owner.h"
#include "mpi/request/request.h"

enum { ID = 77 };

static char there; /* what the real library has */
static char opened[PATH_MAX];
static int opened_as, views, atomic;
static MPI_Offset position;

static int open_real(MPI_Comm comm, const char *name, int amode, MPI_Info info,
                     MPI_File *file) {
  (void)comm, (void)info;
  strncpy(opened, name, sizeof(opened) - 1);
  opened_as = amode;
  *file = (MPI_File)(uintptr_t)&there;
  return MPI_SUCCESS;
}

static int get_view(MPI_File file, MPI_Offset *displacement,
                    MPI_Datatype *etype, MPI_Datatype *filetype,
                    char *datarep) {
  (void)file;
  *displacement = 12;
  *etype = *filetype = MPI_BYTE;
  strcpy(datarep, "native");
  return MPI_SUCCESS;
}

static int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                    MPI_Datatype filetype, const char *datarep, MPI_Info info) {
  (void)file, (void)info;
  views += displacement == 12 && etype == MPI_BYTE && filetype == MPI_BYTE &&
           strcmp(datarep, "native") == 0;
  return MPI_SUCCESS;
}

static int get_position(MPI_File file, MPI_Offset *at) {
  (void)file;
  *at = position;
  return MPI_SUCCESS;
}

static int seek(MPI_File file, MPI_Offset at, int whence) {
  (void)file;
  position = whence == MPI_SEEK_SET ? at : -1;
  return MPI_SUCCESS;
}

static int get_info(MPI_File file, MPI_Info *info) {
  (void)file;
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

static int set_atomicity(MPI_File file, int flag) {
  (void)file;
  atomic = flag;
  return MPI_SUCCESS;
}

static int commit(MPI_Datatype *type) {
  (void)type;
  return MPI_SUCCESS;
}

static void start(void) {
  byte_only();
  real.File_open = open_real;
  real.File_get_view = get_view;
  real.File_set_view = set_view;
  real.File_get_position = get_position;
  real.File_seek = seek;
  real.File_get_info = get_info;
  real.File_set_atomicity = set_atomicity;
  real.Type_commit = commit;
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
}

static struct file *make(int amode) {
  static const int world[] = {0, 2};
  struct comm *const own = comm_new(&shortage_rank, ID, world, 2, 2, 0);
  struct file *const file = file_again(own, "name", "/of/root/name", amode);
  file->real = (MPI_File)(uintptr_t)&there;
  (void)handle_c2f(&file->handle);
  return file;
}

static void save_pointers(struct checkpoint_writer *to) {
  file_kept_save_pointers(&shortage_rank, to);
}

static void load_pointers(struct checkpoint_reader *from) {
  file_kept_load_pointers(&shortage_rank, from);
}

static void load(struct parcel *p) {
  ck_assert_int_eq(file_kept_load(&shortage_rank, p), 0);
  ck_assert(!p->failed && p->at == p->n);
  kept_load(load_pointers);
}

START_TEST(a_file_is_as_it_was) {
  struct parcel p = {0};
  start();
  struct file *const file =
      make(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
  const int number = file->handle.fortran;
  file->views = 1;
  file->etype = 4;
  file->atomic = true;
  file->lost = MPI_ERR_IO;
  file->last = FILE_WRITTEN;
  position = 5;
  file_owner_begin(file, 3);
  ck_assert_int_eq((int)file_pointer_take(file, 9, "a test"), 0);
  ck_assert(file_kept_any(&shortage_rank));
  ck_assert_ptr_null(file_kept_obstacle(&shortage_rank));
  file_kept_save(&shortage_rank, &p);
  kept_save(save_pointers, NULL);
  /* As if the process had ended. */
  file_owner_end(file);
  handle_end(&file->handle);
  shortage_rank.files = NULL;
  position = 0;
  load(&p);
  const struct file *const again =
      (struct file *)handle_f2c(HANDLE_FILE, number);
  ck_assert_ptr_nonnull(again);
  ck_assert_str_eq(again->name, "name");
  ck_assert_str_eq(opened, "/of/root/name");
  ck_assert_int_eq(opened_as, MPI_MODE_RDWR);
  ck_assert_int_eq(again->amode,
                   MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
  ck_assert_int_eq(views, 1);
  ck_assert_int_eq((int)position, 5);
  ck_assert_int_eq(atomic, 1);
  ck_assert(again->atomic && again->etype == 4 && again->views == 1);
  ck_assert_int_eq(again->lost, MPI_ERR_IO);
  ck_assert_int_eq(again->last, FILE_WRITTEN);
  ck_assert_int_eq((int)file_pointer_take((struct file *)again, 0, "a test"),
                   9);
  parcel_free(&p);
}
END_TEST

static int note(const char *name, bool writes, void *arg) {
  int *const seen = arg;
  *seen += strcmp(name, "/of/root/name") == 0 ? 1 + 10 * writes : 100;
  return *seen == 2;
}

START_TEST(files_are_told_one_by_one) {
  int seen = 0;
  start();
  ck_assert_int_eq(file_kept_each(&shortage_rank, note, &seen), 0);
  make(MPI_MODE_RDONLY);
  ck_assert_int_eq(file_kept_each(&shortage_rank, note, &seen), 0);
  ck_assert_int_eq(seen, 1);
  shortage_rank.files->first->amode = MPI_MODE_WRONLY;
  seen = 0;
  ck_assert_int_eq(file_kept_each(&shortage_rank, note, &seen), 0);
  ck_assert_int_eq(seen, 11);
  seen = 1;
  shortage_rank.files->first->amode = MPI_MODE_RDONLY;
  ck_assert_int_eq(file_kept_each(&shortage_rank, note, &seen), 1);
}
END_TEST

START_TEST(a_write_of_all_is_under_way_until_it_is_done) {
  start();
  struct file *const file = make(MPI_MODE_RDWR);
  ck_assert(!file_kept_writes(&shortage_rank));
  file->written = request_past(NULL, "MPI_File_write_all");
  ck_assert(file_kept_writes(&shortage_rank));
  request_done_now(file->written);
  ck_assert(!file_kept_writes(&shortage_rank));
}
END_TEST

START_TEST(one_without_a_name_is_in_the_way) {
  start();
  struct file *const file = make(MPI_MODE_RDONLY);
  file->path = NULL;
  ck_assert_ptr_nonnull(strstr(file_kept_obstacle(&shortage_rank), "name"));
}
END_TEST

int main(void) {
  return check_main(
      "file_kept",
      (const TTest *[]){a_file_is_as_it_was, files_are_told_one_by_one,
                        a_write_of_all_is_under_way_until_it_is_done,
                        one_without_a_name_is_in_the_way, NULL});
}
