#!/bin/sh
# The flags of packagers: link-time optimisation and hardening, for pems and for
# programs. Of pems only what becomes part of programs is built here; with
# PEMS_TEST_LONG=1 it is built and installed as a whole.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC
[ -x "$here/configure" ] || skip "there is no configure: it was built elsewhere"
built=${top_builddir:-$here/build}

# Debian's, Ubuntu's and Fedora's.
lto='-flto=auto -ffat-lto-objects'
hard='-fstack-protector-strong -fstack-clash-protection -fcf-protection
  -D_FORTIFY_SOURCE=3'
link='-Wl,-z,relro,-z,now -Wl,--as-needed'
[ "$(uname -m)" = x86_64 ] || hard=-fstack-protector-strong

mkdir tree
cd tree || exit 1
parts='libpems_start.a libpems_private.a libpems-cgm.a'
# shellcheck disable=SC2086 # lists
flags=$(echo -O2 -g $lto $hard)
set -- --without-hwy
[ "${PEMS_TEST_LONG:-}" != 1 ] || set --
try "$here/configure" -q --prefix="$work/tree/inst" CFLAGS="$flags" \
  CXXFLAGS="$flags" LDFLAGS="$link" "$@"
[ $status -eq 0 ] || fail "configure"
# shellcheck disable=SC2086 # a list
try make -s $parts
[ $status -eq 0 ] || fail "make"
for part in $parts; do
  try readelf -S -W "$part"
  grep -q '\.text' "$work/out" && ! grep -q 'gnu.lto' "$work/out" ||
    fail "$part is left to the link"
done
sed -e "s|^objdir=.*|objdir='$work/tree'|" \
  -e "s|$built/libpems-cgm.a|$work/tree/libpems-cgm.a|" \
  "$built/wrappers/pemscc" >pemscc
chmod +x pemscc
cd .. || exit 1
pemscc=$work/tree/pemscc
if [ "${PEMS_TEST_LONG:-}" = 1 ]; then
  try make -s -C tree -j 2 install
  [ $status -eq 0 ] || fail "make install"
  pemscc=$work/tree/inst/bin/pemscc
fi

# runs TITLE FLAGS: compiled and linked with these, in two steps and in one.
runs() {
  what=$1
  shift
  expect "$what: compile" 0 -- "$@" -Wall -c hello.c
  expect "$what: link" 0 -- "$@" -o two hello.o
  expect "$what: runs" 0 '^rank 1 of 2 calls 1' -- pemsrun -n 2 ./two
  expect "$what: in one step" 0 -- "$@" -o one hello.c
  expect "$what: runs" 0 '^rank 1 of 2 calls 1' -- pemsrun -n 2 --procs=2 ./one
}
runs "no flags" "$pemscc"
# shellcheck disable=SC2086 # lists
{
  runs "a packager's flags" "$pemscc" -O2 $lto $hard $link
  runs "hardening" "$pemscc" -O2 $hard $link
  runs "LTO" "$pemscc" -O2 -flto
  runs "LTO, slim objects" "$pemscc" -O2 -flto -fno-fat-lto-objects
}
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
  runs "LTO by clang and lld" env PEMS_CC=clang "$pemscc" -O2 -flto -fuse-ld=lld
else
  echo "SKIPPED: LTO by clang: clang or lld is not installed"
fi
conclude
