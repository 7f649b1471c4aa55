#!/bin/sh
# The documentation as a static site, in build-site/html: the pages of doc/, the
# manual pages and the public headers, by MkDocs with its theme Material (from PyPI, in a virtual
# environment below the build folder). Links between pages are checked.
#
#   site.sh TOP BUILD
#
# Needs python3 with venv, and mandoc. MKDOCS names an mkdocs that is there already.
set -eu
top=$(cd "$1" && pwd)
site=$2/build-site
command -v mandoc >/dev/null || {
  echo "site: mandoc: not found: install it (apt-get install mandoc)" >&2
  exit 1
}
mkdir -p "$site"
site=$(cd "$site" && pwd)
rm -rf "$site/pages"
mkdir -p "$site/pages/man"
mkdocs=${MKDOCS:-$site/venv/bin/mkdocs}
if [ ! -x "$mkdocs" ]; then
  python3 -m venv "$site/venv"
  "$site/venv/bin/pip" -q install 'mkdocs-material>=9,<10'
fi

cp -R "$top/doc/." "$site/pages/"
rm -f "$site/pages/mkdocs.yml" "$site"/pages/man/*
# The gallery of figures has another name here: README.md becomes index.html.
mv "$site/pages/figures/index.html" "$site/pages/figures/gallery.html"
sed -i 's,](index\.html),](gallery.html),' "$site/pages/figures/README.md"
# The front page is README.md, as seen from doc/.
sed 's,](doc/figures/index,](figures/gallery,g; s,](doc/,](,g; s,](\([A-Z]*\.md\)),](\1),g' "$top/README.md" >"$site/pages/index.md"
cp "$top/CONTRIBUTING.md" "$top/SECURITY.md" "$top/NEWS" "$site/pages/"
sed -i 's,](doc/,](,g' "$site/pages/CONTRIBUTING.md"
{
  echo '# Manual pages'
  echo
  for page in "$top"/doc/man/*.[1-9]; do
    name=$(basename "$page")
    {
      printf '# %s\n\n<pre>\n' "$name"
      mandoc -T utf8 "$page" | col -b | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
      echo '</pre>'
    } >"$site/pages/man/$name.md"
    echo "- [$name]($name.md): $(sed -n 's/^\.Nd //p' "$page" | head -n 1)"
  done
} >"$site/pages/man/README.md"

# summary HEADER: the first sentence of the comment at its top.
summary() {
  sed '/SPDX-License/d; /^#/,$d; /^$/,$d; s,^/[*/] *,,; s,^// *,,; s, *\*/$,,' "$1" | tr '\n' ' ' |
    sed 's/\([.:]\) .*/\1/; s/:$/./'
}

# Each public header as it is, with its shortest example.
mkdir -p "$site/pages/headers"
{
  echo '# Public headers'
  echo
  for header in "$top"/include/pems.h "$top"/include/pems/*.h "$top"/include/pems/*.hpp; do
    name=${header#"$top"/include/}
    base=${name#pems/}
    stem=${base%.h*}
    case $base in
      *.hpp) example=cxx/$stem.cc language=cpp ;;
      *) example=$stem.c language=c ;;
    esac
    {
      printf '# &lt;%s&gt;\n\n' "$name"
      [ ! -f "$top/doc/examples/$example" ] ||
        printf 'Example: [%s](../examples/%s)\n\n' "$example" "$example"
      printf '```%s\n' $language
      cat "$header"
      echo '```'
    } >"$site/pages/headers/$base.md"
    echo "- [&lt;$name&gt;]($base.md): $(summary "$header")"
  done
} >"$site/pages/headers/README.md"
sed "s,\.\./build-site/,$site/," "$top/doc/mkdocs.yml" >"$site/mkdocs.yml"
NO_MKDOCS_2_WARNING=1 "$mkdocs" build -q --strict -f "$site/mkdocs.yml"
"$top/doc/links.sh" "$site/html"
echo "site: $site/html/index.html"
