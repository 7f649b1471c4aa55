# What `make check` runs. A script is one line in one of the lists below; a unit
# test is one line of UNIT_TESTS in the Makefile.mk of the room that it tests (its
# source is the same name with .c).

WRAPPER_TESTS = \
  tests/wrappers/abi.sh \
  tests/wrappers/build_systems.sh \
  tests/wrappers/completion.sh \
  tests/wrappers/components.sh \
  tests/wrappers/configure.sh \
  tests/wrappers/documents.sh \
  tests/wrappers/flags.sh \
  tests/wrappers/identity.sh \
  tests/wrappers/pemscc.sh \
  tests/wrappers/outputs.sh \
  tests/wrappers/package.sh \
  tests/wrappers/pemsrun.sh \
  tests/wrappers/python.sh \
  tests/wrappers/python_packages.sh \
  tests/wrappers/python_pems.sh \
  tests/wrappers/python_spawn.sh \
  tests/wrappers/rscript.sh \
  tests/wrappers/site.sh \
  tests/wrappers/starters.sh \
  tests/wrappers/debug.sh \
  tests/wrappers/plan.sh \
  tests/wrappers/predict.sh \
  tests/wrappers/report.sh \
  tests/wrappers/pemstop.sh \
  tests/wrappers/header.sh \
  tests/wrappers/profiling.sh \
  tests/wrappers/manuals.sh \
  tests/wrappers/mixed.sh \
  tests/wrappers/thread_level.sh
STYLE_TESTS = tests/style.sh tests/layers.sh tests/docs.sh tests/locking.sh tests/ci.sh
# The harness itself.
HARNESS_TESTS = tests/driver_test.sh tests/rerun_test.sh
# Plain MPI programs, each compared with mpirun by tests/mpi/check.sh.
MPI_TESTS = \
  tests/mpi/refused.sh \
  tests/mpi/ahead.c \
  tests/mpi/aliased.c \
  tests/mpi/allgather.c \
  tests/mpi/allocators.sh \
  tests/mpi/alltoall.c \
  tests/mpi/am.sh \
  tests/mpi/attributes.c \
  tests/mpi/type_attributes.c \
  tests/mpi/basics.c \
  tests/mpi/bcast.c \
  tests/mpi/buffers.c \
  tests/mpi/between.c \
  tests/mpi/boundary.c \
  tests/mpi/bystander.c \
  tests/mpi/bystander_count.sh \
  tests/mpi/cart.c \
  tests/mpi/communicators.c \
  tests/mpi/coroutines.c \
  tests/mpi/crossing.c \
  tests/mpi/cxx_bindings.cpp \
  tests/mpi/coverage.sh \
  tests/mpi/cxx_static.cpp \
  tests/mpi/cxx_stl.cpp \
  tests/mpi/datatypes.c \
  tests/mpi/deep.c \
  tests/mpi/deep_cxx.cpp \
  tests/mpi/deep_fortran.f90 \
  tests/mpi/endings.c \
  tests/mpi/environment.c \
  tests/mpi/errors.c \
  tests/mpi/event_loops.c \
  tests/mpi/file_atomic.c \
  tests/mpi/file_collective.c \
  tests/mpi/file_errors.c \
  tests/mpi/file_individual.c \
  tests/mpi/file_shared.c \
  tests/mpi/file_views.c \
  tests/mpi/fftw.sh \
  tests/mpi/flood.c \
  tests/mpi/fortran_f08.f90 \
  tests/mpi/fortran_ialltoallw.sh \
  tests/mpi/fortran_mpi.f90 \
  tests/mpi/fortran_mpif.f \
  tests/mpi/fuzz.c \
  tests/mpi/gather.c \
  tests/mpi/globals.c \
  tests/mpi/graph.c \
  tests/mpi/groups.c \
  tests/mpi/handles.c \
  tests/mpi/huge.c \
  tests/mpi/intercomm.c \
  tests/mpi/intercomm_coll.c \
  tests/mpi/join.c \
  tests/mpi/keys.c \
  tests/mpi/large_counts.c \
  tests/mpi/large_counts_files.c \
  tests/mpi/large_counts_more.c \
  tests/mpi/library.sh \
  tests/mpi/library_state.sh \
  tests/mpi/plugins.sh \
  tests/mpi/malloc_mix.c \
  tests/mpi/mappings.c \
  tests/mpi/memory.c \
  tests/mpi/mixed.c \
  tests/mpi/neighbor.c \
  tests/mpi/neighbours.sh \
  tests/mpi/nonblocking.c \
  tests/mpi/old_names.c \
  tests/mpi/one_by_one.c \
  tests/mpi/openmp.c \
  tests/mpi/order.c \
  tests/mpi/p2p.c \
  tests/mpi/p2p_errors.c \
  tests/mpi/p2p_fuzz.c \
  tests/mpi/p2p_large.c \
  tests/mpi/p2p_requests.c \
  tests/mpi/packing.c \
  tests/mpi/polling.c \
  tests/mpi/polls.c \
  tests/mpi/polls_count.sh \
  tests/mpi/ports.c \
  tests/mpi/prebuilt.sh \
  tests/mpi/probe.c \
  tests/mpi/cputime.c \
  tests/mpi/launcher_variables.c \
  tests/mpi/process.c \
  tests/mpi/record_locks.c \
  tests/mpi/process_cxx.cpp \
  tests/mpi/progress.c \
  tests/mpi/random.c \
  tests/mpi/reduce.c \
  tests/mpi/reduce_scatter.c \
  tests/mpi/scan.c \
  tests/mpi/scatter.c \
  tests/mpi/signals.c \
  tests/mpi/since_4_1.c \
  tests/mpi/since_5_0.c \
  tests/mpi/spawn.c \
  tests/mpi/spawn_fortran.f90 \
  tests/mpi/split.c \
  tests/mpi/stacks.c \
  tests/mpi/stateful.c \
  tests/mpi/thread_data.c \
  tests/mpi/thread_data_cxx.cpp \
  tests/mpi/thread_data_fortran.f90 \
  tests/mpi/threads.c \
  tests/mpi/threads_multiple.c \
  tests/mpi/tools.c \
  tests/mpi/standard.sh \
  tests/mpi/unexpected.c \
  tests/mpi/unwind.c \
  tests/mpi/uneven.sh \
  tests/mpi/user_ops.c \
  tests/mpi/win_accumulate.c \
  tests/mpi/win_dynamic.c \
  tests/mpi/win_errors.c \
  tests/mpi/win_fence.c \
  tests/mpi/win_lock.c \
  tests/mpi/win_misuse.c \
  tests/mpi/win_pscw.c \
  tests/mpi/win_shared.c \
  tests/mpi/win_shared_away.c \
  tests/mpi/win_types.c
