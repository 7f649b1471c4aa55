#!/bin/sh
# Random programs (tests/mpi/random.c), killed by SIGKILL at random moments, all
# of their processes (but mpirun, which passes on what they have written), and restarted from their last checkpoints with other
# processes, k, memory and drivers than before, every third one twice: what they
# print is, byte for byte, what they print undisturbed, and nothing is left of
# them. Some programs, with PEMS_TEST_LONG 200, from PEMS_TEST_SEED (1) on; a
# fault names its own.
. "$(dirname "$0")/checkpoint_lib.sh"
. "$(dirname "$0")/budget.sh"
. "$(dirname "$0")/draw.sh"

programs=4
[ -z "${PEMS_TEST_LONG:-}" ] || programs=200
programs=${PEMS_TEST_PROGRAMS:-$programs}
first_seed=${PEMS_TEST_SEED:-1}

build tests/mpi/random.c
# shellcheck disable=SC2086 # it may have options
${REAL_CC:-cc} -std=c17 -O1 -o "$work/killed" "$here/tests/fault/killed.c" ||
  skip "killed.c cannot be compiled"
drivers="$(moving_drivers) mmap"

# another WORD WORD...: $word is one of the others, but for the first, if there is
# one that differs.
another() {
  old=$1
  shift
  word=$old
  for word; do
    [ "$word" = "$old" ] || break
  done
  [ "$word" != "$old" ] || return 0
  word=$old
  while [ "$word" = "$old" ]; do
    one_of "$@"
  done
}

# settle: $place is options, each another one than before. A process has at least
# k ranks.
procs=0 k=0 memory=0 driver=none
settle() {
  another $procs 1 2 3
  procs=$word
  most=$((ranks / procs < 3 ? ranks / procs : 3))
  # shellcheck disable=SC2046 # these are words
  another $k $(seq 1 $most)
  k=$word
  another $memory 100M 150M 400M 1G
  memory=$word
  # shellcheck disable=SC2086 # these are words
  another $driver $drivers
  driver=$word
  place="--pems-procs=$procs --pems-k=$k --pems-memory=$memory --pems-io=$driver"
  one_of alternate id
  place="$place --pems-order=$word"
  one_of eager lazy
  [ "$driver" = mmap ] || [ "$driver" = mem ] || place="$place --pems-swapin=$word"
  one_of 1 ''
  unset PEMS_TEST_EVICT_ALWAYS
  if [ -n "$word" ]; then
    PEMS_TEST_EVICT_ALWAYS=1
    export PEMS_TEST_EVICT_ALWAYS
  fi
}

# has_joined PART...: are these outputs, of one restart after the other, one
# behind the other what the reference has? Of each rank: lines that come again
# are the same, and none is missing.
has_joined() {
  awk '
    FILENAME == ARGV[1] { line[$2, ++n[$2]] = $0; next }
    FILENAME != file { file = FILENAME; split("", place) }
    !($2 in place) { # where this rank goes on
      for (at = 1; at <= n[$2] && line[$2, at] != $0; at++) {}
      place[$2] = at - 1
      if (at > reached[$2] + 1) { print "lines are lost before: " $0; wrong = 1 }
    }
    line[$2, ++place[$2]] != $0 { print FILENAME ": " $0; wrong = 1 }
    place[$2] > reached[$2] { reached[$2] = place[$2] }
    END {
      for (rank in n) {
        if (reached[rank] != n[rank]) { print "rank " rank " lacks lines"; wrong = 1 }
      }
      exit wrong
    }' "$work/reference" "$@" >"$work/why"
}

# What a killed process has written of a line is none, and neither is what MPICH's
# launcher says there of the kill, on a page that an empty line begins.
whole_lines() {
  [ ! -s "$1" ] || [ -z "$(tail -c 1 "$1")" ] || sed -i '$d' "$1"
  sed -i '/^$/ { N; s/^\n\(====*\)$/\1/; }; /^====*$/,$ { /^rank /!d; }' "$1"
}

