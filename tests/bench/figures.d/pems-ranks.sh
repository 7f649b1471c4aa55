# shellcheck shell=sh disable=SC2034
paper='PEMS2 thesis, 8.7'
what='PSRS of one n: time and bytes against the number of ranks'
saw='With contexts of one size, time is linear in n; smaller contexts can be read ahead.'
shape='bytes read with the most ranks are at most 1.5 times those with the fewest'
axes='ranks;MiB read;logx'
measure() {
  work=${TMPDIR:-/var/tmp}/pems-figures.$$
  mkdir -p "$work" && pemscc -O2 -o "$work/psrs" "$top/apps/psrs.c" || return 1
  for n in $(size '16 32 64' '16 32 64 128 256'); do
    pemsrun -n "$n" --pems-k=2 --pems-memory="$(size 160M 1G)" --pems-disk="$work" \
      --pems-stats "$work/psrs" "$(size 16000000 1000000000)" >"$work/log" 2>&1 || return 1
    echo "read $n $(value bytes_read <"$work/log" | awk '{ print $1 / 1048576 }')"
  done
  rm -rf "$work"
}
check_shape() {
  awk '!/^#/ { if (!n++) first = $3; last = $3 } END { exit !(n > 1 && last <= 1.5 * first + 1) }' "$dat"
}