# Programs with <pems/cgm.h>, compared so, too, by tests/cgm/check.sh.
CGM_TESTS = \
  tests/cgm/arrays.c \
  tests/cgm/bipartite.c \
  tests/cgm/communication.c \
  tests/cgm/components.c \
  tests/cgm/errors.c \
  tests/cgm/euler.c \
  tests/cgm/hash_lines.sh \
  tests/cgm/large.c \
  tests/cgm/lca.c \
  tests/cgm/list_rank.c \
  tests/cgm/outofcore.sh \
  tests/cgm/real.sh \
  tests/cgm/sort.c \
  tests/cgm/tree.c
FAULT_TESTS = \
  tests/fault/bad_input.sh \
  tests/fault/check.sh \
  tests/fault/checkpoint.sh \
  tests/fault/checkpoint_objects.sh \
  tests/fault/checkpoint_messages.sh \
  tests/fault/checkpoint_between.sh \
  tests/fault/checkpoint_cost.sh \
  tests/fault/checkpoint_files.sh \
  tests/fault/checkpoint_plugins.sh \
  tests/fault/checkpoint_python.sh \
  tests/fault/checkpoint_nth.sh \
  tests/fault/checkpoint_random.sh \
  tests/fault/counted.sh \
  tests/fault/ranks.sh \
  tests/fault/deadlock.sh \
  tests/fault/disk.sh \
  tests/fault/disagree.sh \
  tests/fault/flood.sh \
  tests/fault/full.sh \
  tests/fault/fuse.sh \
  tests/fault/handlers.sh \
  tests/fault/kills.sh \
  tests/fault/leftover.sh \
  tests/fault/mismatch.sh \
  tests/fault/nomem.sh \
  tests/fault/nth.sh \
  tests/fault/open_files.sh \
  tests/fault/mapped.sh \
  tests/fault/outofcore.sh \
  tests/fault/plugin.sh \
  tests/fault/python.sh \
  tests/fault/crash.sh \
  tests/fault/program.sh \
  tests/fault/signals.sh \
  tests/fault/shared_windows.sh \
  tests/fault/untouched.sh \
  tests/fault/small_shm.sh \
  tests/fault/space.sh \
  tests/fault/sparse.sh \
  tests/fault/join.sh \
  tests/fault/spawn.sh \
  tests/fault/grow.sh \
  tests/fault/supersteps.sh \
  tests/fault/thread_data.sh \
  tests/fault/misuse.sh

