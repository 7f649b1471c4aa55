#!/bin/sh
# What tests/driver.sh says of tests that pass, fail, skip, and run out of time.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TESTDIR:-${TMPDIR:-/var/tmp}}/pems-driver.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
unset PEMS_TEST_PATIENCE PEMS_TEST_MOST PEMS_TEST_LONG
failures=0

# expect TITLE RESULT PATTERN COMMAND...: the word that the driver prints, the
# result that Automake counts, and a line of the log.
expect() {
  title=$1 result=$2 pattern=$3
  shift 3
  rm -f log trs
  ${SHELL:-sh} "$here/driver.sh" --test-name a/test --log-file log \
    --trs-file trs --color-tests no -- "$@" >said 2>&1
  if ! grep -Eqx "$title: a/test \([0-9]+ s\)" said ||
    ! grep -qx ":test-result: $result" trs || ! grep -Eq -- "$pattern" log; then
    echo "FAIL: not '$title', '$result' and '$pattern': $*"
    sed 's/^/    /' said log trs
    failures=$((failures + 1))
  fi
}

# script NAME: a test, on standard input, that has tests/limit.sh.
script() {
  {
    printf "limit=1\n. '%s/limit.sh'\n" "$here"
    cat
  } >"$1"
}

expect PASS PASS '^hello$' echo hello
expect FAIL FAIL 'exit status: 3' sh -c 'exit 3'
expect SKIP SKIP 'exit status: 77' sh -c 'exit 77'
expect ERROR ERROR 'exit status: 99' sh -c 'exit 99'

script slow <<'END'
limited sleep 60 >/dev/null 2>&1
echo "FAIL: went on"
exit 1
END
expect 'TIMED OUT' ERROR '^TIMED OUT after 1 s: sleep 60$' sh slow
# A test that is wrong, too, has failed.
script wrong <<'END'
echo "FAIL: 2 is not 3"
limited sleep 60
END
expect FAIL FAIL '^TIMED OUT after 1 s' sh wrong
# Programs may end with the status that timeout uses, or be killed. A limit of a
# second would be over when the next one begins.
script other <<'END'
limit=100
limited sh -c 'exit 124'
[ $? -eq 124 ] || exit 1
limited sh -c 'kill -KILL $$'
[ $? -eq 137 ]
END
expect PASS PASS '^seconds: ' sh other
# One that its limit alone cannot end is killed; nothing of it is left.
script deaf <<'END'
limited sh -c 'sleep 61.25 & echo $! >child; wait'
END
expect 'TIMED OUT' ERROR '^TIMED OUT after 1 s' sh deaf
if readlink "/proc/$(cat child)/exe" >left; then # not so of a zombie
  echo "FAIL: what was out of time still runs"
  failures=$((failures + 1))
fi

# Limits are longer where there is patience.
script patience <<'END'
limited sleep 2
END
PEMS_TEST_PATIENCE=30 expect PASS PASS '^seconds: ' sh patience

# Processors' seconds are those of the test.
expect PASS PASS '^0m(0\.[0-9]*[1-9]|[1-9])' sh -c \
  'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'

# libcheck's own limits.
E1='x.c:1:E:core:test_a:0: (after this point) Test timeout expired'
F1='x.c:2:F:core:test_b:0: Assertion failed'
expect 'TIMED OUT' ERROR 'timeout expired' sh -c "echo '$E1'; exit 1"
expect FAIL FAIL 'Assertion' sh -c "echo '$E1'; echo '$F1'; exit 1"
expect FAIL FAIL 'Assertion' sh -c "echo '$F1'; exit 1"

# A test that hangs outside of `limited`.
PEMS_TEST_MOST=1 expect 'TIMED OUT' ERROR '^TIMED OUT after 1 s: a/test$' \
  sleep 60

echo "driver: $failures failures"
[ $failures -eq 0 ]
