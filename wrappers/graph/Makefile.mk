bin_PROGRAMS += pems-graph
pems_graph_SOURCES = wrappers/graph/pems_graph.c \
  wrappers/graph/pems_graph_astar.c wrappers/graph/pems_graph_bfs.c \
  wrappers/graph/pems_graph_commands.h wrappers/graph/pems_graph_files.c \
  wrappers/graph/pems_graph_job.c wrappers/graph/pems_graph_job.h \
  wrappers/graph/pems_graph_job_generate.c \
  wrappers/graph/pems_graph_job_generate.h \
  wrappers/graph/pems_graph_job_report.c \
  wrappers/graph/pems_graph_job_report.h \
  wrappers/graph/pems_graph_job_search.c \
  wrappers/graph/pems_graph_job_search.h wrappers/graph/pems_graph_mst.c \
  wrappers/graph/pems_graph_options.c wrappers/graph/pems_graph_options.h \
  wrappers/graph/pems_graph_pagerank.c wrappers/graph/pems_graph_result.c \
  wrappers/graph/pems_graph_result.h wrappers/graph/pems_graph_sssp.c
pems_graph_LDADD = libpemsdigraph.la libpemsem.la libpemsbase.la $(HWLOC_LIBS)
EXTRA_DIST += wrappers/graph/README.md
