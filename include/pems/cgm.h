/* Algorithms for coarse-grained multicomputers (CGM): v processors with O(n/v)
   memory each, which compute on what they have, then exchange it, in O(1) or
   O(log v) supersteps. For any MPI program; on pems the processors are virtual
   and n/v is what fits in memory.

   The operations are those of CGMLib (Chan and Dehne, CGMgraph/CGMlib, 2003),
   which PEMS2's evaluation used (Robillard, thesis, section 8.4); sources of
   the algorithms stand with them. Link with `pkg-config --libs pems-cgm`;
   pemscc and pemscxx do so unasked.

   All functions that take a machine are collective: every rank of its
   communicator (or, after pems_cgm_partition, of the rank's group) calls them,
   in the same order, from one thread, with the same values of all arguments
   that are not said to be the rank's own. They free what they no longer need
   before they communicate, and hold, beside their result, O(n/v + v) memory;
   sorting, on rank 0, some bytes for each of v^2 samples.

   They return MPI_SUCCESS or an MPI error class, after having called the
   communicator's error handler with a code of that class, whose string says
   what is wrong: MPI_ERR_NO_MEM, MPI_ERR_ARG (the arguments, or the data: a
   list with a cycle, a node that does not exist). By default
   (MPI_ERRORS_ARE_FATAL) that ends the job. With MPI_ERRORS_RETURN all ranks
   return an error, the same one, for faulty data; and for a lack of memory that
   shows before a rank has told others how much it sends. Where memory for what
   is received is missing only that rank returns, and others wait for it: it
   should call MPI_Abort. After an error lists have undefined contents, but can
   be freed, and the machine can be used. */
#ifndef PEMS_CGM_H
#define PEMS_CGM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the machine, and data spread over it --- */

struct pems_cgm;

/* A machine of the communicator's ranks. It has a duplicate of comm of its own,
   with the error handler that comm has now. *machine is NULL on failure. */
int pems_cgm_open(struct pems_cgm **machine, MPI_Comm comm);
/* Frees it, partitions included; NULL is allowed. Collective. */
int pems_cgm_close(struct pems_cgm *machine);
/* Of the communicator in use: that of the group after pems_cgm_partition. */
int pems_cgm_rank(const struct pems_cgm *machine);
int pems_cgm_size(const struct pems_cgm *machine);
MPI_Comm pems_cgm_comm(const struct pems_cgm *machine);

/* Supersteps (collective calls of MPI that exchange data) and bytes sent by
   this rank to others since the machine was opened. */
struct pems_cgm_counts {
  uint64_t supersteps;
  uint64_t bytes;
};
void pems_cgm_get_counts(const struct pems_cgm *machine,
                         struct pems_cgm_counts *counts);

/* The rank's share of an array that is spread over all ranks, in the order of
   ranks: n elements of `size` bytes at `at`, memory of malloc that the
   functions may reallocate, free and replace; NULL if n is 0. Each rank's n is
   its own, and any: what is more than MPI can count goes as derived types. */
struct pems_cgm_list {
  void *at;
  uint64_t n;
  size_t size; /* bytes; 1 to INT_MAX; the same everywhere */
};

/* Frees the share: n = 0. Not collective. */
void pems_cgm_list_free(struct pems_cgm_list *list);

/* Even shares: of total elements the first total mod v ranks have one more.
   Element i of an array that is spread so belongs to rank pems_cgm_owner; the
   first one of `rank` is pems_cgm_first(machine, total, rank), where rank = v
   gives total. Not collective. */
int pems_cgm_owner(const struct pems_cgm *machine, uint64_t total, uint64_t i);
uint64_t pems_cgm_first(const struct pems_cgm *machine, uint64_t total,
                        int rank);

/* --- communication: one exchange of numbers, one of data --- */

/* oneToAllBCast: all get the list of rank `source` in place of their own, which
   is freed first. */
int pems_cgm_one_to_all_bcast(struct pems_cgm *machine, int source,
                              struct pems_cgm_list *list);
/* allToOneGather: rank `target` gets all lists, one after another by rank, in
   place of its own; the others' become empty. */
int pems_cgm_all_to_one_gather(struct pems_cgm *machine, int target,
                               struct pems_cgm_list *list);
/* allToAllBCast: all get all lists, one after another by rank. */
int pems_cgm_all_to_all_bcast(struct pems_cgm *machine,
                              struct pems_cgm_list *list);
/* hRelation: the first send[0] elements of the list go to rank 0, the next
   send[1] to rank 1, ...; the sum is list->n. The list becomes what was
   received, by rank of the sender; received[r], if received is not NULL, is how
   many came from rank r. `send`, `received`: v numbers, the rank's own. */
