/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms for coarse-grained multicomputers (CGM): v processors with O(n/v)
   memory each, which alternate between local computation and communication, in
   O(1) or O(log v) supersteps. For any MPI program; on pems the processors are
   virtual, and only n/v must fit in memory.

   The operations are those of CGMLib (Chan and Dehne, CGMgraph/CGMlib, 2003),
   which was used to evaluate PEMS2 (Robillard, thesis, section 8.4); sources of
   the algorithms are given with them. Link with `pkg-config --libs pems-cgm`;
   pemscc and pemscxx do so by default.

   All functions that take a machine are collective, unless stated otherwise:
   every rank of its communicator (after pems_cgm_partition, of the rank's
   group) calls them in the same order, from one thread, with the same values of
   all arguments except those documented as the rank's own. The functions free
   memory before they communicate if it is no longer needed, and use O(n/v + v)
   memory besides the result; sorting also uses some bytes for each of v^2
   samples on rank 0.

   They return MPI_SUCCESS or an MPI error class. In case of an error they first
   call the error handler of the communicator with a code of that class, whose
   string describes the error. MPI_ERR_NO_MEM: no memory. MPI_ERR_ARG: invalid
   arguments or data (a list with a cycle, a node that does not exist). The
   default handler (MPI_ERRORS_ARE_FATAL) ends the job. With MPI_ERRORS_RETURN,
   all ranks return the same error for invalid data, and for lack of memory that
   is detected before the ranks exchange their counts. A rank that has no memory
   for the data it receives returns alone, while the others wait for it; it
   should call MPI_Abort. After an error, lists have undefined contents but can
   be freed, and the machine can still be used. */
#ifndef PEMS_CGM_H
#define PEMS_CGM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the machine and distributed arrays --- */

struct pems_cgm;

/* Makes a machine of the communicator's ranks, with a duplicate of comm and its
   current error handler. On failure *machine is NULL. */
int pems_cgm_open(struct pems_cgm **machine, MPI_Comm comm);
/* Frees the machine and its partitions. NULL is allowed. Collective. */
int pems_cgm_close(struct pems_cgm *machine);
/* Rank, size and the communicator in use: after pems_cgm_partition, those of
   the group. Not collective. */
int pems_cgm_rank(const struct pems_cgm *machine);
int pems_cgm_size(const struct pems_cgm *machine);
MPI_Comm pems_cgm_comm(const struct pems_cgm *machine);

/* Supersteps (collective MPI calls that exchange data) and bytes that this rank
   has sent to others, since the machine was opened. */
struct pems_cgm_counts {
  uint64_t supersteps;
  uint64_t bytes;
};
/* Not collective. */
void pems_cgm_get_counts(const struct pems_cgm *machine,
                         struct pems_cgm_counts *counts);

/* The rank's part of an array that is distributed over all ranks, in the order
   of ranks. */
struct pems_cgm_list {
  void *at;   /* from malloc, NULL if n is 0; functions may free, replace and
                 reallocate it */
  uint64_t n; /* elements of this rank; may differ between ranks, and may exceed
                 INT_MAX */
  size_t size; /* bytes of an element, 1 to INT_MAX; the same on all ranks */
};

/* Frees the memory and sets n to 0. Not collective. */
void pems_cgm_list_free(struct pems_cgm_list *list);

/* An array of `total` elements is evenly distributed if the first total mod v
   ranks have one element more than the others. pems_cgm_owner returns the rank
   of element i of such an array, pems_cgm_first the index of the first element
   of `rank` (`total` for rank = v). Not collective. */
int pems_cgm_owner(const struct pems_cgm *machine, uint64_t total, uint64_t i);
uint64_t pems_cgm_first(const struct pems_cgm *machine, uint64_t total,
                        int rank);

/* --- communication: one exchange of counts, one of data --- */

/* oneToAllBCast: the list of rank `source` replaces the lists of all ranks,
   which are freed first. */
int pems_cgm_one_to_all_bcast(struct pems_cgm *machine, int source,
                              struct pems_cgm_list *list);
/* allToOneGather: the concatenation of all lists, in the order of ranks,
   replaces the list of rank `target`; the others become empty. */
int pems_cgm_all_to_one_gather(struct pems_cgm *machine, int target,
                               struct pems_cgm_list *list);
/* allToAllBCast: all ranks get the concatenation of all lists. */
int pems_cgm_all_to_all_bcast(struct pems_cgm *machine,
                              struct pems_cgm_list *list);
/* hRelation: sends the first send[0] elements of the list to rank 0, the next
   send[1] to rank 1, and so on; the sum must be list->n. The received elements
   replace the list, in the order of senders. If `received` is not NULL,
   received[r] becomes the number of elements from rank r. `send` and `received`
   have v elements and are the rank's own. */