# Programs of benchmarks, made on demand: make tests/bench/sort
EXTRA_PROGRAMS = tests/bench/kernels tests/bench/pqueue_few tests/bench/sort
EXTRA_PROGRAMS += tests/bench/sort_array tests/bench/stream_sort
# tests/em/pqueue.sh needs this one; it is made for the tests, then.
tests_bench_pqueue_LDADD = $(PARTS) $(HWLOC_LIBS)
tests_bench_kernels_LDADD = $(PARTS) $(HWLOC_LIBS)
tests_bench_pqueue_few_LDADD = $(PARTS) $(HWLOC_LIBS)
tests_bench_sort_LDADD = $(PARTS) $(HWLOC_LIBS)
tests_bench_sort_array_SOURCES = tests/bench/sort_array.cc
tests_bench_sort_array_LDADD = $(PARTS) $(HWLOC_LIBS)
tests_bench_stream_sort_SOURCES = tests/bench/stream_sort.c apps/settings.c \
  apps/settings.h
tests_bench_stream_sort_LDADD = $(EM_APPS_LIBS)

# The external-memory library and its programs.
EM_TESTS = \
  tests/em/apps.sh \
  tests/em/csv.sh \
  tests/em/cxx.sh \
  tests/em/examples.sh \
  tests/em/faults.sh \
  tests/em/fuzz.sh \
  tests/em/inside.sh \
  tests/em/keys.sh \
  tests/em/levels.sh \
  tests/em/lines.sh \
  tests/em/pqueue.sh \
  tests/em/progress.sh \
  tests/em/python.sh \
  tests/em/sort.sh \
  tests/em/stream_simple.sh \
  tests/em/symbols.sh \
  tests/em/tfp.sh
# Schedulers, and the programs on them.
GRAPH_TESTS =
GRAPH_TESTS += tests/graph/external.sh
GRAPH_TESTS += tests/graph/beyond.sh
GRAPH_TESTS += tests/graph/files.sh
GRAPH_TESTS += tests/graph/kills.sh
GRAPH_TESTS += tests/graph/programs.sh
BENCH_TESTS = tests/bench/figures_test.sh tests/bench/smoke.sh

# Several hosts, of network namespaces: most take minutes, make check-long.
HOSTS_TESTS = \
  tests/hosts/run.sh \
  tests/hosts/pemstop.sh \
  tests/hosts/checkpoint.sh \
  tests/hosts/faults.sh \
  tests/hosts/signals.sh \
  tests/hosts/programs.sh \
  tests/hosts/slurm.sh

SCRIPT_TESTS = $(STYLE_TESTS) $(HARNESS_TESTS) $(WRAPPER_TESTS) $(MPI_TESTS) \
  $(CGM_TESTS) $(FAULT_TESTS) $(EM_TESTS) $(GRAPH_TESTS) $(BENCH_TESTS) $(HOSTS_TESTS)

# The sources of the tests and programs; as EXTRA_DIST the folders would bring
# the objects that stand in the build's folders of the same names.
dist-hook:
	cp -fpR $(srcdir)/tests $(srcdir)/apps $(distdir)/
	find $(distdir) \( -name '*.o' -o -name '*.lo' -o -name '*.log' -o \
	  -name '*.trs' \) -exec rm -f {} +
	find $(distdir) \( -name .deps -o -name .libs -o -name .dirstamp \) \
	  -prune -exec rm -rf {} +

