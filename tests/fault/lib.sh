# shellcheck shell=sh
# What the fault tests share. A test sources this file and then, per case:
#
#   begin "what is tried"          names the case
#   run [options] program args     runs pemsrun to its end (or start ... finish)
#   expect_...                     what must be true now
#   end                            prints PASS or FAIL
#
# and ends with `conclude`. Tests run in a directory of their own, $work, with
# an empty directory for scratch files, $disk. Needs pemscc and pemsrun, from
# $PEMSCC and $PEMSRUN or the PATH. Exit status: 0 passed, 1 failed, 77 skipped.

set -u

# Other tests' jobs have files in /dev/shm, which come, go, and are left where
# mpirun is killed: where it may, a test has a /dev/shm of its own.
own_shm='mount -t tmpfs tmpfs /dev/shm'
if [ -z "${FAULT_TEST_SHM:-}" ]; then
  FAULT_TEST_SHM=shared
  ! unshare --mount sh -c "$own_shm" 2>/dev/null || FAULT_TEST_SHM=own
  export FAULT_TEST_SHM
  [ $FAULT_TEST_SHM = shared ] ||
    exec unshare --mount sh -c "$own_shm"' && exec "$@"' sh "${SHELL:-sh}" "$0" "$@"
fi

here=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
pemscc=${PEMSCC:-pemscc}
pemsrun=${PEMSRUN:-pemsrun}
# shellcheck disable=SC2034 # for the tests
mpirun=${MPIRUN:-mpirun}
# shellcheck disable=SC2034
mpicc=${MPICC:-mpicc}
# shellcheck source=tests/limit.sh
. "$here/tests/limit.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"

# Sizes with which jobs of 8 ranks per process must swap: the ranks' arrays,
# $array MiB each, are more than the memory.
# shellcheck disable=SC2034 # for the tests
array=48 budget='--pems-memory=256M --pems-context=64M'

name=$(basename "$0" .sh)
base=${TESTDIR:-${TMPDIR:-/var/tmp}}
mkdir -p "$base"
work=$(mktemp -d "$base/pems-$name.XXXXXX") || exit 1
disk=$work/disk
out=$work/out
err=$work/err
mkdir "$disk"

# Every process of a job inherits this, so that it can be told from others.
mark=$(basename "$work")
FAULT_TEST_MARK=$mark
export FAULT_TEST_MARK

failures=0
mounted=

skip() {
  echo "SKIP $name: $*"
  exit 77
}

# Process ids that carry the mark, but for the helpers of this shell.
marked() {
  # shellcheck disable=SC2013 # these are words
  for environ in $(grep -lzxF "FAULT_TEST_MARK=$mark" /proc/[0-9]*/environ \
    2>/dev/null); do
    pid=${environ#/proc/}
    pid=${pid%/environ}
    case $(readlink "/proc/$pid/exe" 2>/dev/null) in
      '' | */dash | */bash | */grep | */readlink | */sleep) ;;
      *) echo "$pid" ;;
    esac
  done
}

# Process ids of the job that run the program $1; its keeper, which has its name in
# some MPIs, is none.
running() {
  for pid in $(marked); do
    if [ "$(readlink "/proc/$pid/exe")" = "$1" ] &&
      [ "$(cat "/proc/$pid/comm")" != pems-keeper ]; then
      echo "$pid"
    fi
  done
}

tidy() {
  for pid in $(marked); do
    kill -KILL "$pid" 2>/dev/null
  done
  if [ -n "$mounted" ]; then
    umount "$mounted"
  fi
  rm -rf "$work"
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM

command -v "$pemscc" >/dev/null || skip "$pemscc was not found: build pems first"
command -v "$pemsrun" >/dev/null || skip "$pemsrun was not found: build pems first"

# build SOURCE [FLAG...]: compiles a program; $program is its path.
build() {
  source=$here/$1
  program=$work/$(basename "$1" .c)
  shift
  if ! "$pemscc" -O1 "$@" -o "$program" "$source" >"$out" 2>&1; then
    echo "FAIL $name: $pemscc cannot compile $source"
    sed 's/^/    /' "$out"
    exit 1
  fi
}

begin() {
  title=$1
  wrong=
}

# fault REASON: the case has failed.
fault() {
  wrong="$wrong
    $*"
}

# But for that of other MPIs' jobs, and for folders, in which other tests may work
# (TESTDIR): both come and go meanwhile where /dev/shm is shared.
case $launcher in
hydra) shared_by_others='vader_segment.*' ;;
*) shared_by_others='mpich_shm_*' ;;
esac
shared_memory() {
  find /dev/shm -mindepth 1 -maxdepth 1 ! -type d ! -name "$shared_by_others" \
    2>/dev/null | sort
}

# Runs a command in the background, with the terminal's signals as a user's
# shell would have them; the shell ignores SIGINT for its background jobs, and
# nohup, under which tests may run, SIGHUP.
launch() {
  shared_memory >"$work/shm"
  began=$(date +%s)
  env --default-signal=INT,QUIT,HUP "$@" >"$out" 2>"$err" </dev/null &
  job=$!
}

# start [options] program args: pemsrun, not waited for. $disk is the disk
# unless the options name another.
start() {
  case " $* " in
    *" --pems-disk="*) launch "$pemsrun" "$@" ;;
    *) launch "$pemsrun" "--pems-disk=$disk" "$@" ;;
  esac
}

