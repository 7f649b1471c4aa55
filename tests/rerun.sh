#!/bin/sh
# Runs tests, and each that fails twice more, alone: so chance on a busy machine
# does not stop CI, and a test that is wrong does.
#
#   rerun.sh LIST TREE make ARGUMENTS...
#
# The command runs Automake's tests in the build tree TREE; with TEST_LOGS it runs
# one of them, as it did before. A test that failed, or ran out of time, and then
# passes twice is unsteady: "UNSTEADY: NAME" is printed, and the name is added to
# the file LIST, which all stages of a run share. The exit status is make's if a
# test fails again, if more than three of a run are unsteady, and if make failed
# at anything but tests.
set -u
most=3
list=$1 tree=$2
shift 2
known=$(dirname "$0")/unsteady.txt
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pems-rerun.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# The logs of the tests that failed since the command began, as make names them.
failed_logs() {
  (cd "$tree" && find tests -name '*.trs' -newer "$work/began" \
    -exec grep -lx ':recheck: yes' {} +) | sed 's/\.trs$/.log/' | sort
}

# How many tests failed, as Automake counts them when all have ended.
failures() {
  summary=$(find "$tree" -maxdepth 1 -name test-suite.log -newer "$work/began")
  [ -n "$summary" ] || return 0
  awk '/^# (XPASS|FAIL|ERROR): / { n += $3 }
    /^# ERROR: / { print n; exit }' "$summary"
}

# name_of LOG: the test's, from the last line of tests/driver.sh.
name_of() {
  sed -n 's/^[A-Z ]* \([^ ]*\) (exit status: [0-9]*)$/\1/p' "$tree/$1" | tail -n 1
}

give_up() {
  echo "rerun.sh: $*"
  exit $status
}

: >"$work/began"
touch "$list"
"$@" && exit 0
status=$?

logs=$(failed_logs)
failed=$(echo "$logs" | grep -c .)
[ "$failed" -gt 0 ] && [ "$failed" = "$(failures)" ] ||
  give_up "make failed, and not only at tests: see above"
[ $((failed + $(wc -l <"$list"))) -le $most ] ||
  give_up "more than $most tests of this run failed: that is no chance"
for log in $logs; do
  name=$(name_of "$log")
  for again in first second; do
    "$@" TEST_LOGS="$log" >"$work/said" 2>&1 || {
      cat "$work/said"
      give_up "$name failed, and failed again, alone, at the $again try"
    }
  done
  echo "UNSTEADY: $name"
  grep "^[-0-9]* $name: " "$known" || echo "  add it to tests/unsteady.txt"
  echo "$name" >>"$list"
done