# What scripts run: am_driver by am.sh, pqueue by pqueue.sh.
SCRIPTS_RUN = tests/mpi/am_driver tests/bench/pqueue $(EM_APPS)
check_PROGRAMS = $(UNIT_TO_RUN) $(SCRIPTS_RUN)
if HAVE_CHECK
UNIT_TO_RUN = $(UNIT_TESTS)
endif
LDADD = $(PARTS) $(CHECK_LIBS) $(MPI_NEEDED) $(MPI_LIBS) $(HWLOC_LIBS)
# Static programs of a few archives, hundreds of them.
$(UNIT_TESTS): private LIBTOOL = $(SHELL) $(srcdir)/tests/link.sh
tests_unit_em_lines_test_key_column_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_key_encode_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_key_field_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_key_number_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_key_order_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_key_version_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_header_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_parallel_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_plan_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_quotes_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_run_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_slots_LDADD = libpemslines.la $(LDADD)
tests_unit_em_lines_test_line_sort_LDADD = libpemslines.la $(LDADD)
tests_unit_digraph_test_digraph_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_arcs_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_binary_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_file_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_fuzz_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_galois_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_gap_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_input_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_ldbc_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_metis_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_digraph_numbers_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_forest_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_test_generate_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_pulled_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_ranks_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_rows_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_search_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_boruvka_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_reference_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_digraph_compute_test_undirected_LDADD = libpemsdigraph.la $(LDADD)
tests_unit_wrappers_plan_test_fit_LDADD = $(LDADD) -lm
tests_unit_wrappers_plan_test_forecast_LDADD = $(LDADD) -lm
# Their allocations fail when the test wants it (check_memory.h).
WRAP_MEMORY = -Wl,--wrap=native_alloc,--wrap=native_zalloc \
  -Wl,--wrap=native_realloc,--wrap=native_aligned,--wrap=native_free \
  -Wl,--wrap=mmap,--wrap=munmap
tests_unit_context_store_test_workspace_LDFLAGS = $(WRAP_MEMORY)
tests_unit_disk_blocks_test_store_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_config_test_options_shortage_LDFLAGS = -Wl,--wrap=strdup
tests_unit_context_calls_test_create_shortage_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=thread_start
tests_unit_context_test_context_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_delivery_test_bounce_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_residency_test_frames_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_image_test_image_shortage_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=strdup,--wrap=free
tests_unit_context_image_test_image_place_LDFLAGS = -Wl,--wrap=guided_begin
tests_unit_context_image_test_image_lookup_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_image_test_opened_shortage_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=strdup
tests_unit_context_image_test_opened_set_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_image_test_original_bind_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_image_test_original_keep_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_image_test_original_table_LDFLAGS = $(WRAP_MEMORY)
tests_unit_interpose_test_dlfcn_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_interpose_test_malloc_shortage_LDFLAGS = \
  -Wl,--wrap=native_alloc,--wrap=native_zalloc \
  -Wl,--wrap=native_realloc,--wrap=native_aligned,--wrap=native_free \
  -Wl,--wrap=context_of,--wrap=context_alloc,--wrap=context_zalloc \
  -Wl,--wrap=context_realloc,--wrap=context_free
tests_unit_interpose_test_thread_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_vp_test_helpers_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_vp_test_helpers_LDFLAGS = -Wl,--wrap=thread_tells
tests_unit_report_test_report_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_em_pqueue_test_pqueue_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_disk_test_extents_LDFLAGS = $(WRAP_MEMORY)
tests_unit_disk_test_file_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_drivers_test_driver_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_datatype_test_layout_shortage_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=calloc,--wrap=realloc,--wrap=free
tests_unit_disk_contexts_test_disk_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_em_tfp_test_tfp_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_em_sort_test_sorter_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_em_stream_test_stream_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_bag_directory_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_bag_search_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_heap_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_packed_heap_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_queues_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_reclaim_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_skiplist_LDFLAGS = $(WRAP_MEMORY)
tests_unit_tasks_test_spraylist_LDFLAGS = $(WRAP_MEMORY)
# What it defines is found by dlsym.
tests_unit_mpi_below_test_launcher_LDFLAGS = \
  -Wl,--export-dynamic-symbol=ucs_debug_disable_signal
tests_unit_mpi_below_test_hooks_LDFLAGS = -Wl,--wrap=dlsym
tests_unit_mpi_below_test_keeper_LDFLAGS = -Wl,--wrap=fopen
tests_unit_mpi_coll_test_persistent_coll_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_comm_test_comm_from_group_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_comm_test_comm_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_datatype_test_types_kept_LDFLAGS = $(WRAP_MEMORY)
tests_unit_context_calls_test_save_opened_LDFLAGS = \
  -Wl,--wrap=context_usable,--wrap=context_covers
tests_unit_checkpoint_test_blocks_LDFLAGS = -Wl,--wrap=fdatasync
tests_unit_checkpoint_test_shelf_LDFLAGS = \
  -Wl,--wrap=fdatasync,--wrap=fsync,--wrap=rename
tests_unit_mpi_job_test_checkpoint_ask_LDFLAGS = \
  -Wl,--wrap=net_rank,--wrap=net_size,--wrap=am_register,--wrap=am_post_locked
