/* A message that has not been received yet: its envelope, and what pems keeps
   of its contents, in memory or, beyond a bound, in a scratch file. */
#ifndef PEMS_MPI_P2P_LETTER_H
#define PEMS_MPI_P2P_LETTER_H

#include "mpi/datatype/layout.h"
#include "mpi_abi/abi.h"
#include "mpi_abi/handle.h"
#include "net/neighbour.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outgoing_send;

struct letter_link {
  struct letter_link *next, *previous;
};

/* A program may have a million of them. */
struct letter {
  struct handle handle; /* MPI_Message */
  /* In the lists of an endpoint: */
  struct letter_link all, same; /* of all; of those with the same hash */
  int source;                   /* rank in its sender's group */
  int tag;
  size_t bytes;
  struct outgoing_send
      *send;         /* of this process, that waits for the receiver; or NULL */
  uint64_t remote;   /* the other process's send that waits, or 0 */
  struct comm *comm; /* of one that MPI_Mprobe has taken */
  struct neighbour_offer offer; /* of that send's contents */
  uint64_t spill;               /* LETTER_SPILLED: where in the scratch file */
  int process;                  /* of the sender, or LETTER_UNBOUND */
  uint8_t channel;
  bool kept;     /* the contents are here: */
  uint8_t where; /* enum letter_where */
  bool counted;  /* its memory, as MEMORY_LETTERS */
  char here[];   /* LETTER_HERE */
};
enum letter_where { LETTER_HERE, LETTER_SPILLED };

/* Of a checkpoint: `remote` is what its send was known by there. */
enum { LETTER_UNBOUND = -1 };
static inline bool letter_is_unbound(const struct letter *l) {
  return l->process == LETTER_UNBOUND;
}

/* Bytes of messages in memory, at most, and where more goes. */
void letters_start(size_t bound, const char *dir);
void letters_end(void);
/* Would n more bytes stay in memory? */
bool letters_room(size_t n);

/* Largest message that is copied before a receive is posted. */
size_t letter_eager_limit(void);

/* Of n bytes that are not kept. */
struct letter *letter_new(size_t n);
/* The n bytes of a span that can be read now. */
struct letter *letter_pack(const struct layout_span *s, size_t n);
struct letter *letter_copy(const char *bytes, size_t n);
/* Of n bytes that are yet to be written. */
struct letter *letter_begin(size_t n);
void letter_write(struct letter *l, size_t position, const char *bytes,
                  size_t n);
/* The first n bytes to memory that can be written now. */
void letter_unpack(const struct letter *l, const struct layout_span *s,
                   size_t n);
void letter_read(const struct letter *l, size_t position, char *out, size_t n);
void letter_free(struct letter *l);

#endif
