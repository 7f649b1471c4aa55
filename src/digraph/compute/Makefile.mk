# What is computed of graphs: a part of the same library.

libpemsdigraph_la_SOURCES += \
  src/digraph/compute/boruvka.c \
  src/digraph/compute/boruvka.h \
  src/digraph/compute/forest.c \
  src/digraph/compute/forest.h \
  src/digraph/compute/pulled.c \
  src/digraph/compute/pulled.h \
  src/digraph/compute/ranks.c \
  src/digraph/compute/ranks.h \
  src/digraph/compute/reference.c \
  src/digraph/compute/reference.h \
  src/digraph/compute/rows.c \
  src/digraph/compute/rows.h \
  src/digraph/compute/search.c \
  src/digraph/compute/search.h \
  src/digraph/compute/undirected.c \
  src/digraph/compute/undirected.h

UNIT_TESTS += \
  tests/unit/digraph/compute/test_boruvka \
  tests/unit/digraph/compute/test_forest \
  tests/unit/digraph/compute/test_pulled \
  tests/unit/digraph/compute/test_ranks \
  tests/unit/digraph/compute/test_reference \
  tests/unit/digraph/compute/test_rows \
  tests/unit/digraph/compute/test_search \
  tests/unit/digraph/compute/test_undirected
EXTRA_DIST += src/digraph/compute/README.md