tests_unit_mpi_job_test_checkpoint_calls_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_job_test_checkpoint_objects_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_job_test_checkpoint_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=net_max,--wrap=net_sum,--wrap=net_barrier \
  -Wl,--wrap=net_first_failed,--wrap=net_gather,--wrap=resume_covers
tests_unit_mpi_job_test_checkpoint_about_LDFLAGS = \
  -Wl,--wrap=net_size,--wrap=net_gather
tests_unit_mpi_job_test_checkpoint_rank_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_job_test_session_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_transfer_test_coll_side_kept_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_job_test_restart_LDFLAGS = \
  -Wl,--wrap=fixed_possible,--wrap=fixed_is,--wrap=fixed_again \
  -Wl,--wrap=fixed_stack_limit,--wrap=fixed_set_guards \
  -Wl,--wrap=identity_find,--wrap=identity_free,--wrap=image_place_size \
  -Wl,--wrap=fixed_once_more,--wrap=hooks_installed,--wrap=image_wants_name
tests_unit_mpi_object_test_comm_kept_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_io_test_file_access_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_io_test_file_kept_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_object_test_group_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_object_test_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_object_test_type_attribute_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_object_test_type_hold_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_p2p_test_buffered_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_p2p_test_p2p_load_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_p2p_test_p2p_save_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_request_test_request_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_verify_test_verify_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_verify_test_deadlock_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=net_size,--wrap=net_rank,--wrap=am_send,--wrap=am_register \
  -Wl,--wrap=am_counts,--wrap=dispatch_state_locked,--wrap=thread_start
tests_unit_mpi_rma_test_win_kept_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_rma_test_win_shortage_LDFLAGS = $(WRAP_MEMORY)
tests_unit_os_test_whole_LDFLAGS = -Wl,--wrap=pread,--wrap=pwrite \
  -Wl,--wrap=write
# What other processes and threads do is played by these.
tests_unit_mpi_comm_test_comm_directory_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=coll_allgather
tests_unit_mpi_comm_test_port_LDFLAGS = $(WRAP_MEMORY)
tests_unit_mpi_comm_test_service_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=net_rank,--wrap=am_send,--wrap=am_register
tests_unit_mpi_comm_test_group_message_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=p2p_send_bytes,--wrap=p2p_receive_bytes
tests_unit_mpi_rma_test_win_target_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=am_send,--wrap=am_post_locked
WRAP_MOVES = -Wl,--wrap=transfer_start,--wrap=transfer_swap \
  -Wl,--wrap=delivery_begin,--wrap=delivery_end,--wrap=delivery_mark
tests_unit_mpi_coll_move_test_coll_deliver_LDFLAGS = $(WRAP_MOVES)
tests_unit_mpi_coll_move_test_coll_meet_LDFLAGS = $(WRAP_MOVES) \
  -Wl,--wrap=contexts_crowded
tests_unit_mpi_coll_move_test_coll_stage_LDFLAGS = $(WRAP_MOVES)
tests_unit_mpi_coll_call_test_coll_turns_LDFLAGS = -Wl,--wrap=net_jobs_add
tests_unit_mpi_job_test_job_deal_LDFLAGS = -Wl,--wrap=net_size \
  -Wl,--wrap=net_rank,--wrap=net_min,--wrap=net_max,--wrap=net_gather
tests_unit_mpi_job_test_job_load_LDFLAGS = -Wl,--wrap=image_load \
  -Wl,--wrap=environment_start -Wl,--wrap=environment_of \
  -Wl,--wrap=context_get,--wrap=context_adopt
tests_unit_net_test_net_shortage_LDFLAGS = $(WRAP_MEMORY) \
  -Wl,--wrap=net_size,--wrap=net_rank,--wrap=net_check,--wrap=net_sum \
  -Wl,--wrap=wakeup_create_all,--wrap=wakeup_destroy_all \
  -Wl,--wrap=wakeup_ring,--wrap=wakeup_sleeps,--wrap=wakeup_wait \
  -Wl,--wrap=wakeup_wakes,--wrap=wakeup_call,--wrap=wakeup_rests \
  -Wl,--wrap=lanes_create,--wrap=lanes_destroy,--wrap=thread_start
tests_unit_net_test_beside_LDFLAGS = $(WRAP_MEMORY)
tests_unit_net_test_lanes_LDFLAGS = $(WRAP_MEMORY)
tests_unit_net_test_wakeup_LDFLAGS = $(WRAP_MEMORY)
tests_unit_net_test_outbox_LDFLAGS = -Wl,--wrap=net_size,--wrap=net_rank \
  -Wl,--wrap=net_check,--wrap=wakeup_ring,--wrap=lanes_lead_to \
  -Wl,--wrap=lanes_take,--wrap=lanes_send,--wrap=lanes_mark
