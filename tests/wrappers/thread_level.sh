#!/bin/sh
# An MPI that gives threads less than MPI_THREAD_MULTIPLE: what is said, and what
# works then. A library between pems and MPI says so in the place of MPI.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

cat >less.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
int PMPI_Init_thread(int *argc, char ***argv, int asked, int *given) {
  int (*real)(int *, char ***, int, int *) =
      (int (*)(int *, char ***, int, int *))dlsym(RTLD_NEXT, "PMPI_Init_thread");
  const int code = real(argc, argv, asked, given);
  const int numbers[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                         MPI_THREAD_SERIALIZED};
  *given = numbers[atoi(getenv("LEVEL"))];
  return code;
}
END
"${MPICC:-mpicc}" -shared -fPIC -o libless.so less.c || exit 1
cat >ring.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, got = -1, sum = 0, level;
  MPI_File file;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  printf("rank %d sum %d\n", rank, sum);
  MPI_Finalize();
  return sum != size * (size - 1) / 2;
}
END
pemscc -g -o ring ring.c || exit 1
# What pems looks for after itself comes from there.
libpems=$(ldd ring | sed -n 's/.*=> \(.*libpems\.so[^ ]*\).*/\1/p')
[ -n "$libpems" ] || skip "libpems is not linked dynamically"
cat >with <<'END'
#!/bin/sh
LD_PRELOAD=$PRELOADED exec "$@"
END
chmod +x with
PRELOADED="$libpems $work/libless.so"
export PRELOADED LEVEL

LEVEL=2
expect "one process, one rank at a time" 0 '^rank 3 sum 6$' -- \
  pemsrun -n 4 --pems-procs=1 --pems-k=1 ./with ./ring data
[ "$(wc -c <data)" -eq 16 ] || fail "the file has not one number of each rank"
refused "two ranks at a time" 'gives MPI_THREAD_SERIALIZED.*--pems-k=1' \
  pemsrun -n 4 --pems-procs=1 --pems-k=2 ./with ./ring data
set -- pemsrun -n 4 --pems-procs=2 --pems-k=1 ./with ./ring data
line='gives MPI_THREAD_SERIALIZED.*--pems-procs=1'
if [ $launcher = prrte ]; then # which cannot be told to be quiet
  expect "two processes" 2 '' "^pems: .*$line" -- "$@"
else
  refused "two processes" "$line" "$@"
fi
for LEVEL in 0 1; do
  refused "less than MPI_THREAD_SERIALIZED ($LEVEL)" \
    'gives MPI_THREAD_(SINGLE|FUNNELED).*use an MPI' \
    pemsrun -n 4 --pems-procs=1 --pems-k=1 ./with ./ring data
done

conclude
