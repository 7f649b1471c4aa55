# shellcheck shell=sh
# What the fault tests that need tiny budgets share; sourced after lib.sh.

# The drivers that move contexts, as far as pems has them.
moving_drivers() {
  known=$("${PEMSINFO:-pemsinfo}" |
    sed -n '/^drivers/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')
  for driver in unix aio uring mem; do
    case " $known" in
      *" $driver "*) echo $driver ;;
    esac
  done
}

# missing_drivers: says which drivers are not there to be tested.
missing_drivers() {
  for driver in aio uring; do
    if ! moving_drivers | grep -qx $driver; then
      echo "SKIP fault:$driver: this pems has no driver $driver"
    fi
  done
}

# has_fault ARGUMENT: does the fault driver know it?
has_fault() {
  run -n 1 --pems-context=4M --pems-io="fault:mem,$1" "$program" 10
  [ "$status" -ne 2 ]
}

# least_memory OPTIONS PROGRAM...: the least --pems-memory, in MiB, with which
# the job starts. pemsrun's own answer may be too low; the job's is right.
least_memory() {
  least=16
  while :; do
    run --pems-memory="${least}M" "$@"
    more=$(sed -n 's/^pems: .*need --pems-memory=\([0-9]*\)M or more.*/\1/p' \
      "$err" | sort -n | tail -n 1)
    if [ -z "$more" ] || [ "$more" -le "$least" ]; then
      break
    fi
    least=$more
  done
}

# counted KEY: a number of the job's RESULT line, summed over its processes.
counted() {
  sed -n "s/^RESULT pems.* $1=\([0-9]*\) .*/\1/p" "$err" "$out" |
    awk '{ n += $1 } END { print n + 0 }'
}
