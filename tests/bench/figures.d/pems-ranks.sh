# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.7'
what='PSRS of one n: bytes against the number of ranks'
saw='With contexts of one size, time is linear in n; smaller contexts can be read ahead.'
shape='bytes read with the most ranks are at most 1.5 times those with the fewest'
why='The thesis has one size of context and grows v with n; here n stays, so that contexts shrink.'
axes='ranks;MiB read;logx'
measure() {
  pemscc -O2 -o "$scratch/psrs" "$top/apps/psrs.c" || return 1
  for n in $(size '16 32 64' '16 32 64 128 256'); do
    pemsrun -n "$n" --pems-k=2 --pems-memory="$(size 160M 1G)" --pems-disk="$scratch" \
      --pems-stats "$scratch/psrs" "$(size 16000000 1000000000)" >"$scratch/log" 2>&1 || return 1
    point read "$n" 'bytes_read / 1048576'
  done
}
check_shape() {
  awk '!/^#/ { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last <= 1.5 * first + 1) }' "$dat"
}
