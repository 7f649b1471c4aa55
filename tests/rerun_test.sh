#!/bin/sh
# What tests/rerun.sh makes of tests that fail always, by chance, and too often, and
# of a make that fails at something else. And tests/unsteady.txt names tests.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
unset PEMS_TEST_PATIENCE PEMS_TEST_MOST PEMS_TEST_LONG MAKEFLAGS MFLAGS MAKELEVEL
cd "$work" || exit 1

# A test that says how often it has run, in $tries. The Makefile does what
# Automake's does.
begins='tries=$(($(cat "$0.tries" 2>/dev/null) + 1))
echo $tries >"$0.tries"'
tabs=$(printf '\t')
cat >Makefile <<END
TEST_LOGS = \$(TESTS:=.log)
check:
${tabs}@test -z "\$(BROKEN)"
${tabs}@rm -f test-suite.log \$(TEST_LOGS) \$(TEST_LOGS:.log=.trs)
${tabs}@\$(MAKE) -s test-suite.log
${tabs}@test -z "\$(BROKEN_LATE)"
test-suite.log: \$(TEST_LOGS)
${tabs}@! rm once 2>/dev/null # a make that is ended
${tabs}@printf '# %s\n' "FAIL:  \`grep -lx ':test-result: FAIL' \\
${tabs}  \$(TEST_LOGS:.log=.trs) | wc -l\`" "ERROR: \`grep -lx \\
${tabs}  ':test-result: ERROR' \$(TEST_LOGS:.log=.trs) | wc -l\`" >\$@
${tabs}@failed=\`grep -lx ':recheck: yes' \$(TEST_LOGS:.log=.trs)\`; \
${tabs}  for f in \$\$failed; do cat \$\${f%.trs}.log; done; test -z "\$\$failed"
%.log: %
${tabs}@\${SHELL} $top/tests/driver.sh --test-name \$< --log-file \$@ \\
${tabs}  --trs-file \$<.trs -- \${SHELL} \$<
END

# plays NAME COMMAND: a test.
plays() {
  put "tests/$1" "$begins" "$2"
}

# run WANTED NAME...: these tests, the exit status 0 or not.
run() {
  wanted=$1
  shift
  rm -f tests/*.tries
  tests=
  for test; do
    tests="$tests tests/$test"
  done
  ${SHELL:-sh} "$top/tests/rerun.sh" list . make -s check $broken \
    TESTS="$tests" >said 2>&1
  got=$?
  [ $((got != 0)) -eq "$wanted" ] || {
    fail "$*: exit status $got"
    cat said
  }
}

# unsteady NAME...: these and no others are said to be.
unsteady() {
  printf 'UNSTEADY: tests/%s\n' "$@" >names
  grep '^UNSTEADY: ' said | cmp -s names - || {
    fail "not unsteady: $*"
    cat said
  }
}

# tried NAME TIMES
tried() {
  [ "$(cat "tests/$1.tries")" -eq "$2" ] || fail "$1 ran $(cat "tests/$1.tries") times"
}

broken=
plays good 'exit 0'
plays skipped 'exit 77'
plays wrong 'exit 1'
plays slow ". $top/tests/limit.sh; limit=1 limited sleep 60"
for letter in a b c d; do
  plays chance_$letter '[ $tries -gt 1 ]'
done
plays slow_once ". $top/tests/limit.sh
  [ \$tries -gt 1 ] || limit=1 limited sleep 60"
plays twice '[ $tries -eq 2 ]'

rm -f list
run 0 good skipped
! grep -q UNSTEADY said || fail "good tests are unsteady"

run 1 good wrong
tried wrong 2
tried good 1
grep -q 'tests/wrong failed, and failed again' said || fail "wrong: not said"
run 1 good slow
tried slow 2
grep -q '^TIMED OUT after 1 s' said || fail "slow: its log is not shown"
run 1 twice # passes the second time
tried twice 3
run 1 chance_a wrong
[ ! -s list ] || [ "$(cat list)" = tests/chance_a ] || fail "list: $(cat list)"

rm -f list
run 0 good chance_a slow_once
unsteady chance_a slow_once
tried chance_a 3
tried good 1 # alone
run 0 chance_b # another stage
unsteady chance_b
run 1 chance_c
tried chance_c 1
printf 'tests/%s\n' chance_a slow_once chance_b | cmp -s - list ||
  fail "list: $(cat list)"
rm -f list
run 1 chance_a chance_b chance_c chance_d
tried chance_a 1
[ ! -s list ] || fail "four at once are listed"

# A test of an earlier run is no excuse for a make that fails.
rm -f list
broken=BROKEN=yes
run 1 chance_a
grep -q 'not only at tests' said || fail "a make that fails: not said"
broken=BROKEN_LATE=yes
run 1 good
run 1 chance_a
broken=
touch once
run 1 chance_a

# A line of the list: DATE NAME: what was seen.
grep -v '^#' "$top/tests/unsteady.txt" >lines
while read -r date test seen; do
  file=$top/${test%:}
  case $date in
  20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
  *) fail "tests/unsteady.txt: $date: not a date" ;;
  esac
  [ -f "$file" ] || [ -f "$file.c" ] || fail "tests/unsteady.txt: $test: no test"
  [ "$test" != "${test%:}" ] && [ -n "$seen" ] ||
    fail "tests/unsteady.txt: $test: not what was seen"
done <lines
exit $status
