# shellcheck shell=sh
# What the tests of checkpoints share; part of lib.sh for them.
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"

# What killed jobs leave there, other tests' jobs would remove, and say so.
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR
shelf=$work/shelf # of checkpoints
hold=$work/hold   # files that hold jobs, by step

setarch -R true 2>/dev/null || skip "personality(2) is not allowed here"

# What --restart is given, of several, by a number.
other() {
  case $(($1 % 6)) in
    0) echo --pems-procs=1 --pems-k=1 ;;
    1) echo --pems-procs=2 ;;
    2) echo --pems-procs=3 --pems-k=1 --pems-io=mmap ;;
    3) echo --pems-procs=1 --pems-memory=64M ;;
    4) echo --pems-procs=2 --pems-order=id --pems-memory=64M ;;
    5) echo --pems-procs=1 --pems-k=3 --pems-swapin=lazy ;;
  esac
}

# resumes REFERENCE OPTION...: the job restarts as the options say, and prints the
# end of the reference.
resumes() {
  reference=$1
  shift
  run "$@"
  expect_status 0
  expect_silence
  tail -n "$(wc -l <"$out")" "$reference" | cmp -s - "$out" ||
    fault "it does not go on as it was: $*"
}

# each_resumes REFERENCE FOLDER [EVERY]: the job, from each checkpoint there, or the
# first of EVERY, in other ways; $number counts them on.
each_resumes() {
  nth=0
  for checkpoint in "$2"/checkpoint-*; do
    number=$((number + 1)) nth=$((nth + 1))
    [ $((nth % ${3:-1})) -eq $((1 % ${3:-1})) ] || continue
    # shellcheck disable=SC2046 # these are words
    resumes "$1" --restart="$checkpoint" $(other $number)
  done
}

# goes_on NUMBER REFERENCE: from the newest checkpoint; what was printed before is
# in $work/before, and no line is missing between.
goes_on() {
  # shellcheck disable=SC2046 # these are words
  resumes "$2" --restart="$shelf" $(other "$1")
  [ $(($(wc -l <"$out") + $(wc -l <"$work/before"))) -ge "$(wc -l <"$2")" ] ||
    fault "lines are lost"
  expect_clean
}

# A process that maps much at the time may be overlooked.
kills_some() {
  pids=
  for one; do
    pids="$pids $(running "$one")"
  done
  # shellcheck disable=SC2086 # these are words
  set -- $pids
  [ $# -gt 0 ] && kill -KILL "$@" 2>/dev/null && killed=yes
}

kills_some_or_ended() {
  kills_some "$@" || has_ended
}

none_runs() {
  for one; do
    [ -z "$(running "$one")" ] || return 1
  done
}

# kill_all PROGRAM...: all processes of the job that run one of them. Those that
# are held must not go on before.
kill_all() {
  killed=
  until_seconds "$limit" kills_some_or_ended "$@"
  [ -n "$killed" ] || fault "there is none to kill"
  until_seconds "$limit" none_runs "$@" || fault "some are not killed"
  rm -f "$hold".*
}

has_checkpoint() {
  [ -n "$(find "$shelf" -name manifest -path '*/checkpoint-*' 2>/dev/null)" ]
}

has_checkpoint_or_ended() {
  has_checkpoint || has_ended
}

await_checkpoint() {
  until_seconds "$limit" has_checkpoint_or_ended
  has_checkpoint || fault "no checkpoint was taken"
}
