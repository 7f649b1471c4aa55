# Programs on streams and queues: built by `make check`.
EM_APPS = apps/cgm_longest_path apps/checksum apps/circuit apps/dag_file \
  apps/diamond apps/independent_set apps/induce apps/longest_path apps/shuffle \
  apps/suffix_array apps/suffix_check
TFP_JOB = apps/dag.c apps/dag.h apps/keys.h apps/settings.c apps/settings.h \
  apps/tfp_job.c apps/tfp_job.h
EM_APPS_LIBS = libpems-em.la
CGM_EM_LIBS = $(EM_APPS_LIBS) $(MPI_LIBS)
apps_cgm_longest_path_SOURCES = apps/cgm_longest_path.c apps/dag.c apps/dag.h \
  apps/keys.h apps/settings.c apps/settings.h
apps_cgm_longest_path_LDADD = $(CGM_EM_LIBS)
apps_checksum_SOURCES = apps/checksum.c apps/settings.c apps/settings.h
apps_checksum_LDADD = $(EM_APPS_LIBS)
apps_circuit_SOURCES = apps/circuit.c $(TFP_JOB)
apps_circuit_LDADD = $(EM_APPS_LIBS)
apps_dag_file_SOURCES = apps/dag.c apps/dag.h apps/dag_file.c apps/keys.h \
  apps/settings.c apps/settings.h
apps_dag_file_LDADD = $(EM_APPS_LIBS)
apps_diamond_SOURCES = apps/diamond.c apps/settings.c apps/settings.h
apps_diamond_LDADD = $(EM_APPS_LIBS)
apps_independent_set_SOURCES = apps/independent_set.c $(TFP_JOB)
apps_independent_set_LDADD = $(EM_APPS_LIBS)
apps_induce_SOURCES = apps/induce.c apps/induce.h apps/induce_scan.c \
  apps/induce_step.c apps/packed.h apps/settings.c apps/settings.h \
  apps/suffix_order.c apps/suffix_order.h
apps_induce_LDADD = $(EM_APPS_LIBS)
apps_longest_path_SOURCES = apps/longest_path.c $(TFP_JOB)
apps_longest_path_LDADD = $(EM_APPS_LIBS)
apps_shuffle_SOURCES = apps/settings.c apps/settings.h apps/shuffle.c
apps_shuffle_LDADD = $(EM_APPS_LIBS)
apps_suffix_array_SOURCES = apps/packed.h apps/settings.c apps/settings.h \
  apps/suffix_array.c apps/suffix_dc3.c apps/suffix_dc3.h \
  apps/suffix_doubling.c apps/suffix_doubling.h apps/suffix_job.c \
  apps/suffix_job.h apps/suffix_level.c apps/suffix_level.h \
  apps/suffix_memory.c apps/suffix_memory.h apps/suffix_order.c \
  apps/suffix_order.h
apps_suffix_array_LDADD = $(EM_APPS_LIBS)
apps_suffix_check_SOURCES = apps/packed.h apps/settings.c apps/settings.h \
  apps/suffix_check.c apps/suffix_order.c apps/suffix_order.h
apps_suffix_check_LDADD = $(EM_APPS_LIBS)

# The example of streams.
SCRIPTS_RUN += apps/stream_simple
apps_stream_simple_SOURCES = apps/stream_simple.c
apps_stream_simple_LDADD = $(EM_APPS_LIBS)
