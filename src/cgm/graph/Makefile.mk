libpems_cgm_a_SOURCES += \
  src/cgm/graph/bipartite.c \
  src/cgm/graph/components.c \
  src/cgm/graph/components.h \
  src/cgm/graph/contract.c \
  src/cgm/graph/contract.h \
  src/cgm/graph/euler.c \
  src/cgm/graph/graph.c \
  src/cgm/graph/graph.h \
  src/cgm/graph/lca.c \
  src/cgm/graph/list_contraction.c \
  src/cgm/graph/list_contraction.h \
  src/cgm/graph/list_rank.c \
  src/cgm/graph/local_forest.c \
  src/cgm/graph/local_forest.h \
  src/cgm/graph/lookup.c \
  src/cgm/graph/lookup.h \
  src/cgm/graph/range_minimum.c \
  src/cgm/graph/range_minimum.h \
  src/cgm/graph/tree.c
EXTRA_DIST += src/cgm/graph/README.md
