# shellcheck shell=sh
# How long a test may take is said here. A test sources this file and then has
#
#   limited COMMAND...   runs it for at most $limit seconds, 600 unless set, make
#                        check-long 3600
#   patient SECONDS      prints how long that is on this machine
#   until_seconds N COMMAND...
#                        repeats the command until it succeeds, for at most N
#                        seconds; returns 1 if it never does
#
# A limit ends what hangs; it does not judge speed, and so is long enough for a
# machine that has many times more to do than it has cores. PEMS_TEST_PATIENCE, a
# whole number, by default 1, multiplies all limits. To run out of time is not to
# be wrong: the test says "TIMED OUT after N s: COMMAND" and ends at once with
# status 99, so that a hang costs one limit and not one per case; tests/driver.sh
# counts it apart.
: "${limit:=${PEMS_TEST_LONG:+3600}}"
: "${limit:=600}"
exec 9>&2 # where the test speaks, while `limited` may be redirected

patient() {
  echo $(($1 * ${PEMS_TEST_PATIENCE:-1}))
}

until_seconds() {
  until=$(($(date +%s) + $(patient "$1")))
  shift
  while ! "$@"; do
    [ "$(date +%s)" -lt $until ] || return 1
    sleep 0.1
  done
}

# timed_out SECONDS COMMAND...: ends the test.
timed_out() {
  seconds_allowed=$1
  shift
  echo "TIMED OUT after $seconds_allowed s: $*" >&9
  exit 99
}

limited() {
  seconds_allowed=$(patient "$limit")
  limited_since=$(date +%s)
  timeout -k 30 "$seconds_allowed" "$@" 9>&-
  limited_status=$?
  # A command may also end with these for reasons of its own.
  case $limited_status in
  124 | 137)
    [ $(($(date +%s) - limited_since)) -lt "$seconds_allowed" ] ||
      timed_out "$seconds_allowed" "$@"
    ;;
  esac
  return $limited_status
}