int pems_cgm_h_relation(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const uint64_t *send, uint64_t *received);
/* arrayBalancing: the elements in the same order, in even shares. Only those
   move that change their rank; none and no exchange if shares are even. */
int pems_cgm_array_balancing(struct pems_cgm *machine,
                             struct pems_cgm_list *list);
/* Until pems_cgm_unpartition the machine consists of the ranks that gave the
   same group (>= 0, the rank's own), in the same order. May be nested. */
int pems_cgm_partition(struct pems_cgm *machine, int group);
int pems_cgm_unpartition(struct pems_cgm *machine);

/* Routing of requests: each element of `requests` (the rank's own; unchanged)
   goes to the rank owner(request), whose answer(request, reply) fills in
   `reply` (list->size bytes, zero before); replies come back into *replies,
   whose size is set and whose contents are replaced, in the order of the
   requests. Two supersteps with data. `arg` is passed through. Requests of one
   rank for one owner are answered in their order. Requests that are in the
   order of their owners are sent from where they are, others are copied. */
struct pems_cgm_routing {
  /* 0 <= rank < v; asked several times, and always says the same. */
  int (*owner)(void *arg, const void *request);
  void (*answer)(void *arg, const void *request, void *reply);
  void *arg;
};
int pems_cgm_route(struct pems_cgm *machine,
                   const struct pems_cgm_list *requests,
                   const struct pems_cgm_routing *routing,
                   struct pems_cgm_list *replies);
/* One way only: each element goes to owner(element), as above; the list becomes
   what was received, by rank of the sender, in the senders' order. */
int pems_cgm_send(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*owner)(void *arg, const void *element), void *arg);

/* --- arrays --- */

/* Deterministic sample sort (after Chan and Dehne 1999, and Shi and Schaeffer
   1992), any record; afterwards the shares are even, whatever the keys. Equal
   records, where the order is `stable`, stay in order. Four supersteps, one of
   them with data. Some of it, near the borders of shares, goes to two ranks: a
   sixteenth up to some 360 ranks, never more than all. */
int pems_cgm_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record);
/* Parallel sorting by regular sampling (Shi and Schaeffer 1992; thesis, section
   8.3): as above, but no element goes to two ranks, and shares are as the
   pivots cut them: at most 2n/v + v where shares are even before. */
int pems_cgm_psrs(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record);
/* The rank's own list only, in the same order and with the same kernels. Not
   collective; needs the machine for its error handler only. */
int pems_cgm_local_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                        const struct pems_record *record);

/* right = left op right, where left comes before right in the array:
   associative, need not commute. */
typedef void pems_cgm_op(void *arg, const void *left, void *right);
/* Prefix sums in place: inclusive: element i becomes e0 op ... op ei;
   exclusive: e0 op ... op e(i-1), and element 0 becomes *identity (list->size
   bytes). One superstep, of v elements. */
int pems_cgm_prefix(struct pems_cgm *machine, struct pems_cgm_list *list,
                    pems_cgm_op *op, void *arg);
int pems_cgm_prefix_exclusive(struct pems_cgm *machine,
                              struct pems_cgm_list *list, pems_cgm_op *op,
                              void *arg, const void *identity);
/* Array packing: only those elements stay for which keep() is not 0, in their
   order, in even shares. *total, if not NULL: how many. */
int pems_cgm_pack(struct pems_cgm *machine, struct pems_cgm_list *list,
                  int (*keep)(void *arg, const void *element), void *arg,
                  uint64_t *total);
/* A matrix of rows x columns elements, row by row, each rank with the rows
   [pems_cgm_first(rows, rank), ...(rank + 1)), becomes its transpose, columns x
   rows, spread in the same way. Blocks are turned before they are sent, so that
   whole pieces of rows arrive. */
int pems_cgm_transpose(struct pems_cgm *machine, struct pems_cgm_list *matrix,
                       uint64_t rows, uint64_t columns);
/* counts: becomes a list of uint64_t, the bins' numbers of elements in even
   shares of `bins`; what it was is freed. bin() gives 0 <= bin < bins. There
   may be more bins than fit in the memory of a rank: each holds, beside its
   share, what min(n/v, bins) bins take. */
int pems_cgm_histogram(struct pems_cgm *machine,
                       const struct pems_cgm_list *list, uint64_t bins,
                       uint64_t (*bin)(void *arg, const void *element),
                       void *arg, struct pems_cgm_list *counts);

/* --- lists and trees ---

   Here and below, lists of results are only written to: what they were is not
   freed. */

#define PEMS_CGM_NONE UINT64_MAX /* no node */