int pems_cgm_h_relation(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const uint64_t *send, uint64_t *received);
/* arrayBalancing: distributes the elements evenly, in the same order. Only
   elements that change their rank are moved; if none do, no data is exchanged.
 */
int pems_cgm_array_balancing(struct pems_cgm *machine,
                             struct pems_cgm_list *list);
/* Restricts the machine to the ranks that give the same group (>= 0, the rank's
   own), in the same order, until pems_cgm_unpartition. May be nested. */
int pems_cgm_partition(struct pems_cgm *machine, int group);
int pems_cgm_unpartition(struct pems_cgm *machine);

/* Routing of requests: sends each element of `requests` (the rank's own;
   unchanged) to the rank owner(request), where answer(request, reply) is
   called. The replies replace the contents of *replies, whose size must be set,
   in the order of the requests. Two supersteps with data. Requests of one rank
   to the same owner are answered in order. Requests that are sorted by owner
   are sent without a copy. */
struct pems_cgm_routing {
  /* Returns a rank, 0 <= rank < v. Called several times for a request; must
     always return the same. */
  int (*owner)(void *arg, const void *request);
  /* Fills in a reply of replies->size bytes, initially zero. */
  void (*answer)(void *arg, const void *request, void *reply);
  void *arg; /* for both */
};
int pems_cgm_route(struct pems_cgm *machine,
                   const struct pems_cgm_list *requests,
                   const struct pems_cgm_routing *routing,
                   struct pems_cgm_list *replies);
/* The same in one direction: sends each element to owner(element). The received
   elements replace the list, in the order of senders, those of one sender in
   their order. */
int pems_cgm_send(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*owner)(void *arg, const void *element), void *arg);

/* --- arrays --- */

/* Deterministic sample sort (after Chan and Dehne 1999, and Shi and Schaeffer
   1992) for any record. The result is evenly distributed, whatever the keys.
   With record->stable, equal records keep their order. Four supersteps, one of
   them with data. Records near the borders between ranks are sent to two ranks:
   a sixteenth of all with up to about 360 ranks, at worst all. */
int pems_cgm_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record);
/* Parallel sorting by regular sampling (Shi and Schaeffer 1992; thesis, section
   8.3). Like pems_cgm_sort, but no record is sent twice, and ranks get the
   parts determined by the pivots: at most 2n/v + v records if the input is
   evenly distributed. */
int pems_cgm_psrs(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record);
/* Sorts the rank's own list only, with the same kernels. Not collective; the
   machine is needed only for its error handler. */
int pems_cgm_local_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const struct pems_record *record);

/* Sets *right to *left op *right, where left precedes right in the array. The
   operation must be associative; it need not be commutative. */
typedef void pems_cgm_op(void *arg, const void *left, void *right);
/* Prefix sums in place. Inclusive: element i becomes e0 op ... op ei.
   Exclusive: element i becomes e0 op ... op e(i-1), and element 0 becomes
   *identity (list->size bytes). One superstep, in which v elements are
   exchanged. */
int pems_cgm_prefix(struct pems_cgm *machine, struct pems_cgm_list *list,
                    pems_cgm_op *op, void *arg);
int pems_cgm_prefix_exclusive(struct pems_cgm *machine,
                              struct pems_cgm_list *list, pems_cgm_op *op,
                              void *arg, const void *identity);
/* Array packing: removes the elements for which keep() returns 0. The others
   keep their order and are evenly distributed. *total (may be NULL) becomes
   their number on all ranks together. */
int pems_cgm_pack(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*keep)(void *arg, const void *element), void *arg,
                  uint64_t *total);
/* Transposes a matrix of rows x columns elements in row-major order. Each rank
   has the rows from pems_cgm_first(machine, rows, rank) up to that of rank + 1;
   the transpose is distributed in the same way. Blocks are transposed before
   they are sent, so that whole pieces of rows are received. */
int pems_cgm_transpose(struct pems_cgm *machine, struct pems_cgm_list *matrix,
                       uint64_t rows, uint64_t columns);
/* Counts the elements in each bin. bin() returns the bin of an element, 0 <=
   bin < bins. *counts becomes an evenly distributed list of `bins` uint64_t;
   its previous contents are freed. There may be more bins than fit in the
   memory of a rank: besides its part of the counts, each needs memory for
   min(n/v, bins) bins. */
int pems_cgm_histogram(struct pems_cgm *machine,
                       const struct pems_cgm_list *list, uint64_t bins,
                       uint64_t (*bin)(void *arg, const void *element),
                       void *arg, struct pems_cgm_list *counts);

/* --- lists and trees ---

   In the following functions, lists for results are only written to: their
   previous contents are not freed. */

#define PEMS_CGM_NONE UINT64_MAX /* no node */

/* Element i of an evenly distributed array: node i of one of several linked
   lists. */
