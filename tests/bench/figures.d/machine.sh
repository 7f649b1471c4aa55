# shellcheck shell=sh disable=SC2034
paper='2015, Table 2'
what='This machine: its disk by size of request'
saw='A-Rot: 8 cores, 48 GiB, 8 disks, 748 MiB/s read and 731 written together; B-SSD: 16 cores, 128 GiB,
4 SSDs, 2006 and 1616 MiB/s.'
shape='requests of 4 MiB are at least as fast as those of 64 KiB, in each series'
why='It is another machine, often a virtual one whose disk is shared.'
axes='bytes of a request;MiB per second;logx'
measure() {
  note "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $cores cores," \
    "$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB of memory"
  mib=$(size 64 2048)
  for kib in 64 256 1024 4096; do
    for way in write read; do
      began=$(date +%s%N)
      case $way in
        write) set -- if=/dev/zero "of=$scratch/file" oflag=direct conv=fsync ;;
        read) set -- "if=$scratch/file" of=/dev/null iflag=direct ;;
      esac
      dd "$@" bs=${kib}K count=$((mib * 1024 / kib)) 2>"$scratch/log" || return 1
      awk -v w=$way -v k=$kib -v m="$mib" -v ns=$(($(date +%s%N) - began)) \
        'BEGIN { printf "%s %d %.1f\n", w, k * 1024, m / ns * 1e9 }'
    done
  done
}
check_shape() {
  awk '!/^#/ { y[$1 $2] = $3 }
    END { exit !(y["read4194304"] >= y["read65536"] && y["write4194304"] >= y["write65536"]) }' "$dat"
}
