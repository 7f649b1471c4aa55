#!/bin/sh
# Messages that come faster than they are taken stay within their shares of the
# memory (config/memory_plan.h): before their receives, on communicators that are
# still being made, windows that are new, mail of computing collectives, their
# vectors when many are nonblocking, chunks between processes. What
# they had at most is in the job's RESULT line.
# shellcheck source=tests/fault/lib.sh
. "$(dirname "$0")/lib.sh"
build tests/fault/flooder.c

# value KEY: of the job's RESULT line; 0 where it has none.
value() {
  sed -n "s/^RESULT pems.* $1=\([0-9]*\) .*/\1/p" "$err" | grep . || echo 0
}

# within USE ROOM LEAST: it has had at most ROOM bytes, and at least LEAST, so
# that there was a flood at all.
within() {
  had=$(value "most_$1")
  [ "$had" -le "$2" ] || fault "$1 had $had bytes, of $2"
  [ "$had" -ge "$3" ] || fault "$1 had $had bytes only: nothing was flooded"
}

# flood PROCESSES KIND BYTES [OPTION]
flood() {
  begin "$2 of $3 bytes, 8 ranks in $1 processes${4:+, $4}"
  run -n 8 --pems-procs="$1" --pems-memory=128M --pems-context=24M ${4:+"$4"} \
    --pems-stats "$program" "$2" "$3"
  expect_status 0
  expect_output "ok $2"
}

sigma=16777216 # an eighth of the memory
for processes in 1 2 4; do
  for bytes in 4000 60000; do
    flood $processes letters $bytes
    within letters $((sigma / 8)) $((sigma / 10))
    end
  done
  flood $processes deferred 20000
  within letters $((sigma / 8)) $((sigma / 10))
  end
  flood $processes windows 200000
  within letters $((sigma / 8)) 0
  end
  # No call has to wait, nor may one take what is not there.
  flood $processes reductions 200000
  within packed $((sigma / 4)) $((sigma / 8))
  within oldest $((sigma / 8)) 0
  end
done
for processes in 2 4; do
  # Vectors that are packed; the oldest call may go beyond the share, by its own.
  flood $processes mail 400000
  within oldest $((sigma / 8)) 100000
  within packed $((sigma / 4 + sigma / 8)) 100000
  end
  flood $processes mail 4000000
  within oldest $((sigma / 8)) 100000
  end
  flood $processes rounds 200000 --pems-between=copy
  within outgoing $((sigma / 8)) 100000
  within incoming $((sigma / 8)) 100000
  within packed $((sigma / 4 + sigma / 8)) 0
  end
  # Data that are read where they are take no memory on their way.
  flood $processes rounds 200000 --pems-between=read
  within outgoing 100000 1
  within incoming 100000 1
  end
done
conclude
