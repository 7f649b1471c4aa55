# shellcheck shell=sh
# shellcheck disable=SC2154 # set by figures, which reads this
# Drawing a figure from its data, and the page that shows all: for figures. Words in
# $axes say how: logx, logy; panels: series are PANEL/SERIES, and each panel is a plot
# of its own; stacked, beside: bars, x is a word; nokey.

# is_drawn WORD: is it one of the words in $axes?
is_drawn() {
  case "${axes##*;} " in *"$1 "*) return 0 ;; esac
  return 1
}

# What a plot's series are drawn with: x is a number, or the word below bars.
draw_style() {
  if is_drawn stacked || is_drawn beside; then
    echo "using 3:xtic(2)"
  else
    echo "using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.6"
  fi
}

# draw_lines INDENT PANEL: the commands that plot the series of a panel ("p." is the
# variable of gnuplot's with it), or all.
draw_lines() {
  cat <<END
$1series = system("awk '!/^#/$2 && !seen[\$1]++ { print \$1 }' $name.dat")
$1plot for [s in series] sprintf("< awk '\$1 == \"%s\"' $name.dat", s) \\
$1  $(draw_style) title s[strstrt(s, "/") + 1:] noenhanced
END
}

draw_title() {
  printf '%s\\n%s; scale %s, load %s on %s cores%s' "$what" \
    "$(echo "$paper" | sed 's/ (.*//')" "$(record scale)" "$(record load)" \
    "$(record cores)" "$([ "$(record loaded)" = no ] || echo ': drawn under load')"
}

# draw_few_ticks: is every x less than 2^16?
draw_few_ticks() {
  awk '!/^#/ && $2 >= 65536 { exit 1 }' "$dat"
}

draw_settings() {
  if is_drawn logx; then # powers of two: as such, or with the prefixes of bytes
    echo 'set logscale x 2'
    case $axes in
      bytes*) echo "set format x '%.0b %BB'" ;;
      *) draw_few_ticks || echo "set format x '2^{%L}'" ;;
    esac
  fi
  ! is_drawn logy || echo 'set logscale y'
  # Bars and lines from 0, where nothing is below it.
  is_drawn logy || ! awk '!/^#/ && $3 < 0 { exit 1 }' "$dat" || echo 'set yrange [0:*]'
  ! is_drawn nokey || echo 'unset key'
  is_drawn stacked && echo 'set style histogram rowstacked'
  is_drawn beside && echo 'set style histogram clustered gap 1'
  if is_drawn stacked || is_drawn beside; then
    echo 'set style data histograms; set style fill solid 0.8; set boxwidth 0.9'
    echo 'set xtics rotate by -40 noenhanced'
  fi
}

# Columns and rows that hold so many panels.
draw_layout() {
  awk -v n="$1" 'BEGIN {
    columns = n < 3 ? n : n < 7 ? 2 : 3
    print int((n + columns - 1) / columns), columns }'
}

draw_script() {
  echo "# Draws $name.dat; in this folder: gnuplot $name.gp"
  rows=1 columns=1
  if is_drawn panels; then
    # shellcheck disable=SC2046 # two words
    set -- $(draw_layout "$(awk -F/ '!/^#/ && !seen[$1]++' "$dat" | wc -l)")
    rows=$1 columns=$2
  fi
  width=760 height=480
  [ "$rows$columns" = 11 ] || width=$((columns * 420)) height=$((rows * 300 + 60))
  echo "set terminal svg size $width, $height font 'sans,13' background 'white'"
  echo "set output '$name.svg'; set grid; set key outside right top"
  echo "set xlabel \"${axes%%;*}\""
  rest=${axes#*;}
  echo "set ylabel \"${rest%%;*}\""
  draw_settings
  if is_drawn panels; then
    if is_drawn stacked || is_drawn beside; then
      echo "set key outside right top font ',9'"
    else
      echo "set key inside left top font ',10'"
    fi
    ! is_drawn nokey || echo 'unset key'
    printf 'set multiplot layout %s, %s title "%s" noenhanced\n' "$rows" "$columns" \
      "$(draw_title)"
    echo "panels = system(\"awk -F/ '!/^#/ && !seen[\$1]++ { print \$1 }' $name.dat\")"
    echo 'do for [p in panels] {'
    echo '  set title p noenhanced'
    draw_lines '  ' " && index(\$1, \\\"\".p.\"/\\\") == 1"
    echo '}'
    echo 'unset multiplot'
  else
    printf 'set title "%s" noenhanced\n' "$(draw_title)"
    draw_lines '' ''
  fi
}

draw() {
  draw_script >"$out/$name.gp"
  if command -v gnuplot >/dev/null; then
    (cd "$out" && gnuplot "$name.gp") || die "$name: gnuplot failed"
  else
    echo "figures: $name: no gnuplot: not drawn"
  fi
}

# --- the gallery ---

escape() {
  sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}

# told TERM TEXT: a line of the list below a figure.
told() {
  [ -z "$2" ] || echo "<dt>$1</dt><dd>$(echo "$2" | escape)</dd>"
}

card_load() {
  if [ "$(record loaded)" = yes ]; then
    echo "<p class=\"load\">Drawn under load ($(record load), others used" \
      "$(record others) of $(record cores) cores; scale $(record scale)): only shapes" \
      "count, and they may fail for that.</p>"
  elif [ -s "$out/$name.txt" ]; then
    echo "<p class=\"quiet\">Quiet machine (load $(record load), $(record cores) cores," \
      "scale $(record scale)).</p>"
  fi
}

card() {
  echo "<section id=\"$name\"><h2>$(echo "$what" | escape)</h2>"
  echo "<p class=\"paper\">$paper &middot; $name &middot; <a href=\"$name.dat\">data</a>," \
    "<a href=\"$name.gp\">script</a></p>"
  echo "<img src=\"$name.svg\" alt=\"$name\" loading=\"lazy\">"
  card_load
  echo '<dl>'
  told 'The paper saw' "$saw"
  told 'We see' "$(record we_see)"
  told 'Note' "$(sed -n 's/^# note: //p' "$dat" | sort -u | tr '\n' ' ')"
  told 'Why we differ' "$why"
  echo "<dt>The shape</dt><dd>$(echo "$shape" | escape): <b>$(
    case $(record shape_holds) in yes) echo holds ;; no) echo 'does not hold here' ;; *) echo 'not checked' ;; esac)</b></dd>"
  echo '</dl></section>'
}

# The papers in the order of their years, each with its figures.
gallery_figures() {
  for of in 'PEMS2 thesis' 2003 2009 2015 2019; do
    echo "<h2 class=\"of\">$of</h2>"
    for each in $(names); do
      use "$each"
      case $paper in "$of,"*) ;; *) continue ;; esac
      [ ! -s "$out/$name.svg" ] || card
    done
    sed -n "s/^drawing $of, \(.*\)/<p>Drawings and lists, for which nothing is \
measured: \1.<\/p>/p" "$here/figures.d/papers"
  done
}

gallery() {
  mkdir -p "$out" || exit 1
  {
    cat "$here/figures.d/gallery.head"
    gallery_figures
    echo '<h2 class="of">Older figures</h2><p>README.md tells how each was drawn.</p>'
    for svg in "$out"/*.svg; do
      base=$(basename "$svg" .svg)
      [ ! -f "$here/figures.d/$base.sh" ] && [ -f "$svg" ] || continue
      echo "<section><h3>$base</h3><img src=\"$base.svg\" alt=\"$base\" loading=\"lazy\"></section>"
    done
    echo '</body></html>'
  } >"$out/index.html"
  echo "figures: $out/index.html"
}
