/* Start, end, environment, MPI_Barrier. An argument: use MPI_Init. */
#include "test.h"

#include <unistd.h>

static void before(void) {
  int flag = -1;
  MPI_Initialized(&flag);
  if (flag) {
    fail("MPI_Initialized before MPI_Init: %d", flag);
  }
  MPI_Finalized(&flag);
  if (flag) {
    fail("MPI_Finalized before MPI_Init: %d", flag);
  }
  int version = 0, minor, length;
  MPI_Get_version(&version, &minor);
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(library, &length);
  if (version < 3 || length < 1) {
    fail("version %d, %d characters", version, length);
  }
}

static void start(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "init") == 0) {
    MPI_Init(NULL, NULL);
  } else {
    int provided = -1, level = -2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_SINGLE || provided > MPI_THREAD_MULTIPLE) {
      fail("provided: %d", provided);
    }
    MPI_Query_thread(&level);
    if (level != provided) {
      fail("MPI_Query_thread: %d, not %d", level, provided);
    }
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 1024);
}

static void environment(void) {
  int flag = 0, length = -1, self_rank = -1, self_size = -1;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Initialized(&flag);
  if (!flag) {
    fail("MPI_Initialized after MPI_Init");
  }
  MPI_Is_thread_main(&flag);
  if (!flag) {
    fail("MPI_Is_thread_main");
  }
  MPI_Get_processor_name(name, &length);
  if (length < 1 || name[length] != 0 || strlen(name) != (size_t)length) {
    fail("processor name: %d characters", length);
  }
  MPI_Comm_rank(MPI_COMM_SELF, &self_rank);
  MPI_Comm_size(MPI_COMM_SELF, &self_size);
  printf("rank %d of %d: self %d of %d\n", rank, size, self_rank, self_size);
  const double before = MPI_Wtime(), tick = MPI_Wtick();
  usleep(2000);
  const double passed = MPI_Wtime() - before;
  if (passed < 0.0015 || passed > 30 || tick <= 0 || tick > 1) {
    fail("2 ms took %g s, tick %g s", passed, tick);
  }
}

static void memory(void) {
  int *numbers = NULL;
  MPI_Alloc_mem(1000 * sizeof(*numbers), MPI_INFO_NULL, &numbers);
  for (int i = 0; i < 1000; i++) {
    numbers[i] = i * rank;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 1000; i++) {
    if (numbers[i] != i * rank) {
      fail("MPI_Alloc_mem: %d", i);
    }
  }
  MPI_Free_mem(numbers);
}

static void datatypes_and_info(void) {
  int dims[2] = {0, 0}, found = 0;
  char text[20] = "";
  MPI_Info info;
  MPI_Dims_create(12, 2, dims);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_get(info, "key", 19, text, &found);
  MPI_Info_free(&info);
  printf("rank %d: %d x %d, %s\n", rank, dims[0], dims[1], text);
}

int main(int argc, char **argv) {
  before();
  start(argc, argv);
  environment();
  memory();
  datatypes_and_info();
  for (int i = 0; i < 200; i++) {
    MPI_Barrier(i % 4 ? MPI_COMM_WORLD : MPI_COMM_SELF);
  }
  printf("rank %d: %d arguments\n", rank, argc - 1);
  int finalized = 0;
  MPI_Finalize();
  MPI_Finalized(&finalized);
  if (!finalized) {
    fail("MPI_Finalized after MPI_Finalize");
  }
  MPI_Initialized(&finalized);
  if (!finalized) {
    fail("MPI_Initialized after MPI_Finalize");
  }
  printf("rank %d: failures: %d\n", rank, failures);
  return failures ? 1 : 0;
}
