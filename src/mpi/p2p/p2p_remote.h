/* Messages between processes, over net/am.h. Small ones are sent at once, and
   kept by the receiving process; of large ones only the envelope, until the
   receive is posted. */
#ifndef PEMS_MPI_P2P_P2P_REMOTE_H
#define PEMS_MPI_P2P_P2P_REMOTE_H

#include "mpi/p2p/endpoint.h"
#include "mpi/p2p/outgoing.h"

/* Before am_start. */
void p2p_remote_start(void);

/* As outgoing_now and outgoing_later; a large buffered message needs more: its
   send has a copy and is announced. */
bool p2p_remote_send_now(const struct outgoing *o);
void p2p_remote_send_later(struct outgoing_send *s);
void p2p_remote_announce(struct outgoing_send *s);
void p2p_remote_cancel(struct outgoing_send *s);

/* Of one that a checkpoint had: tells its letter what it is known by now. */
void p2p_remote_bind(struct outgoing_send *s);

/* Asks for the contents of a letter, and frees it. */
void p2p_remote_receive(struct endpoint_receive *r, struct letter *l);
/* Tells a sender that waits for it that the message is received. */
void p2p_remote_acknowledge(const struct letter *l);

#endif
