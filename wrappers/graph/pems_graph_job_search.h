/* What the searches of pems-graph share where edges are in the file, and where
   they write what they have found. */
#ifndef PEMS_WRAPPERS_PEMS_GRAPH_JOB_SEARCH_H
#define PEMS_WRAPPERS_PEMS_GRAPH_JOB_SEARCH_H

#include "digraph/search.h"
#include "wrappers/graph/pems_graph_job.h"

/* Bytes for each node: a distance, and two bits of sets. */
#define JOB_SEARCH_BYTES (sizeof(uint64_t) + 1)

/* As search_distances, or the process ends. */
void job_search(struct job *job, const struct search_options *o, uint64_t *dist,
                struct search_counts *counts);

/* A row for each node: its number, distance and, if asked for, parent. */
void job_write_distances(struct job *job, const struct search_options *o,
                         const uint64_t *dist, struct graph_result *result);

/* " key=value"... of a search with edges in the file; else nothing. */
void job_report_search(const struct job *job,
                       const struct search_counts *counts);

#endif
