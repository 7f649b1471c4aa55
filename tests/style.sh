#!/bin/sh
# Sources are as clang-format leaves them, and scripts as shellcheck wants them; and
# make knows a test from a program beside it.
set -u
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 1
status=77

# Prints the name of a clang-format that knows InsertBraces, which 15 is the first to do,
# and formats macros as these do: 18 and later do not.
find_formatter() {
  for name in clang-format clang-format-17 clang-format-16 clang-format-15; do
    version=$($name --version 2>/dev/null) || continue
    version=${version##*version }
    case ${version%%.*} in 15 | 16 | 17) echo "$name" && return ;; esac
  done
  return 1
}

if formatter=$(find_formatter); then
  status=0
  find apps drivers include src tests wrappers -name '*.[ch]' \
    -exec "$formatter" --dry-run -Werror {} + || status=1
else
  echo "no clang-format 15, 16 or 17: formatting was not checked"
fi

# SC2154: variables come from the lib.sh that a script reads.
if command -v shellcheck >/dev/null; then
  [ $status -eq 77 ] && status=0
  find bootstrap wrappers/pemscc.in packaging tests \
    \( -name '*.sh' -o -name bootstrap -o -name pemscc.in -o -name thesis \
    -o -name figures -type f \) \
    -exec shellcheck -x -S warning -e SC2154 {} + || status=1
else
  echo "shellcheck is not there: scripts were not checked"
fi

# What leaves the tree names its licence itself; REUSE.toml does for the rest.
for file in include/*.h include/pems/*.h* include/pems/detail/* completion/* doc/man/*.[1-9] \
  doc/examples/*.c doc/examples/cxx/*.cc python/pems/*.py wrappers/*.in; do
  head -n 2 "$file" | grep -q 'SPDX-License-Id[a-z]*: BSD-3-Clause' || {
    echo "$file: name the licence in the first lines, as doc/examples/sort.c does"
    status=1
  }
done
if command -v reuse >/dev/null && [ -e .git ]; then
  reuse lint -q || {
    echo "reuse lint finds files without a licence"
    status=1
  }
else
  echo "reuse is not there, or this is an archive: REUSE.toml was not checked"
fi

# Where there is a.c, make takes that for the test a.sh.
for script in $(sed -n 's|^ *\(tests/[^ ]*\.sh\).*|\1|p' tests/tests.mk); do
  program=${script%.sh}.c
  if [ -e "$program" ]; then
    echo "$program: $script is never run: give one of them another name"
    status=1
  fi
done
exit $status