# Programs that unit tests load, linked as pemscc does but for libpems.so, in
# whose place each has a small main of its own.
TEST_IMAGES = tests/unit/images/globals tests/unit/images/private
if HAVE_CXX
TEST_IMAGES += tests/unit/images/objects
endif
check_DATA = $(TEST_IMAGES)
CLEANFILES += $(TEST_IMAGES) tests/unit/images/runtime.o
COMPILE_IMAGE = -O1 -g -fPIC $(UNIQUE_CFLAGS) -fno-semantic-interposition
LINK_IMAGE = -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-e,pems_start \
  -Wl,--version-script=$(srcdir)/wrappers/program.map
IMAGE_LIBS = tests/unit/images/runtime.o libpems_start.a libpems_private.a
IMAGE_INPUTS = tests/unit/image/image_test.h wrappers/program.map $(IMAGE_LIBS)

tests/unit/images/runtime.o: tests/unit/image/runtime.c
	$(AM_V_CC)$(MKDIR_P) tests/unit/images && \
	$(CC) $(STD_CFLAGS) $(COMPILE_IMAGE) -c -o $@ \
	  $(srcdir)/tests/unit/image/runtime.c
tests/unit/images/globals: tests/unit/image/globals.c $(IMAGE_INPUTS)
	$(AM_V_CCLD)$(CC) $(STD_CFLAGS) $(COMPILE_IMAGE) $(LINK_IMAGE) -pthread \
	  -o $@ $(srcdir)/tests/unit/image/globals.c $(IMAGE_LIBS)
tests/unit/images/private: tests/unit/image/private.c $(IMAGE_INPUTS)
	$(AM_V_CCLD)$(CC) $(STD_CFLAGS) $(COMPILE_IMAGE) $(LINK_IMAGE) -pthread \
	  -o $@ $(srcdir)/tests/unit/image/private.c $(IMAGE_LIBS)
tests/unit/images/objects: tests/unit/image/objects.cc $(IMAGE_INPUTS)
	$(AM_V_CCLD)$(WRAPPED_CXX) -std=gnu++17 $(COMPILE_IMAGE) $(LINK_IMAGE) \
	  -o $@ $(srcdir)/tests/unit/image/objects.cc $(IMAGE_LIBS)

if SANITIZE
TESTS = $(UNIT_TO_RUN)
else
# Scripts first: the last tests to run are short, then, and end together.
TESTS = $(SCRIPT_TESTS) $(UNIT_TO_RUN)
endif
TEST_EXTENSIONS = .sh .c .cpp .f .f90
LOG_DRIVER = $(SHELL) $(srcdir)/tests/driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
C_LOG_DRIVER = $(LOG_DRIVER)
CPP_LOG_DRIVER = $(LOG_DRIVER)
F_LOG_DRIVER = $(LOG_DRIVER)
F90_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
C_LOG_COMPILER = $(SHELL) $(srcdir)/tests/mpi/check.sh
CPP_LOG_COMPILER = $(C_LOG_COMPILER)
F_LOG_COMPILER = $(C_LOG_COMPILER)
F90_LOG_COMPILER = $(C_LOG_COMPILER)

# Scripts find what they need in these; all paths are absolute, and scratch
# files belong into $TESTDIR/<name of the test>.
AM_TESTS_ENVIRONMENT = \
  top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
  top_builddir='$(abs_top_builddir)'; export top_builddir; \
  PATH="$$top_builddir/wrappers:$$top_builddir:$$PATH"; export PATH; \
  MPICC='$(MPICC)'; export MPICC; \
  MPICXX='$(MPICXX)'; export MPICXX; \
  MPIFORT='$(MPIFORT)'; export MPIFORT; \
  MPIRUN='$(MPIRUN)'; export MPIRUN; \
  PEMS_TEST_IMAGES='$(abs_top_builddir)/tests/unit/images'; \
  export PEMS_TEST_IMAGES; \
  REAL_CC='$(WRAPPED_CC)'; export REAL_CC; \
  PERL='$(PERL)'; export PERL; \
  OMPI_ALLOW_RUN_AS_ROOT=1; export OMPI_ALLOW_RUN_AS_ROOT; \
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM;
