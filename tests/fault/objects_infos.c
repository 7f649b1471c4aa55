/* Hints, on their own and of communicators: see objects.h. */
#include "objects.h"

static MPI_Info empty, many, young;
static MPI_Fint number;
static MPI_Comm hinted;

static void objects_make(void) {
  char text[400];
  memset(text, 'x', sizeof(text));
  text[MPI_MAX_INFO_VAL < 400 ? MPI_MAX_INFO_VAL - 1 : 399] = '\0';
  MPI_Info_create(&empty);
  MPI_Info_create(&many);
  MPI_Info_set(many, "second", " with blanks ");
  MPI_Info_set(many, "first", "1");
  MPI_Info_set(many, "long", text);
  MPI_Info_create(&young);
  MPI_Info_set(young, "age", "0");
  number = MPI_Info_c2f(many);
  MPI_Comm_dup(MPI_COMM_WORLD, &hinted);
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_allow_overtaking", "true");
  MPI_Comm_set_info(hinted, hints);
  MPI_Info_free(&hints);
}

static void look(MPI_Info info) {
  int n;
  MPI_Info_get_nkeys(info, &n);
  note(n);
  for (int i = 0; i < n; i++) {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    note_bytes(key, strlen(key));
    note_bytes(value, strlen(value));
  }
}

static void objects_use(int s) {
  char text[20];
  MPI_Info copy, of_comm;
  expect(MPI_Info_f2c(number) == many, "number");
  look(empty);
  look(many);
  look(young);
  MPI_Info_dup(many, &copy);
  look(copy);
  MPI_Info_free(&young);
  young = copy;
  snprintf(text, sizeof(text), "%d", s);
  MPI_Info_set(young, "age", text);
  MPI_Info_set(many, text, "in this step");
  MPI_Comm_get_info(hinted, &of_comm);
  look(of_comm);
  MPI_Info_free(&of_comm);
}

static void objects_free(void) {
  MPI_Info_free(&empty);
  MPI_Info_free(&many);
  MPI_Info_free(&young);
  MPI_Comm_free(&hinted);
}
