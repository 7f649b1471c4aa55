# Graphs in memory and in files, and what is computed of them: linked into
# pems-graph only.

noinst_LTLIBRARIES += libpemsdigraph.la
libpemsdigraph_la_SOURCES = \
  src/digraph/boruvka.c \
  src/digraph/boruvka.h \
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
  src/digraph/forest.c \
  src/digraph/forest.h \
  src/digraph/generate.c \
  src/digraph/generate.h \
  src/digraph/generate_road.c \
  src/digraph/pulled.c \
  src/digraph/pulled.h \
  src/digraph/ranks.c \
  src/digraph/ranks.h \
  src/digraph/reference.c \
  src/digraph/reference.h \
  src/digraph/rows.c \
  src/digraph/rows.h \
  src/digraph/search.c \
  src/digraph/search.h \
  src/digraph/undirected.c \
  src/digraph/undirected.h
libpemsdigraph_la_LIBADD = $(ZLIB_LIBS) $(ZSTD_LIBS) -lm

UNIT_TESTS += \
  tests/unit/digraph/test_boruvka \
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
  tests/unit/digraph/test_forest \
  tests/unit/digraph/test_generate \
  tests/unit/digraph/test_pulled \
  tests/unit/digraph/test_pulled \
  tests/unit/digraph/test_ranks \
  tests/unit/digraph/test_reference \
  tests/unit/digraph/test_rows \
  tests/unit/digraph/test_search \
  tests/unit/digraph/test_undirected
EXTRA_DIST += src/digraph/README.md
