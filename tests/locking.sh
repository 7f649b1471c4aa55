#!/bin/sh
# The table of doc/locking.md has the rows of src/os/lock_rank.h, in that order,
# and names for each the file that has the lock; each rank is in use; and no
# mutex is without a rank, but those of the program's image. What calls a
# function that needs a lock takes one, or needs it itself, as its name says.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
need perl

# ranks HEADER, rows DOCUMENT: the names, in their order.
ranks() {
  sed -n 's/^ *X(\([A-Z_]*\)).*/\1/p' "$1"
}

rows() {
  sed -n 's/^| \([A-Z][A-Z_]*\) | .*/\1/p' "$1"
}

# agree HEADER DOCUMENT: prints where they differ.
agree() {
  ranks "$1" >"$work/ranks"
  rows "$2" >"$work/rows"
  [ -s "$work/ranks" ] && diff "$work/ranks" "$work/rows"
}

# unranked <LIST: mutexes in the files of a list that have no rank.
unranked() {
  xargs grep -n 'pthread_mutex_\(t\|lock\|init\)\>' /dev/null
}

# That each kind of mistake is found.
header=$top/src/os/lock_rank.h
document=$top/doc/locking.md
sed '/^| OUTBOX |/d' "$document" >"$work/document"
agree "$header" "$work/document" >"$work/out" && fail "a missing row is not found"
sed '/^| OUTBOX |/{h;d;};/^| ALARM |/G' "$document" >"$work/document"
agree "$header" "$work/document" >"$work/out" && fail "another order is not found"
echo 'static pthread_mutex_t bare;' >"$work/bare.c"
echo "$work/bare.c" | unranked >"$work/out" || fail "a mutex without a rank is not found"

cat >"$work/bare.c" <<'END'
static void held(void) {
  lock_take(&l);
  one_locked();
}

static void also_held(void) {
  held();
  one_locked();
}

static void bare(void) {
  one_locked();
  lock_take(&l);
}
END
perl "$top/tests/locking.pl" "$work/bare.c" >"$work/out"
echo "$work/bare.c: bare: calls one_locked" | diff - "$work/out" ||
  fail "a call without the lock is not found, or one with it is"

agree "$header" "$document" || fail "doc/locking.md has other rows than lock_rank.h"

find "$top/src" "$top/drivers" -name '*.[ch]' ! -path '*/os/lock*' >"$work/files"
for rank in $(ranks "$header"); do
  users=$(xargs grep -l "INITIALIZER(LOCK_$rank)\|lock_init(.*LOCK_$rank)" <"$work/files")
  [ -n "$users" ] || fail "no lock has the rank $rank"
  file=$(sed -n "s/^| $rank | \`\([^\`]*\)\`.*/\1/p" "$document")
  grep -q '\<struct lock\>' "$top/${file:-gone}" ||
    fail "doc/locking.md: $rank: ${file:-no file} has no lock"
done

grep -v /interpose/program/ "$work/files" >"$work/ours"
unranked <"$work/ours" && fail "mutexes without a rank: make them a struct lock"
grep '\.c$' "$work/files" | xargs perl "$top/tests/locking.pl" >"$work/out"
[ -s "$work/out" ] && cat "$work/out" &&
  fail "calls without the lock: take it before, or end the name in _locked"
[ $status -eq 0 ] && echo "ok locking: $(ranks "$header" | wc -l) ranks"
exit $status
