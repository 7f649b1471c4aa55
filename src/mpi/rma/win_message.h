/* Messages about windows between processes: a head, pieces of memory of the
   target, and data. */
#ifndef PEMS_MPI_RMA_WIN_MESSAGE_H
#define PEMS_MPI_RMA_WIN_MESSAGE_H

#include "mpi/rma/win.h"
#include "net/am.h"
#include "net/neighbour.h"

#include <stddef.h>
#include <stdint.h>

enum { WIN_MESSAGE_ROOM = AM_LARGEST - 256 }; /* bytes, at most */

/* What a message begins with. Then come the pieces, and the data. */
struct win_head {
  uint32_t what;          /* enum win_what */
  int32_t origin, target; /* peers; an index or LOCK_ALL for locks */
  int32_t op, basic;      /* as Fortran's numbers, the same everywhere */
  uint32_t pieces;
  uint8_t exclusive, holder; /* locks */
  uint8_t offered; /* WIN_PUT: the data are an offer; WIN_GET: the answer may be
                      one */
  uint32_t n;      /* bytes of data, or wanted */
  uint64_t grain;
  uint64_t position; /* of the data in the access */
  uint64_t cookie;   /* the origin's, for the answer; 0: none is needed */
};

/* Memory of the target: address and bytes. */
struct win_piece {
  uint64_t at, n;
};

enum { /* bytes of a message that is an offer, or takes one for an answer */
       WIN_MESSAGE_OFFER = (sizeof(struct win_head) + 15) / 16 * 16 +
                           sizeof(struct win_piece) +
                           sizeof(struct neighbour_offer)
};

/* A message being made. */
struct win_draft {
  char *bytes;
  size_t room;
  struct win_head head;
  size_t size;
};

/* Of a message of win's VP. */
struct win_head win_message_head(const struct win *win, enum win_what what,
                                 int target, uint64_t cookie);
/* Of an answer with n bytes of data. */
struct win_head win_message_answer(const struct win_head *asked,
                                   enum win_what what, size_t n);

/* Bytes for `left` packed bytes of a place, with data for each twice, but no
   more than a message has. */
size_t win_message_room(const struct layout_span *place, size_t left);
/* Describes as much of the place from `position` on as has room together with
   its data: whole grains, unless even one is too much. */
void win_message_place(struct win_draft *d, const struct layout_span *place,
                       size_t position, size_t grain);
/* Describes n bytes of a dense place from `position` on, whose data do not come
   with the message. */
void win_message_place_offered(struct win_draft *d,
                               const struct layout_span *place, size_t position,
                               size_t n);
void win_message_set_operator(struct win_draft *d,
                              const struct win_operator *o);

/* Where the data of a message with so many pieces begin. */
size_t win_message_data_at(uint32_t pieces);
/* The place of a message as a span: one element that looks like its pieces,
   whose layout is freed by native_free. */
struct layout_span win_message_span(const struct win_head *h,
                                    const char *bytes);
struct win_operator win_message_operator(const struct win_head *h);

#endif
