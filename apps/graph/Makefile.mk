# Graphs and the programs on them: built by `make check`.
check_LTLIBRARIES = libpems-graph.la
libpems_graph_la_SOURCES =
libpems_graph_la_SOURCES += apps/graph/generate.c apps/graph/generate.h
libpems_graph_la_SOURCES += apps/graph/generate_road.c
libpems_graph_la_SOURCES += apps/graph/graph.c apps/graph/graph.h
libpems_graph_la_SOURCES += apps/graph/graph_csr.c
libpems_graph_la_SOURCES += apps/graph/graph_dimacs.c
libpems_graph_la_SOURCES += apps/graph/graph_file.c apps/graph/graph_file.h
libpems_graph_la_SOURCES += apps/graph/graph_formats.h
libpems_graph_la_SOURCES += apps/graph/graph_matrix_market.c
libpems_graph_la_SOURCES += apps/graph/graph_out.c apps/graph/graph_out.h
libpems_graph_la_SOURCES += apps/graph/graph_peers.c
libpems_graph_la_SOURCES += apps/graph/graph_snap.c
libpems_graph_la_SOURCES += apps/graph/graph_text.c apps/graph/graph_text.h
libpems_graph_la_LIBADD = -lm
GRAPH_APPS_LIBS = libpems-graph.la libpems-em.la
libpems_graph_la_SOURCES += apps/graph/boruvka.c apps/graph/boruvka.h
libpems_graph_la_SOURCES += apps/graph/reference.c apps/graph/reference.h
libpems_graph_la_SOURCES += apps/graph/undirected.c apps/graph/undirected.h

GRAPH_APPS = apps/graph/astar apps/graph/bfs apps/graph/mst \
  apps/graph/pagerank apps/graph/sssp
GRAPH_JOB = apps/graph/job.c apps/graph/job.h apps/graph/job_generate.c \
  apps/graph/job_generate.h apps/graph/job_report.c apps/graph/job_report.h \
  apps/settings.c apps/settings.h
apps_graph_astar_SOURCES = apps/graph/astar.c $(GRAPH_JOB)
apps_graph_astar_LDADD = $(GRAPH_APPS_LIBS)
apps_graph_bfs_SOURCES = apps/graph/bfs.c $(GRAPH_JOB)
apps_graph_bfs_LDADD = $(GRAPH_APPS_LIBS)
apps_graph_mst_SOURCES = apps/graph/mst.c $(GRAPH_JOB)
apps_graph_mst_LDADD = $(GRAPH_APPS_LIBS)
apps_graph_pagerank_SOURCES = apps/graph/pagerank.c $(GRAPH_JOB)
apps_graph_pagerank_LDADD = $(GRAPH_APPS_LIBS)
apps_graph_sssp_SOURCES = apps/graph/sssp.c $(GRAPH_JOB)
apps_graph_sssp_LDADD = $(GRAPH_APPS_LIBS)
apps_graph_graph_SOURCES = apps/graph/graph_tool.c apps/settings.c apps/settings.h
apps_graph_graph_LDADD = $(GRAPH_APPS_LIBS)

UNIT_TESTS += \
  tests/unit/apps/graph/test_boruvka \
  tests/unit/apps/graph/test_graph \
  tests/unit/apps/graph/test_graph_file \
  tests/unit/apps/graph/test_graph_generate \
  tests/unit/apps/graph/test_graph_reference \
  tests/unit/apps/graph/test_undirected

check_PROGRAMS += apps/graph/graph
