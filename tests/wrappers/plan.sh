#!/bin/sh
# pemsinfo --plan: what it predicts of a program whose contexts and supersteps are
# known, and of one run of it; what it recommends; that it ends well when dry runs
# do not. (tests/unit/wrappers/plan has the fits and the formulas.)
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/prediction.sh
. "$here/tests/prediction.sh"
mkdir disk tmp
PEMS_DISK=$work/disk
TMPDIR=$work/tmp
export PEMS_DISK TMPDIR

# Each of n ranks has SIZE / n bytes, or SIZE if "each" is said; all of it is read
# and written before each of four barriers.
cat >sweep.c <<'END2'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, ranks;
  const size_t size = strtoull(argv[1] + strcspn(argv[1], "0123456789"), NULL, 10);
  const char *const how = argc > 2 ? argv[2] : "";
  if (strcmp(how, "leave") == 0 && size < 1000000) {
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(how, "fail") == 0 && rank == 1) {
    fprintf(stderr, "%zu is too small\n", size);
    exit(3);
  }
  const size_t mine = strcmp(how, "each") == 0 ? size : size / (size_t)ranks;
  unsigned char *const memory = calloc(mine, 1);
  for (int step = 0; step < 4; step++) {
    for (size_t i = 0; i < mine; i++) {
      memory[i] += (unsigned char)(i + (size_t)rank + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return memory[1] != (unsigned char)(4 * (rank + 2));
}
END2
pemscc -O2 -o sweep sweep.c || exit 1

# field NAME: what the prediction says of it, as a whole number.
field() {
  prediction out "$1" %.0f
}

# near TITLE VALUE EXPECTED PERCENT
near() {
  if awk -v a="$2" -v b="$3" -v p="$4" \
    'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && d <= b * p / 100) }'; then
    echo "PASS $1: $2 for $3"
  else
    fail "$1: $2, expected $3 within $4 %"
  fi
}

nothing_left() {
  left=$(find tmp disk -mindepth 1)
  [ -z "$left" ] || fail "$1 leaves files: $left"
}

# --- a prediction, and the run ---

size=$((192 << 20))
options="-n 24 --pems-k=2 --pems-memory=112M"
# shellcheck disable=SC2086 # words
try pemsinfo --plan=192M --sizes=24M,48M,96M --rate=1G $options ./sweep --n=@
[ $status -eq 0 ] || fail "--plan: exit status $status"
cp out plan
near "contexts" "$(field context)" $((size / 24)) 20
[ "$(field supersteps)" = 6 ] || fail "supersteps: $(field supersteps)"
grep -q '^ *[0-9]* MPI_Barrier ' plan || fail "no line for a superstep"
grep -q '^- with more ranks, contexts become smaller' plan ||
  fail "it does not see that data are divided"
[ "$(grep -c '^pemsrun -n 24 .*--pems-memory=112M' plan)" -eq 1 ] ||
  fail "it recommends other ranks though k + 2 contexts fit"
if grep -q 'were they 5 % larger' plan; then
  fail "a prediction far from where all contexts fit is called a narrow one"
fi
predicted_read=$(field read)
predicted_written=$(field written)
disk=$(awk '$1 == "disk" { print $2 }' plan)
near "seconds of the disks" "$disk" \
  "$(awk "BEGIN { print ($predicted_read + $predicted_written) / 2 ^ 30 }")" 2
nothing_left "--plan"

# shellcheck disable=SC2086
try pemsrun $options --pems-stats ./sweep --n=$size
[ $status -eq 0 ] || fail "the run: exit status $status"
counter() {
  sed -n "s/^RESULT pems .* $1=\([0-9]*\).*/\1/p" err
}
near "bytes read" "$predicted_read" "$(counter bytes_read)" 25
near "bytes written" "$predicted_written" "$(counter bytes_written)" 25

# With 12 % less memory than all contexts need, a little more of each changes much.
all=$(sed -n 's/.*with --pems-memory=\([0-9]*\).* MiB nothing is moved$/\1/p' plan)
try pemsinfo --plan=192M --sizes=24M,48M --rate=1G -n 24 --pems-k=2 \
  --pems-memory=$((all * 88 / 100))M ./sweep @
grep -q '^- only [0-9]* % of the contexts are on disk: were they 5 % larger' out ||
  fail "it does not say that nearly all contexts fit"

# --- what it recommends ---

# Of 24 ranks only 2 and a bit fit; of 48 there is room for 4.
try pemsinfo --plan=192M --sizes=24M,48M --rate=1G -n 24 --pems-k=2 \
  --pems-memory=60M ./sweep @
[ $status -eq 0 ] || fail "few contexts: exit status $status"
grep -q '^pemsrun -n \(48\|96\) ' out || fail "it does not recommend more ranks"
grep -q 'k + 2 = 4 contexts of .* fit then' out || fail "it does not say why"
# Of 192 MiB the part that is on disk goes out and in five times.
near "bytes of few contexts" "$(field written)" $((5 * 182 << 20)) 15
try pemsinfo --plan=24M --sizes=6M,12M -n 24 --pems-k=2 \
  --pems-memory=512M ./sweep @
grep -q 'all fit$' out || fail "it does not see that all fit in memory"
grep -q '^disk .* measured here$' out || fail "the disks were not measured"
[ "$(field read)" = 0 ] && [ "$(field written)" = 0 ] ||
  fail "it predicts I/O where all fit in memory"

# --- fewer ranks ---

# Contexts come as a whole: what ranks learn from each other depends on how many
# there are.
try pemsinfo --plan --ranks=4,8 --rate=1G -n 24 --pems-k=2 --pems-memory=112M --pems-swapin=eager \
  ./sweep $((size / 24)) each
[ $status -eq 0 ] || fail "ranks: exit status $status"
near "contexts of ranks" "$(field context)" $((size / 24)) 20
near "bytes read by more ranks" "$(field read)" "$predicted_read" 30
grep -q '^- with more ranks, contexts stay as large' out ||
  fail "it takes data for divided that are not"
nothing_left "--plan by ranks"

# --- dry runs that fail ---

# broken TITLE PATTERN COMMAND...: status 1, one line of pems that matches.
broken() {
  title=$1
  pattern=$2
  shift 2
  try "$@"
  if [ $status -ne 1 ]; then
    fail "$title: exit status $status, expected 1"
  elif [ "$(grep -c '^pems: --plan' err)" -ne 1 ] ||
    ! grep -Eq "^pems: --plan: .*$pattern" err; then
    fail "$title: no line of pems that matches '$pattern'"
  else
    echo "PASS $title"
  fi
  nothing_left "$title"
}
broken "a program that fails" 'with 4 ranks and size 4096: exit status 3: ' \
  pemsinfo --plan=1M --sizes=4096,8192 -n 4 ./sweep @ fail
grep -q '^4096 is too small' err || fail "what the program said is not shown"
broken "one that ends too early" 'no collective call and no message' \
  pemsinfo --plan=1M --sizes=4096,8192 -n 4 ./sweep @ leave
broken "one that is not there" 'exit status 2' \
  pemsinfo --plan=1M --sizes=4096,8192 -n 4 ./no_such @
grep -q 'no_such' err || fail "pemsrun's line is not shown"
broken "one that is none of pems" 'exit status|left no report' \
  pemsinfo --plan=1M --sizes=4096,8192 -n 4 /bin/true @

# --- what is refused ---

refused "no program" '--plan: no program' pemsinfo --plan
refused "no place for the size" '--plan: 1048576: no @' \
  pemsinfo --plan=1M ./sweep 5
refused "no size" '--plan=x: give a number' pemsinfo --plan=x ./sweep @
refused "one size" '--sizes=5: give two' pemsinfo --plan=1M --sizes=5 ./sweep @
refused "sizes without one" '--sizes: not without a size' \
  pemsinfo --plan --sizes=5,6 ./sweep
refused "ranks with a size" '--ranks: not with a size' \
  pemsinfo --plan=1M --ranks=4,8 ./sweep @
refused "too few ranks" '--ranks: 1: 1 process with k=2' \
  pemsinfo --plan -n 8 --pems-k=2 --ranks=1,4 ./sweep 5
refused "options behind the program" '--pems-k=2: give it before' \
  pemsinfo --plan=1M ./sweep @ --pems-k=2
refused "another option" '--what: unexpected with --plan' \
  pemsinfo --plan=1M --what ./sweep @
refused "a wrong option of pems" '--pems-memory: x' \
  pemsinfo --plan=1M --pems-memory=x ./sweep @
refused "who moves?" '--pems-io: mmap: the kernel decides' \
  pemsinfo --plan=1M --pems-io=mmap ./sweep @
refused "no rate" '--rate=0: give a number' pemsinfo --plan=1M --rate=0 ./sweep @
expect "the plan of a job has another meaning" 0 '^plan for pemsrun -n 5' -- \
  pemsinfo -n 5
conclude