# Waits for the job; $status is its exit status. What hangs, `tidy` kills.
finish() {
  while kill -0 "$job" 2>/dev/null; do
    if [ $(($(date +%s) - began)) -ge "$(patient "$limit")" ]; then
      sed 's/^/    stderr: /' "$err"
      timed_out "$(patient "$limit")" "$title: the job"
    fi
    sleep 0.1
  done
  wait "$job" 2>/dev/null
  status=$?
}

run() {
  start "$@"
  finish
}

says() {
  grep -q "$1" "$out"
}

has_ended() {
  ! kill -0 "$job" 2>/dev/null
}

says_or_ended() {
  says "$1" || has_ended
}

# Waits until the program prints a line that matches.
await() {
  until_seconds "$limit" says_or_ended "$1"
  says "$1" || fault "did not print '$1'"
}

# expect_status STATUS...: one of these.
expect_status() {
  case " $* " in
    *" $status "*) ;;
    *) fault "exit status $status, expected $*" ;;
  esac
}

expect_failure() {
  if [ "$status" -eq 0 ]; then
    fault "exit status 0, expected a failure"
  fi
}

# What is on stderr, without the NUL that Open MPI 5's mpirun ends a text of its
# with, in the middle.
said() {
  tr -d '\000' <"$err"
}

pems_lines() {
  said | grep -c '^pems: '
}

# expect_line PATTERN: pems says exactly one line, and it matches (extended
# regular expression, case ignored).
expect_line() {
  if [ "$(pems_lines)" -ne 1 ]; then
    fault "$(pems_lines) lines of pems on stderr, expected 1"
  elif ! said | grep '^pems: ' | grep -Eqi -- "$1"; then
    fault "the line of pems does not match '$1'"
  fi
}

# expect_text PATTERN...: the line of pems and those that belong to it, with
# their ends replaced by blanks, match each of these.
expect_text() {
  for pattern in "$@"; do
    if ! said | grep -v '^--' | tr '\n' ' ' | grep -Eq -- "$pattern"; then
      fault "what pems says does not match '$pattern'"
    fi
  done
}

# At most one line: where a killed process or mpirun may speak instead.
expect_few_lines() {
  if [ "$(pems_lines)" -gt 1 ]; then
    fault "$(pems_lines) lines of pems on stderr, expected at most 1"
  fi
}

expect_silence() {
  if [ "$(pems_lines)" -ne 0 ]; then
    fault "pems spoke, which it should not"
  fi
}

expect_output() {
  says "$1" || fault "the program did not print '$1'"
}

# No rank has started: the programs of these tests say so when they do.
expect_not_started() {
  if says 'started'; then
    fault "a rank has started"
  fi
}

no_process() {
  [ -z "$(marked)" ]
}

# True if some process has mapped file $1: then it is no leftover of ours, whose
# processes are gone.
mapped() {
  cat /proc/[0-9]*/maps 2>/dev/null | grep -qF " $1"
}

left_shared_memory() {
  shared_memory | comm -13 "$work/shm" - | while read -r file; do
    if ! mapped "$file" && [ -e "$file" ]; then
      echo "$file"
    fi
  done
}
no_shared_memory() {
  [ -z "$(left_shared_memory)" ]
}

# Nothing may be left: processes, scratch files, shared memory.
expect_clean() {
  if ! until_seconds 60 no_process; then
    fault "processes left: $(marked | tr '\n' ' ')"
  fi
  if [ -n "$(find "$disk" -mindepth 1 ! -name lost+found)" ]; then
    fault "left on the disk: $(find "$disk" -mindepth 1 ! -name lost+found)"
  fi
  if ! until_seconds 60 no_shared_memory; then
    fault "left in /dev/shm: $(left_shared_memory)"
  fi
}

end() {
  if [ -z "$wrong" ]; then
    echo "PASS $title"
    return
  fi
  failures=$((failures + 1))
  echo "FAIL $title$wrong"
  sed 's/^/    stdout: /' "$out"
  sed 's/^/    stderr: /' "$err"
}

conclude() {
  [ $failures -eq 0 ]
  exit
}

# mount_small DIR MIB: mounts a file system of that size, ext4 on a loop device
# or else tmpfs. Returns 1 where that is not allowed.
mount_small() {
  if [ "$(id -u)" -ne 0 ]; then
    return 1
  fi
  truncate -s "${2}M" "$work/image" &&
    mkfs.ext4 -q -F "$work/image" >/dev/null 2>&1 &&
    mount -o loop "$work/image" "$1" 2>/dev/null ||
    mount -t tmpfs -o "size=${2}m" tmpfs "$1" 2>/dev/null || return 1
  mounted=$1
}

# fill_small DIR: until nothing more goes in. ext4 gives back late what it has
# reserved for data not yet written, and what was removed.
fill_small() {
  filled=-1
  sync -f "$1"
  : >"$1/filler"
  until [ "$(wc -c <"$1/filler")" -eq "$filled" ]; do
    filled=$(wc -c <"$1/filler")
    dd if=/dev/zero of="$1/filler" bs=1k oflag=append conv=notrunc >"$work/dd" 2>&1
    sync -f "$1"
  done
}

unmount_small() {
  umount "$mounted" || fault "$mounted is still in use"
  mounted=
}
