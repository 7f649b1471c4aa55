#!/bin/sh
# weaken.sh NM OBJCOPY AR FLAGS ARCHIVE OBJECT...: the archive of these objects,
# whose definitions give way to those of the same names that a program has: every
# program gets them all.
set -e
lister=$1 objcopy=$2 archiver=$3 flags=$4 archive=$5
shift 5
for object; do
  $lister -g --defined-only "$object" | sed -n 's/.* //p' >"$object.names"
  $objcopy --weaken-symbols="$object.names" "$object"
  rm -f "$object.names"
done
$archiver "$flags" "$archive" "$@"
