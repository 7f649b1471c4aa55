#!/bin/sh
# The sources and their objects are layered as doc/layers.txt says. First, that
# what checks it finds each kind of violation in a small tree made for that.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
build=${top_builddir:-$top/build}
need perl nm

check() {
  perl "$top/tests/layers.pl" "$@"
}

check_tree() {
  check --table="$work/table" --source="$work" --build="$work"
}

compile() {
  for source in "$work"/src/*/*.c; do
    ${CC:-cc} -I"$work/src" -c "$source" -o "${source%.c}.o" || exit 1
  done
}

put table 'room 0 low' 'room 1 side' 'room 1 other'
put src/low/low.h 'int low_one(void);'
put src/low/low.c '#include "low/low.h"' 'int low_one(void) { return 1; }'
put src/side/side.h 'int side_one(void);'
put src/side/side.c '#include "side/side.h"' '#include "low/low.h"' \
  'int side_one(void) { return low_one(); }'
put src/other/other.h 'int other_one(void);'
put src/other/other.c '#include "other/other.h"' \
  'int other_one(void) { return 1; }'
compile
in_order "a tree in order"

put src/other/other.c '#include "other/other.h"' '#include "side/side.h"' \
  'int other_one(void) { return 1; }'
compile
finds 'include: other/other.c: includes side/side.h'
put src/low/low.c 'int other_one(void);' 'int low_one(void);' \
  'int low_one(void) { return other_one(); }'
put src/other/other.c 'int side_one(void);' 'int other_one(void);' \
  'int other_one(void) { return side_one(); }'
compile
finds 'reference: low/low.c: calls other_one of other/other.c'
finds 'reference: other/other.c: calls side_one of side/side.c'
finds 'knot: 3 sources: low/low.c other/other.c side/side.c'

put src/low/low.h 'struct pair { int a; };' 'int low_one(void);' 'int two(void);'
put src/low/more.c 'int two(void);' 'int two(void) { return 2; }'
put src/low/more.h 'struct pair { long b; };'
compile
finds 'prefix: low/more.c: two'
finds 'home: low/low.h: declares two of low/more.c'
finds 'tag: pair: low/low.h low/more.h'
finds 'tag_prefix: low/low.h: pair'

i=0
while [ $i -lt 25 ]; do
  put "src/low/s$i.c" ''
  i=$((i + 1))
done
put src/low/s0.c '/* As Someone says. */'
put src/side/s0.c '/* As Someone says. */'
put table 'room 0 low' 'room 1 side' 'room 1 other' 'word Some.?one side'
finds 'word: low/s0.c: Someone'
finds 'word: 1 found'
put src/none/none.c ''
finds 'size: low: 27 sources'
finds 'table: none/none.c: no room none in the table'
put table 'room 0 low' 'room 1 side' 'room 1 other' 'room 2 none' \
  'limit knot 9'
finds 'knot: 1 found, .* tolerates 9: lower that limit'

rm -r "$work/src"
put table 'room 0 low' 'room 1 side' 'room 1 other' 'only low other gone'
put src/low/low.h 'int low_one(void);'
put src/low/low.c '#include "low/low.h"' 'int low_one(void) { return 1; }'
put src/side/side.c '#include "low/low.h"' 'int side_one(void);' \
  'int side_one(void) { return low_one(); }'
put src/other/other.c '#include "low/low.h"' 'int other_one(void);' \
  'int other_one(void) { return low_one(); }'
compile
finds 'only: side/side.c: includes low/low.h, which is not for side'
finds 'only: side/side.c: calls low_one of low/low.c, which is not for side'
finds 'only: 2 found'
finds 'table: .*: only low: no room gone'

check --table="$top/doc/layers.txt" --source="$top" --build="$build" ||
  fail "the sources are not as doc/layers.txt says"
exit $status
