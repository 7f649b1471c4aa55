#!/bin/sh
# Checks the links of a site: each href and src that is a path leads to a file.
#
#   links.sh FOLDER
#
# Prints those that do not; exit status 1.
set -eu
cd "$1"
bad=0
for page in $(find . -name '*.html' | sort); do
  for link in $(grep -oE '(href|src)="[^"#?]+' "$page" | sed 's/^[a-z]*="//' |
    sort -u); do
    case $link in
      *:* | //*) continue ;;
      /*) target=.$link ;;
      *) target=$(dirname "$page")/$link ;;
    esac
    # 404.html knows no place of its own.
    [ -e "$target" ] || [ "$page" = ./404.html ] || {
      echo "$page: no such page or file: $link"
      bad=1
    }
  done
done
exit $bad
