#!/bin/sh
# Programs have the same results on several hosts as under mpirun on one; sorting
# out of core, too.
. "$(dirname "$0")/lib.sh"
only_long
on_hosts 4
launcher_works "$work/outputs" || { echo "mpirun prints nothing"; exit 1; }

# same PROGRAM [ARGS]: with one process for each host, and with two.
same() {
  source=$1
  shift
  name=$(basename "$source" .c)
  "${MPICC:-mpicc}" -std=gnu17 -O1 -o "$work/plain" "$here/$source" -lm || exit 1
  build "$source" -std=gnu17 -lm
  # shellcheck disable=SC2046 # options
  "$mpirun" $(launcher_apart "$work/outputs" mpirun) -n 8 \
    $(launcher_before "$work/outputs") "$work/plain" "$@" >/dev/null 2>"$err" </dev/null ||
    { echo "mpirun: $name: $(head -n 5 "$err")"; exit 1; }
  launcher_output "$work/outputs" | sort >"$work/expected"
  for each in 1 2; do
    begin "$name, $each on each host"
    rm -rf "$work/outputs"
    PEMS_TEST_EVICT_ALWAYS=1
    export PEMS_TEST_EVICT_ALWAYS
    # shellcheck disable=SC2046 # options
    run_hosts -n 8 --procs=$((4 * each)) --pems-k=1 --pems-context=24M \
      --pems-memory=256M $(launcher_apart "$work/outputs" pemsrun) "$program" "$@"
    unset PEMS_TEST_EVICT_ALWAYS
    expect_status 0
    expect_silence
    launcher_output "$work/outputs" | sort >"$work/got"
    cmp -s "$work/expected" "$work/got" ||
      fault "the output differs: $(diff "$work/expected" "$work/got" | head -5)"
    expect_hosts_clean 5
    end
  done
}

for program in alltoall allgather bcast reduce scan gather mixed p2p \
  p2p_requests communicators intercomm win_fence win_lock win_pscw \
  win_accumulate file_collective file_shared nonblocking neighbor; do
  same tests/mpi/$program.c 25
done

build apps/psrs.c -lm
for procs in 4 8; do
  begin "sorting 384 MB with $procs processes on 4 hosts, out of core"
  run_hosts -n 32 --procs=$procs --pems-k=1 --pems-memory=128M \
    --pems-context=48M --pems-stats "$program" 96000000
  expect_status 0
  expect_output 'RESULT app=psrs.* sorted=1 count_ok=1 checksum_ok=1'
  written=$(sed -n 's/.* bytes_written=\([0-9]*\).*/\1/p' "$err")
  [ "${written:-0}" -gt 384000000 ] || fault "only ${written:-0} B went to disk"
  expect_hosts_clean 5
  end
done

conclude
