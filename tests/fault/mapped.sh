#!/bin/sh
# What ranks map themselves goes to disk with them: four times the memory that
# the kernel grants is mapped, and nothing is killed.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/outofcore_lib.sh"
"$pemscc" -O2 -o "$work/arenas" "$top/tests/fault/arenas.c" || exit 1

# 512 MiB
times=4
for options in --pems-io=unix --pems-swapin=lazy; do
  # shellcheck disable=SC2086 # options are words
  within 128M 'arenas right=1' -n 16 --pems-context=40M $options \
    "$work/arenas" 32 3
done
exit $status
