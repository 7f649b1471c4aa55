#!/bin/sh
# The functions of the public headers, each with the manual page that tells about
# it, so that `man pems_sorter_push` finds pems_sort(3):
#
#   links.sh list TOP           prints "FUNCTION SECTION PAGE" lines
#   links.sh install TOP DIR    writes a page for each below DIR/man3, which
#                               includes the other one (.so)
#   links.sh uninstall TOP DIR  removes these
#
# TOP is the top of the sources. A new header is a line of `headers`.
set -eu

headers='
include/pems.h 7 pems
include/pems/cgm.h 3 pems_cgm
include/pems/disk.h 3 pems_disk
include/pems/pqueue.h 3 pems_pqueue
include/pems/record.h 3 pems_sort
include/pems/sched.h 3 pems_sched
include/pems/sort.h 3 pems_sort
include/pems/status.h 3 pems_em
include/pems/stream.h 3 pems_stream
include/pems/tfp.h 3 pems_tfp
include/pems/version.h 3 pems_em'

# The names of functions: what stands before a parenthesis, but for comments,
# macros, types of functions, and what the headers keep to themselves.
functions() {
  awk '
    /^[ \t]*#/ { next }
    { text = text " " $0 }
    END {
      while ((from = index(text, "/*")) > 0) {
        rest = substr(text, from + 2)
        text = substr(text, 1, from - 1) " " substr(rest, index(rest, "*/") + 2)
      }
      gsub(/typedef [^;{]*;/, "", text)
      while (match(text, /pems_[a-z0-9_]+\(/)) {
        name = substr(text, RSTART, RLENGTH - 1)
        if (name !~ /^pems_api_/ && !seen[name]++) print name
        text = substr(text, RSTART + RLENGTH)
      }
    }' "$1"
}

list() {
  echo "$headers" | while read -r header section page; do
    [ -n "$header" ] || continue
    functions "$1/$header" | sed "s/\$/ $section $page/"
  done
}

case ${1-} in
list) list "$2" ;;
install)
  list "$2" | while read -r name section page; do
    echo ".so man$section/$page.$section" >"$3/man3/$name.3"
  done
  ;;
uninstall)
  list "$2" | while read -r name section page; do
    rm -f "$3/man3/$name.3"
  done
  ;;
*)
  sed -n 's/^#   //p' "$0" >&2
  exit 2
  ;;
esac
