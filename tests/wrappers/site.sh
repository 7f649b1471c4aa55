#!/bin/sh
# The site: every page of doc/ is in its navigation and all that is there exists;
# what checks links finds one that leads nowhere. The site itself is built where
# MKDOCS names an mkdocs with its theme Material.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

put good.html '<a href="sub/other.html#part">x</a> <a href="https://a/b">y</a>'
put sub/other.html '<a href="../good.html">x</a>'
sh "$top/doc/links.sh" "$work" >"$work/out" || fail "good links are refused"
put sub/other.html '<a href="gone.html">x</a>'
sh "$top/doc/links.sh" "$work" >"$work/out" && fail "a bad link is not found"
grep -q 'sub/other.html: no such page or file: gone.html' "$work/out" ||
  fail "the bad link is not named"

sed -n 's/^ *- \(.*: \)*\([a-z].*\.md\)$/\2/p' "$top/doc/mkdocs.yml" >"$work/nav"
[ "$(wc -l <"$work/nav")" -ge 20 ] || fail "few pages in mkdocs.yml"
while read -r page; do
  case $page in
    index.md | man/README.md | headers/README.md) ;; # made by site.sh
    *) [ -f "$top/doc/$page" ] || fail "mkdocs.yml: no doc/$page" ;;
  esac
done <"$work/nav"
for page in $(cd "$top/doc" && find . -name '*.md' | sed 's,^\./,,' | sort); do
  grep -qx "$page" "$work/nav" || fail "mkdocs.yml: doc/$page is not in nav"
done

if [ -n "${MKDOCS:-}" ] && command -v mandoc >/dev/null; then
  sh "$top/doc/site.sh" "$top" "$work" >"$work/out" 2>&1 || {
    fail "the site is not built"
    cat "$work/out"
  }
  for page in tutorial man/pems.7 headers/sort.h headers/sorter.hpp; do
    [ -s "$work/build-site/html/$page.html" ] || fail "no $page"
  done
else
  echo "MKDOCS is not set, or mandoc is not there: no site was built"
fi
exit $status
