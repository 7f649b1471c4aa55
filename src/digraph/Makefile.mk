# Graphs in memory and in files, and what is computed of them: linked into
# pems-graph only.

noinst_LTLIBRARIES += libpemsdigraph.la
libpemsdigraph_la_SOURCES = \
  src/digraph/digraph.c \
  src/digraph/digraph.h \
  src/digraph/digraph_arcs.c \
  src/digraph/digraph_arcs.h \
  src/digraph/digraph_binary.c \
  src/digraph/digraph_binary.h \
  src/digraph/digraph_csr.c \
  src/digraph/digraph_dimacs.c \
  src/digraph/digraph_file.c \
  src/digraph/digraph_file.h \
  src/digraph/digraph_formats.h \
  src/digraph/digraph_galois.c \
  src/digraph/digraph_gap.c \
  src/digraph/digraph_input.c \
  src/digraph/digraph_input.h \
  src/digraph/digraph_ldbc.c \
  src/digraph/digraph_matrix_market.c \
  src/digraph/digraph_metis.c \
  src/digraph/digraph_numbers.c \
  src/digraph/digraph_numbers.h \
  src/digraph/digraph_out.c \
  src/digraph/digraph_out.h \
  src/digraph/digraph_snap.c \
  src/digraph/digraph_text.c \
  src/digraph/digraph_text.h \
  src/digraph/generate.c \
  src/digraph/generate.h \
  src/digraph/generate_road.c
libpemsdigraph_la_LIBADD = $(ZLIB_LIBS) $(ZSTD_LIBS) -lm

UNIT_TESTS += \
  tests/unit/digraph/test_digraph \
  tests/unit/digraph/test_digraph_arcs \
  tests/unit/digraph/test_digraph_binary \
  tests/unit/digraph/test_digraph_file \
  tests/unit/digraph/test_digraph_fuzz \
  tests/unit/digraph/test_digraph_galois \
  tests/unit/digraph/test_digraph_gap \
  tests/unit/digraph/test_digraph_input \
  tests/unit/digraph/test_digraph_ldbc \
  tests/unit/digraph/test_digraph_metis \
  tests/unit/digraph/test_digraph_numbers \
  tests/unit/digraph/test_generate
EXTRA_DIST += src/digraph/README.md