struct pems_cgm_link {
  uint64_t next;  /* node, or PEMS_CGM_NONE at the end of a list */
  int64_t weight; /* of the link to next; 0 at the end */
};
struct pems_cgm_place {
  uint64_t last;    /* the last node of the list */
  uint64_t steps;   /* number of links to it */
  int64_t distance; /* sum of the weights of these links */
};
/* List ranking: computes places (struct pems_cgm_place) from links (struct
   pems_cgm_link; freed), both evenly distributed. MPI_ERR_ARG if a node does
   not exist or has two predecessors, or if there is a cycle. O(log v)
   supersteps (Dehne, Ferreira, Caceres, Song and Roncato 2002). */
int pems_cgm_list_rank(struct pems_cgm *machine, struct pems_cgm_list *links,
                       struct pems_cgm_list *places);

/* An undirected edge. */
struct pems_cgm_edge {
  uint64_t u, v;
};

/* A directed arc of an Euler tour. Edge i of the forest, in the order of the
   distributed array, gives arc 2i, u -> v, and arc 2i + 1, v -> u. */
struct pems_cgm_arc {
  uint64_t from, to;
  uint64_t next;     /* arc; PEMS_CGM_NONE at the end of the tree's tour */
  uint64_t root;     /* the smallest node of the tree, where its tour begins */
  uint64_t position; /* in the tour, from 0 */
};
/* Makes Euler tours of a forest with nodes 0 .. nodes - 1 (Tarjan and Vishkin
   1985; CGM: Dehne et al. 2002). A tour visits the neighbours of a node in the
   order of their edges in the array, and begins with the first edge of the
   root, so it does not depend on v. O(log v) supersteps. edges: struct
   pems_cgm_edge, in any distribution; freed. arcs: in the order of arcs; pairs
   of arcs are evenly distributed, so a rank has both arcs of an edge.
   MPI_ERR_ARG if a node does not exist or the graph has a cycle (including
   loops and double edges). */
int pems_cgm_euler_tour(struct pems_cgm *machine, uint64_t nodes,
                        struct pems_cgm_list *edges,
                        struct pems_cgm_list *arcs);

/* A node of a rooted forest. */
struct pems_cgm_node {
  uint64_t parent;   /* PEMS_CGM_NONE for a root */
  uint64_t root;     /* the smallest node of the tree */
  uint64_t depth;    /* 0 for a root */
  uint64_t preorder; /* in its tree: 0 for the root */
  uint64_t size;     /* nodes of its subtree, itself included */
};
/* Computes the nodes, evenly distributed, from Euler tours (unchanged). O(1)
   supersteps. */
int pems_cgm_tree(struct pems_cgm *machine, uint64_t nodes,
                  const struct pems_cgm_list *arcs, struct pems_cgm_list *tree);
/* Lowest common ancestors in a forest made by pems_cgm_tree. For each query
   (struct pems_cgm_edge, the rank's own, unchanged) *answers gets one uint64_t,
   in order: a node, or PEMS_CGM_NONE if u and v are in different trees.
   MPI_ERR_ARG if a node does not exist. Computed as minima of ranges of the
   preorder in O(1) supersteps. If one rank's part of the preorder contains both
   nodes of far more queries than average, queries are processed in portions of
   two supersteps each. */
int pems_cgm_lca(struct pems_cgm *machine, uint64_t nodes,
                 const struct pems_cgm_list *tree,
                 const struct pems_cgm_list *queries,
                 struct pems_cgm_list *answers);

/* --- graphs --- */

/* Connected components of a graph with nodes 0 .. nodes - 1. edges: struct
   pems_cgm_edge, in any distribution, unchanged; loops and double edges are
   allowed. components: uint64_t, evenly distributed: the smallest node of each
   node's component. forest, if not NULL: the edges of a spanning forest; each
   rank gets a subset of its own edges. MPI_ERR_ARG if a node does not exist.
   O(log v) supersteps (Dehne et al. 2002). Deterministic, but uses hashes of
   nodes, so an adversary could construct a graph that takes more. */
int pems_cgm_components(struct pems_cgm *machine, uint64_t nodes,
                        const struct pems_cgm_list *edges,
                        struct pems_cgm_list *components,
                        struct pems_cgm_list *forest);
/* Sets *bipartite to 1 if the graph is bipartite, otherwise 0. Computed from
   the components of the double cover, which has two copies of each node and
   edge. O(log v) supersteps. sides, if not NULL and the graph is bipartite:
   unsigned char, evenly distributed: 0 or 1 for each node, 0 for the smallest
   node of each component. */
int pems_cgm_bipartite(struct pems_cgm *machine, uint64_t nodes,
                       const struct pems_cgm_list *edges, int *bipartite,
                       struct pems_cgm_list *sides);

#ifdef __cplusplus
}
#endif

#endif