/* Element i of an even spread of n: a node of a linked list, of which there may
   be several. */
struct pems_cgm_link {
  uint64_t next;  /* node, or PEMS_CGM_NONE at the end of a list */
  int64_t weight; /* of the step to next; 0 at the end */
};
struct pems_cgm_place {
  uint64_t last;    /* node at the end of the list */
  uint64_t steps;   /* to it */
  int64_t distance; /* the sum of the weights of these steps */
};
/* List ranking: links (even shares of struct pems_cgm_link; freed, becomes
   empty) give places (even shares of struct pems_cgm_place). MPI_ERR_ARG if a
   node does not exist or has two predecessors, or there is a cycle. O(log v)
   supersteps (Dehne, Ferreira, Caceres, Song and Roncato 2002). */
int pems_cgm_list_rank(struct pems_cgm *machine, struct pems_cgm_list *links,
                       struct pems_cgm_list *places);

/* An undirected edge. */
struct pems_cgm_edge {
  uint64_t u, v;
};

/* One directed arc of an Euler tour. Edge i of the forest, in the order of the
   array (over all ranks), gives arc 2i, u -> v, and arc 2i + 1, v -> u. */
struct pems_cgm_arc {
  uint64_t from, to;
  uint64_t next;     /* arc; PEMS_CGM_NONE at the end of the tree's tour */
  uint64_t root;     /* the smallest node of the tree, where its tour begins */
  uint64_t position; /* in the tour: 0 for the first */
};
/* Euler tours of a forest with nodes 0 .. nodes - 1 (Tarjan and Vishkin 1985;
   CGM: Dehne et al. 2002). Each visits a node's neighbours in the order of
   their edges in the array, and begins with the root's first one: so it is the
   same for any v. O(log v) supersteps. edges: any shares; freed. arcs: in the
   order of arcs, even shares of pairs of arcs, so that a rank has both arcs of
   an edge. MPI_ERR_ARG if a node does not exist or the graph has a cycle (a
   loop, a double edge). */
int pems_cgm_euler_tour(struct pems_cgm *machine, uint64_t nodes,
                        struct pems_cgm_list *edges,
                        struct pems_cgm_list *arcs);

/* A node of a rooted forest. */
struct pems_cgm_node {
  uint64_t parent;   /* PEMS_CGM_NONE for a root */
  uint64_t root;     /* the smallest node of the tree */
  uint64_t depth;    /* 0 for a root */
  uint64_t preorder; /* in its tree: 0 for the root */
  uint64_t size;     /* of its subtree, itself included */
};
/* From Euler tours (unchanged) the nodes, in even shares. O(1) supersteps. */
int pems_cgm_tree(struct pems_cgm *machine, uint64_t nodes,
                  const struct pems_cgm_list *arcs, struct pems_cgm_list *tree);
/* Lowest common ancestors in a tree of pems_cgm_tree: for each query (struct
   pems_cgm_edge, the rank's own, unchanged) one uint64_t in answers, in order:
   a node, PEMS_CGM_NONE if u and v are in different trees. MPI_ERR_ARG if a
   node does not exist. O(1) supersteps: minima of ranges of the preorder; more,
   two for each portion, where one rank's share of the preorder holds both nodes
   of far more queries than an even part of them. */
int pems_cgm_lca(struct pems_cgm *machine, uint64_t nodes,
                 const struct pems_cgm_list *tree,
                 const struct pems_cgm_list *queries,
                 struct pems_cgm_list *answers);

/* --- graphs --- */

/* Connected components of a graph with nodes 0 .. nodes - 1 and any edges
   (loops and double ones, too; unchanged; any shares). components: in even
   shares of the nodes, uint64_t: the smallest node of the component. forest, if
   not NULL: the edges of a spanning forest; each rank gives those of its own.
   O(log v) supersteps (Dehne et al. 2002): without chance, but by hashes of
   nodes, against which a graph could be made that takes more. MPI_ERR_ARG if a
   node does not exist. */
int pems_cgm_components(struct pems_cgm *machine, uint64_t nodes,
                        const struct pems_cgm_list *edges,
                        struct pems_cgm_list *components,
                        struct pems_cgm_list *forest);
/* *bipartite: 1 or 0, from the components of the double cover, with two copies
   of each node and edge: O(log v) supersteps. sides, if not NULL and it is: in
   even shares of the nodes, unsigned char 0 or 1, the smallest node of each
   component 0. */
int pems_cgm_bipartite(struct pems_cgm *machine, uint64_t nodes,
                       const struct pems_cgm_list *edges, int *bipartite,
                       struct pems_cgm_list *sides);

#ifdef __cplusplus
}
#endif

#endif
