#!/bin/sh
# Libraries that ranks have opened are where they were after a restart, with
# their data, thread-local data and handles, in any number of processes; also
# where ranks have opened different ones, and closed some. What stands in the way
# of a checkpoint is named, and so is a library that is gone or another one.
. "$(dirname "$0")/checkpoint_lib.sh"

# shellcheck disable=SC2034 # of limit.sh
limit=200

# --- the libraries ---

dir=$work/libraries
mkdir "$dir"

cat >"$work/inner.c" <<'C'
#include <stdlib.h>
long inner_state = 5;
long *inner_block;
__thread long inner_own = 40;
__thread long *inner_at = &inner_state;
static long (*const table[600])(long);
long inner_value(long n) {
  inner_block[n % 1000] += n;
  inner_own += *inner_at;
  inner_state += n + (table[n % 600] != 0);
  return inner_state + inner_own + inner_block[(n + 990) % 1000];
}
static long other(long n) { return n; }
static long (*const table[600])(long) = {[3] = other, [7] = inner_value};
__attribute__((constructor)) static void begin(void) {
  inner_block = calloc(1000, sizeof(*inner_block));
  inner_state++;
}
C
cat >"$work/outer.c" <<'C'
extern long inner_state;
extern long inner_value(long);
extern long add_seven(long);
extern void note_end(long);
static __thread struct { long sum; char large[5000]; } own;
static long calls;
static long (*next)(long) = inner_value;
long count(long n) {
  own.large[n % 5000]++;
  own.sum += own.large[(n + 4999) % 5000] + n;
  calls++;
  return add_seven(next(n) + own.sum * calls + inner_state);
}
__attribute__((destructor)) static void end(void) { note_end(1000 + calls); }
C
cat >"$work/late.c" <<'C'
extern void note_end(long);
static long first = -1, numbers[100000];
long since(long n) {
  first = first < 0 ? n : first;
  numbers[n] = n;
  return n - first + numbers[(n + 99999) % 100000];
}
__attribute__((destructor)) static void end(void) { note_end(first); }
C
cat >"$work/fixed.c" <<'C'
__thread long since_then __attribute__((tls_model("initial-exec")));
long since(long n) { return since_then += n; }
C
library() {
  name=$1
  shift
  # shellcheck disable=SC2086 # it may have options
  ${REAL_CC:-cc} -O1 -shared -fPIC -o "$dir/$name.so" "$work/$name.c" "$@" ||
    fault "no library can be made"
}
library inner
library outer "$dir/inner.so" "-Wl,-rpath,\$ORIGIN"
library late
cp -r "$dir" "$work/untouched"
build tests/fault/opens.c -rdynamic -fstack-protector-all
opens=$program

# --- killed and restarted ---

begin "without checkpoints"
run -n 5 "$opens" 30 "$dir" "$hold"
expect_status 0
expect_silence
expect_output 'the end of 30'
cp "$out" "$work/reference"
end

begin "restarted from each checkpoint"
run -n 5 --pems-procs=2 --pems-checkpoint="$shelf,every=1,keep=40" "$opens" 30 "$dir" "$hold"
expect_status 0
expect_silence
cmp -s "$out" "$work/reference" || fault "checkpoints change what it prints"
mv "$shelf" "$work/all"
number=0
each_resumes "$work/reference" "$work/all"
[ "$number" -ge 28 ] || fault "there are only $number checkpoints"
end

for options in "--pems-procs=1 --pems-memory=64M" "--pems-procs=3"; do
  rm -rf "$shelf"
  begin "killed and restarted twice ($options)"
  : >"$hold.8"
  # shellcheck disable=SC2086 # these are words
  PEMS_TEST_EVICT_ALWAYS=1 start -n 5 $options \
    --pems-checkpoint="$shelf,every=2" "$opens" 30 "$dir" "$hold"
  await 'step 6'
  await_checkpoint
  kill_all "$opens"
  finish
  cp "$out" "$work/before"
  : >"$hold.19"
  PEMS_TEST_EVICT_ALWAYS=1 start --restart="$shelf" --pems-checkpoint="$shelf,every=3" \
    --pems-procs=2
  await 'step 17'
  kill_all "$opens"
  finish
  cat "$out" >>"$work/before"
  goes_on 3 "$work/reference"
  end
done

# --- what is refused ---

begin "thread-local data at a fixed distance are in the way"
rm -rf "$shelf"
mv "$work/fixed.c" "$work/late.c"
library late
run -n 3 --pems-procs=1 --pems-checkpoint="$shelf,every=2" "$opens" 12 "$dir" "$hold"
expect_status 0
expect_line 'no checkpoint at superstep [0-9]+: .*it has opened a library: .*late.so: .*: the job goes on'
end

checkpoint=$work/all/checkpoint-000008
begin "a library that is another now"
run --restart="$checkpoint"
expect_failure
expect_line 'a library that was open: .*late.so: its file is another now'
expect_clean
end

begin "a library that is gone"
rm "$dir/late.so"
run --restart="$checkpoint"
expect_failure
expect_line 'a library that was open: .*late.so: cannot open'
expect_clean
cp "$work/untouched/late.so" "$dir/late.so"
resumes "$work/reference" --restart="$checkpoint"
end

conclude