# kill_one TAKEN OPTION...: the job is killed at a random moment after its first
# checkpoint, $part has what it printed; it takes about so many more than it has.
# Status 1: it has ended before.
kill_one() {
  taken=$1
  shift
  roll "$taken"
  moment=$((rolled + 1 + (newest > 0 ? newest : 1)))
  roll 30000
  "$work/killed" "$shelf" $moment "$rolled" "$(patient "$limit")" \
    "$pemsrun" --pems-disk="$disk" "$@" >"$part" 2>"$err" </dev/null
  status=$?
  whole_lines "$part"
  [ $status -ne 5 ] || timed_out "$(patient "$limit")" "$title: $*"
  [ $status -eq 0 ] || [ $status -eq 3 ] || fault "$(head -n 3 "$err")"
  [ $status -eq 0 ]
}

number_of_newest() {
  newest=$(find "$shelf" -maxdepth 1 -name 'checkpoint-*' 2>/dev/null |
    sed 's/.*-0*//' | sort -n | tail -n 1)
  newest=${newest:-0}
}

# until_killed GUESS OPTION...: as kill_one, and where it has ended before, again
# from where it began, to be killed earlier. Status 1: it takes none more.
until_killed() {
  guess=$1
  shift
  number_of_newest
  was=$newest
  rm -rf "$work/was"
  [ "$was" -eq 0 ] || cp -a "$shelf" "$work/was"
  until kill_one "$guess" "$@"; do
    number_of_newest
    guess=$((newest - was - 1))
    newest=$was
    rm -rf "$shelf"
    [ "$was" -eq 0 ] || cp -a "$work/was" "$shelf"
    [ $guess -gt 0 ] && [ -z "$wrong" ] || return 1
  done
  number_of_newest
  moments="$moments $moment+${rolled}us"
  parts="$parts $part"
}

# one_program SEED: $part and so on are what its parts have printed.
one_program() {
  seed=$1
  draw_from "$(echo "$seed" | cksum | cut -d ' ' -f 1)"
  rm -rf "$shelf"
  moments=
  parts=
  unset PEMS_TEST_EVICT_ALWAYS
  shared_memory >"$work/shm.first"
  one_of 3 4 5 6 7 8
  ranks=$word
  one_of all all -rma p2p,persistent,probe,types p2p,coll,icoll,comm,topo,neighbor
  features=$word
  roll 3
  every=$((rolled + 1))
  begin "program $seed: -n $ranks $features, every=$every"
  set -- "$program" -s $((seed * 100)) -n 4 -t 5 -f "$features"
  run -n "$ranks" --pems-procs=1 "$@"
  expect_status 0
  cp "$out" "$work/reference"
  settle
  kept=$place
  part=$work/part.1
  # shellcheck disable=SC2086 # these are words
  until_killed $((seed % 3 ? 12 : 5)) -n "$ranks" $place \
    --pems-checkpoint="$shelf,every=$every,keep=2" "$@" ||
    fault "it ends before it is killed"
  killed=$((killed + 1))
  if [ $((seed % 3)) -eq 0 ] && [ "$newest" -gt 0 ]; then
    settle
    kept="$kept | $place"
    part=$work/part.2
    # shellcheck disable=SC2086
    until_killed 6 --restart="$shelf" $place \
      --pems-checkpoint="$shelf,every=$every,keep=2" && twice=$((twice + 1))
  fi
  settle
  kept="$kept | $place"
  if has_checkpoint; then
    # shellcheck disable=SC2086
    run --restart="$shelf" $place
  else # it was killed before the first one
    # shellcheck disable=SC2086
    run -n "$ranks" $place "$@"
    none=$((none + 1))
  fi
  expect_status 0
  expect_silence
  # shellcheck disable=SC2086
  has_joined $parts "$out" || fault "$(head -n 3 "$work/why")"
  cp "$work/shm.first" "$work/shm"
  expect_clean
  [ -z "$(find "$shelf" -mindepth 1 -maxdepth 1 ! -name 'checkpoint-*' \
    ! -name lock ! -name '.new-*' 2>/dev/null)" ] || fault "strange files in $shelf"
  [ -z "$wrong" ] || wrong="$wrong
    PEMS_TEST_SEED=$seed, killed at $moments: $kept"
  end
}

killed=0
twice=0
none=0
i=0
while [ $i -lt "$programs" ]; do
  one_program $((first_seed + i))
  i=$((i + 1))
done
echo "$programs programs from $first_seed on, $killed killed, $twice of them twice," \
  "$none before their first checkpoint; $failures failures"
conclude
