#!/bin/sh
# The documents agree with the sources: paths and functions that they name exist,
# and each room has a README. First, that what checks it finds each kind of
# mistake in a small tree made for that.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
need perl

check_tree() {
  perl "$top/tests/docs.pl" "$work"
}

# A README in order, but for lines that are added: room LINE...
room() {
  put src/low/README.md '# src/low: a room' '' 'What it is for.' '' \
    "Rank 0 in \`doc/layers.txt\`: may use nothing." '' "- \`one\`: a file." '' \
    '## Invariants' '' '1. It is short.' "$@"
}

put doc/layers.txt 'room 0 low'
put src/low/one.c 'int low_one(void) { return 1; }'
room
put README.md "See src/low/one.c, src/low/ and \`low/one.c\`."
in_order "a tree in order"

put README.md "See src/low/two.c."
finds 'README.md:1: no such path: src/low/two.c'
put README.md '' "See src/{low,high}/."
finds 'README.md:2: no such path: src/high/'
put README.md "See \`low/three.c\` and \`on*.c\`."
finds 'README.md:1: no such file: low/three.c'
put README.md "See \`policy_NAME.c\` and \`on*.c\`."
in_order "names that stand for others"
put doc/man/low.3 'As src/gone.c does.'
finds 'doc/man/low.3:1: no such path: src/gone.c'
rm "$work/doc/man/low.3"

put src/low/other.c ''
finds 'src/low/README.md: does not name other.c: add'
room "- \`ot*\`: named by a pattern"
in_order "a source that a pattern names"
room 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 "\`other\`"
finds 'src/low/README.md: 32 lines'
put doc/layers.txt 'room 1 low'
finds "src/low/README.md: write 'Rank 1 in"
put src/low/README.md 'other one'
finds "src/low/README.md: no list '## Invariants'"
rm "$work/src/low/README.md"
finds 'src/low: no README.md'
room "\`other\`"
put doc/layers.txt 'room 0 low'

put doc/life-of-a-message.md "It calls \`low_one()\`."
in_order "a function that exists"
put doc/life-of-a-message.md "It calls \`low_two()\`."
finds 'doc/life-of-a-message.md: no function low_two()'
put doc/life-of-a-message.md "It calls nothing."
finds 'doc/life-of-a-message.md: names no function'

put doc/life-of-a-message.md "It calls \`low_one()\`."
put doc/pictures/low.dot 'digraph low { a [label="one\ntwo"]; }'
finds "doc/pictures/low.svg: does not say 'one': .*run 'make pictures'"
put doc/pictures/low.svg '<text>one</text><text>two</text>'
in_order "a picture of today"
put doc/pictures/low.svg '<text>one</text>'
finds "doc/pictures/low.svg: does not say 'two'"
rm "$work"/doc/pictures/low.*
put doc/pictures/layers.dot 'digraph layers { a [label="high"]; }'
put doc/pictures/layers.svg '<text>high</text>'
finds "doc/pictures/layers.svg: does not say 'low'"

perl "$top/tests/docs.pl" "$top" ||
  fail "the documents are not as the sources are"
exit $status
