#!/bin/sh
# The manual pages: no mistakes in the markup, every option described.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"

manuals=$here/doc/man
for option in $(sed -n 's/^  X(\([a-z]*\), .*/\1/p' "$here/src/base/options.c"); do
  variable=PEMS_$(echo "$option" | tr '[:lower:]' '[:upper:]')
  try grep -E "^\.It Fl -pems-$option( |\$)" "$manuals/pems.7"
  [ $status -eq 0 ] || fail "pems.7 does not describe --pems-$option"
  try grep -qw "$variable" "$manuals/pems.7"
  [ $status -eq 0 ] || fail "pems.7 does not name $variable"
done
# The list above must not be empty by accident.
try grep -c 'Fl -pems-' "$manuals/pems.7"
[ "$(cat out)" -ge 12 ] || fail "too few options in pems.7"
for command in pemscc pemsrun pemsinfo; do
  [ -f "$manuals/$command.1" ] || fail "$command has no manual page"
done

if command -v mandoc >/dev/null; then
  for page in "$manuals"/*; do
    expect "$(basename "$page")" 0 -- mandoc -T lint -W warning "$page"
  done
else
  echo "mandoc is not there: the markup was not checked"
fi
conclude
