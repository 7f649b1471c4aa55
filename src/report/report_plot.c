#include "report/report_parts.h"

/* What a VP does is drawn by colour; gnuplot takes it from this function. */
static void put_colors(FILE *f) {
  fputs("colors = '", f);
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, "%s%u", i ? " " : "", report_color[i]);
  }
  fputs("'\nnames = '", f);
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, "%s%s", i ? " " : "", report_state[i]);
  }
  fputs("'\nkinds = '", f);
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, "%s%s", i ? " " : "", report_bytes[i]);
  }
  fputs("'\ncolor(s) = int(word(colors, int(s) + 1))\n", f);
}

void report_plot(FILE *f, int processes) {
  fputs("# Draws the tables beside it; in this folder: gnuplot report.gp\n", f);
  fprintf(f, "processes = %d\n", processes);
  put_colors(f);
  fputs(
      "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
      "  set terminal pngcairo size 1400, 900 font ',14'; end = '.png'\n"
      "} else {\n"
      "  set terminal svg size 1400, 900; end = '.svg'\n"
      "}\n"
      "files(kind) = system(sprintf('for i in $(seq 0 %d); do ' . \\\n"
      "  'test -s %s.$i.dat && echo %s.$i.dat; done; true', \\\n"
      "  processes - 1, kind, kind))\n"
      "# Rows without comments; a table may have none.\n"
      "rows(file) = int(system(\"grep -c '^[0-9]' \".file.\" || true\"))\n"
      "set key outside right top reverse Left samplen 1\n"
      "set grid\n"
      "\n"
      "# As PEMS2's thesis, figures 8.12 to 8.14: a line for each rank.\n"
      "set output 'elapsed'.end\n"
      "set title 'Time elapsed when a rank ends a superstep'\n"
      "set xlabel 'superstep'; set ylabel 'seconds'\n"
      "set xrange [0:*]; set yrange [0:*]\n"
      "plot for [file in files('supersteps')] file using 2:5 \\\n"
      "  with linespoints pointtype 7 pointsize 0.4 linewidth 1 \\\n"
      "  title 'process '.file[12:strlen(file) - 4]\n"
      "\n"
      "# What each rank does, time going to the right; thin bars: its context\n"
      "# is read (black) or written (red).\n"
      "set output 'states'.end\n"
      "set title 'What ranks do'\n"
      "set xlabel 'seconds'; set ylabel 'rank'\n"
      "set style fill solid noborder\n"
      "unset grid\n"
      "swaps = ''\n"
      "do for [file in files('swaps')] {\n"
      "  if (rows(file) > 0) { swaps = swaps.' '.file }\n"
      "}\n"
      "draw_swaps = swaps eq '' ? '' : ', for [file in swaps] file '. \\\n"
      "  'using 2:1:2:3:($1 + 0.32):($1 + 0.42):($4 == 1 ? 0xcc0000 : 0) '. "
      "\\\n"
      "  'with boxxyerror linecolor rgb variable notitle'\n"
      "set xrange [0:*]; set yrange [*:*]\n"
      "plot for [file in files('states')] file \\\n"
      "  using 2:1:2:3:($1 - 0.4):($1 + 0.3):(color($4)) \\\n"
      "  with boxxyerror linecolor rgb variable notitle, \\\n"
      "  for [s = 0:words(names) - 1] NaN with boxes \\\n"
      "  linecolor rgb color(s) title word(names, s + 1) @draw_swaps\n"
      "set xrange [*:*]\n"
      "\n"
      "set grid\n"
      "set yrange [0:*]\n"
      "set output 'time'.end\n"
      "set title 'Where the time of all ranks goes'\n"
      "set xlabel 'superstep'; set ylabel 'seconds, all ranks together'\n"
      "plot for [s = words(names) - 1:0:-1] 'totals.dat' \\\n"
      "  using ($1 + $2 / 2.0 - 0.5):(sum [i = 0:s] column(5 + i)):(0.9 * $2) "
      "\\\n"
      "  with boxes linecolor rgb color(s) title word(names, s + 1)\n"
      "\n"
      "set output 'bytes'.end\n"
      "set title 'Bytes moved'\n"
      "set xlabel 'superstep'; set ylabel 'MiB, all ranks together'\n"
      "plot for [k = words(kinds) - 1:0:-1] 'totals.dat' \\\n"
      "  using ($1 + $2 / 2.0 - 0.5):(sum [i = 0:k] column(14 + i) / 2**20):"
      "(0.9 * $2) \\\n"
      "  with boxes linecolor k + 1 title word(kinds, k + 1)\n",
      f);
}
