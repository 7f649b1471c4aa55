# shellcheck shell=sh
# For tests and benchmarks of pemsinfo --plan.

# prediction FILE NAME [FORMAT]: what the prediction in the file says of it first,
# in bytes, or as the number that it is; nothing if it does not.
prediction() {
  awk -v name="$2" -v format="${3:-%.15g}\\n" '
    /^prediction/ { here = 1 }
    here && $1 == name && !found {
      n = split("B KiB MiB GiB TiB", unit)
      x = $2
      for (i = 1; i <= n; i++) if ($3 == unit[i]) x *= 1024 ^ (i - 1)
      printf format, x
      found = 1
    }' "$1"
}
