#!/bin/sh
# The n-th request of a short job that swaps fails, for every n: the job ends
# with status 1 and one line that names the failure, and leaves nothing behind.
# Usually every n up to 12 and a spread of the others, with PEMS_TEST_LONG all.
# Requests that are cut short or late change nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/budget.sh"

build apps/psrs.c
long=${PEMS_TEST_LONG:-}
each=12  # first requests that are all tried
spread=16 # of the others, how many are
right='sorted=1 count_ok=1 checksum_ok=1'
PEMS_TEST_EVICT_ALWAYS=1
export PEMS_TEST_EVICT_ALWAYS

# job [options]: sorts, with contexts that go to disk whenever their rank waits.
job() {
  run -n 8 --pems-k=2 --pems-context=4M --pems-sigma=64K \
    --pems-memory="${memory}M" --pems-stats "$@" "$program" 800000
}

least_memory -n 8 --pems-k=2 --pems-context=4M --pems-sigma=64K \
  "$program" 1000
memory=$((least + 1))

# expect_right: the job succeeded, and its result is right.
expect_right() {
  expect_status 0
  expect_silence
  expect_output "$right"
  expect_clean
}

# expect_broken KIND N SURE: the job ended because of request n, or had fewer
# requests this time, which may be so only for n above SURE.
expect_broken() {
  if [ "$2" -gt "$3" ] && [ "$status" -eq 0 ] &&
    [ "$(counted "$1")" -lt "$2" ]; then
    expect_right
    return
  fi
  expect_status 1
  expect_line 'swapping|reading|writing|sending|delivering|receiving'
  expect_line "$disk.*(input/output error|no space left|EIO|ENOSPC)"
  expect_clean
  # What failed may have come after the result was printed.
  if says 'RESULT app=' && ! says "$right"; then
    fault "a wrong result was printed"
  fi
}

# count OPTIONS: $reads and $writes of a job without faults.
count() {
  begin "$*: the job without faults"
  job "$@"
  expect_right
  reads=$(counted reads)
  writes=$(counted writes)
  if [ "$reads" -lt 20 ] || [ "$writes" -lt 20 ]; then
    fault "$reads reads and $writes writes: too few to be a test"
  fi
  end
}

# numbers MOST EACH SPREAD: the requests of 1 ... MOST to break.
numbers() {
  if [ -n "$long" ]; then
    seq 1 "$1"
  else
    seq 1 "$1" | awk -v most="$1" -v each="$2" -v spread="$3" \
      'BEGIN { step = int((most - each) / spread) + 1 }
       $1 <= each || ($1 - each) % step == 0 || $1 == most'
  fi
}

# break_requests DRIVER EACH SPREAD [options]
break_requests() {
  driver=$1
  first=$2
  others=$3
  shift 3
  count "--pems-io=fault:$driver" "$@"
  for n in $(numbers "$reads" "$first" "$others"); do
    begin "$driver $*: read $n of $reads fails"
    job "--pems-io=fault:$driver,read=$n:EIO" "$@"
    expect_broken reads "$n" $((reads * 4 / 5))
    end
  done
  for n in $(numbers "$writes" "$first" "$others"); do
    begin "$driver $*: write $n of $writes fails"
    job "--pems-io=fault:$driver,write=$n:EIO" "$@"
    expect_broken writes "$n" $((writes * 4 / 5))
    end
  done
}

missing_drivers
for driver in $(moving_drivers); do
  case $driver in
    unix) break_requests unix $each $spread ;;
    *) break_requests "$driver" 1 2 ;;
  esac
done
# With what the options change in how contexts move.
break_requests unix 1 2 --pems-order=id --pems-swapin=lazy --pems-track=async
break_requests unix 1 2 --pems-swapin=auto --pems-track=fault \
  --pems-stripe=64K --pems-depth=2

# Both of two processes count for themselves.
for n in 1 9; do
  for kind in read write; do
    begin "two processes: $kind $n fails in each"
    job --pems-procs=2 --pems-memory="$((memory + 4))M" \
      --pems-io="fault:unix,$kind=$n:EIO"
    expect_status 1
    if [ "$(pems_lines)" -lt 1 ] || [ "$(pems_lines)" -gt 2 ]; then
      fault "$(pems_lines) lines of pems, expected one per process at most"
    fi
    expect_clean
    end
  done
done

# Torn writes: half is written, then the disk fails. A pems whose fault driver
# does not know them tears those that are `short`.
torn=torn
has_fault torn=1000000 || torn=short
for n in $(numbers 40 3 4); do
  begin "write $n is torn"
  job --pems-io="fault:unix,$torn=$n"
  expect_broken writes "$n" 40
  end
done

for driver in $(moving_drivers); do
  if [ $torn = torn ]; then
    for n in $(numbers 40 1 2); do
      begin "$driver: request $n moves only half at first"
      job --pems-io="fault:$driver,short=$n"
      expect_right
      end
    done
  fi
  begin "$driver: all requests are late"
  job --pems-io="fault:$driver,delay=1500"
  expect_right
  end
done
if [ $torn = short ]; then
  echo "SKIP short requests that are completed: this pems cannot make them"
fi
if has_fault delay=10,every=3; then
  begin "every third request is late"
  job --pems-io=fault:unix,delay=4000,every=3
  expect_right
  end
fi

conclude
