#!/bin/sh
# Automake's test driver, for all tests: runs one, and says PASS, SKIP, FAIL or
# ERROR and the seconds that it took. Beyond what Automake's own does it tells a
# test that ran out of time (tests/limit.sh, or libcheck's "Test timeout
# expired") from one that is wrong: "TIMED OUT", which is counted as an ERROR,
# unless something else has failed, too. A test that hangs as a whole is ended
# after PEMS_TEST_MOST seconds, by default an hour, with PEMS_TEST_LONG ten; that,
# like all limits, is multiplied by PEMS_TEST_PATIENCE.
set -u
# shellcheck source=tests/limit.sh
. "$(dirname "$0")/limit.sh"

log=
results=
name=
color=no
while [ $# -gt 0 ]; do
  case $1 in
  --test-name) name=$2 ;;
  --log-file) log=$2 ;;
  --trs-file) results=$2 ;;
  --color-tests) color=$2 ;;
  --expect-failure | --enable-hard-errors | --collect-skipped-logs) ;;
  --)
    shift
    break
    ;;
  *)
    echo "driver.sh: $1: unknown option" >&2
    exit 2
    ;;
  esac
  shift 2
done
[ -n "$log" ] && [ -n "$results" ] && [ $# -gt 0 ] || {
  echo "usage: driver.sh --test-name NAME --log-file FILE --trs-file FILE" \
    "[--color-tests yes|no] -- COMMAND..." >&2
  exit 2
}
# A $TMPDIR of its own: Open MPI's jobs have one folder there for all of a user,
# and the last one that ends removes it, also while another begins.
TMPDIR=$(mktemp -d "${TMPDIR:-/var/tmp}/pems.XXXXXX") && chmod 1777 "$TMPDIR" || exit 1
export TMPDIR
tidy() {
  rm -rf --one-file-system "$TMPDIR"
}
trap 'tidy; rm -f "$log" "$results"; exit 130' INT
trap 'tidy; rm -f "$log" "$results"; exit 143' HUP TERM

most=${PEMS_TEST_MOST:-3600}
[ -z "${PEMS_TEST_LONG:-}" ] || most=${PEMS_TEST_MOST:-36000}
most=$(patient "$most")
began=$(date +%s)
# What unit tests say of themselves suits a quiet machine.
: "${CK_DEFAULT_TIMEOUT:=60}" "${CK_TIMEOUT_MULTIPLIER:=$(patient 10)}"
export CK_DEFAULT_TIMEOUT CK_TIMEOUT_MULTIPLIER
# Whoever presses Ctrl-C means the test, too: so it stays in the foreground. A
# script ends when the command that it runs does: that has a limit of its own.
timeout --foreground -k "$(patient "$limit")" "$most" "$@" >"$log" 2>&1 9>&-
status=$?
took=$(($(date +%s) - began))
tidy
if [ $took -ge "$most" ] && [ $status -ne 0 ]; then
  echo "TIMED OUT after $most s: $name" >>"$log"
  status=99
fi

# libcheck: are all failures of a unit test such?
only_slow() {
  grep -q ':E:.*Test timeout expired' "$log" &&
    ! grep ':[EF]:' "$log" | grep -qv ':E:.*Test timeout expired'
}

title=
case $status in
0) result=PASS hue=32 ;;
77) result=SKIP hue=34 ;;
99) result=ERROR hue=35 ;;
*) result=FAIL hue=31 ;;
esac
if [ $result = ERROR ] && grep -q '^FAIL' "$log"; then
  result=FAIL hue=31
elif { [ $result = ERROR ] && grep -q '^TIMED OUT after' "$log"; } ||
  { [ $result = FAIL ] && only_slow; }; then
  result=ERROR hue=35 title='TIMED OUT'
fi
: "${title:=$result}"

repeat=no
case $result in FAIL | ERROR) repeat=yes ;; esac
{
  echo "$title $name (exit status: $status)"
  echo "seconds: $took; of processors (user, system; the second line counts):"
  times # not in a pipe, which would have a shell, and times, of its own
} >>"$log"
{
  echo ":test-result: $result"
  echo ":global-test-result: $result"
  echo ":recheck: $repeat"
  echo ":copy-in-global-log: $repeat"
} >"$results"
if [ "$color" = yes ]; then
  printf '\033[%sm%s\033[m: %s (%s s)\n' "$hue" "$title" "$name" $took
else
  echo "$title: $name ($took s)"
fi
