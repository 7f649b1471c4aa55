#include "mpi/verify/check_leaks.h"

#include "base/message.h"
#include "base/need.h"
#include "base/text.h"
#include "mpi/check/check_buffers.h"
#include "mpi/object/comm.h"
#include "mpi/object/naming.h"
#include "mpi/p2p/endpoint.h"
#include "mpi/request/request.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/lock.h"
#include "os/native.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 248, MOST = 10000, LINES = 40, REPORT = 7000 };

/* What is said of a rank. */
struct note {
  int rank;
  char text[LENGTH]; /* "the request of MPI_Irecv at x.c:12 was not freed" */
};

static struct {
  struct lock lock;
  struct note *note;
  size_t n, room;
} notes = {.lock = LOCK_INITIALIZER(LOCK_LEAKS)};

static void add(const struct note *note) {
  lock_take(&notes.lock);
  if (notes.n == notes.room && notes.n < MOST) {
    notes.room = notes.room ? 2 * notes.room : 64;
    notes.note = need_realloc(notes.note, notes.room * sizeof(*note),
                              "what ranks leave");
  }
  if (notes.n < notes.room) {
    notes.note[notes.n++] = *note;
  }
  lock_give(&notes.lock);
}

static bool on_notes(int process, uint64_t key, const char *bytes, size_t n) {
  (void)process, (void)key;
  for (size_t at = 0; at + sizeof(struct note) <= n;
       at += sizeof(struct note)) {
    add((const struct note *)(bytes + at));
  }
  return true;
}

void check_leaks_prepare(void) {
  am_register(AM_CHECK, on_notes);
}

/* --- what a rank has left --- */

/* "the request of MPI_Irecv at x.c:12 was not freed" */
static void note_made(const char *what, const char *function, const void *site,
                      const char *failing) {
  struct note note = {.rank = comm_me()->rank};
  struct text t = text_in(note.text, sizeof(note.text));
  text_add(&t, "the %s of %s", what, function);
  name_site(&t, comm_me(), site);
  text_add(&t, " was not %s", failing);
  add(&note);
}

static bool is_hidden(const struct comm *comm) {
  for (const struct comm *c = rank_me()->comms; c; c = c->next) {
    if (c->local == comm) {
      return true;
    }
  }
  return false;
}

static bool starts(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* Each window and file has a communicator of its own. */
static void note_comms(const struct rank *rank) {
  for (const struct comm *c = rank->comms; c; c = c->next) {
    if (c == rank->world || c == rank->self || c->freed || !c->function ||
        is_hidden(c)) {
      continue;
    }
    if (starts(c->function, "MPI_File")) {
      note_made("file", c->function, c->site, "closed");
    } else {
      note_made(starts(c->function, "MPI_Win") ? "window" : "communicator",
                c->function, c->site, "freed");
    }
  }
}

void check_leaks_objects(void) {
  const struct rank *rank = rank_me();
  for (const struct request *r = rank->requests; r; r = r->next) {
    if (!r->freed && r->site && !r->whole) {
      note_made("request", r->function, r->site,
                r->active ? "completed" : "freed");
    }
  }
  note_comms(rank);
  if (rank->buffered) {
    struct note note = {rank->vp->rank,
                        "the buffer of MPI_Buffer_attach was not detached"};
    add(&note);
  }
}

static int sender_of(const struct comm *comm, const struct letter *l) {
  const struct group *from = comm->remote ? comm->remote : comm->group;
  return l->source >= 0 && l->source < from->n ? from->world[l->source] : -1;
}

static void note_letters(const struct comm *comm) {
  const struct endpoint *e = comm->team->endpoints[comm->index];
  if (!e || !e->meeting[CHANNEL_USER]) {
    return;
  }
  const struct letter_link *link = e->meeting[CHANNEL_USER]->letters.first;
  for (; link; link = link->next) {
    const struct letter *l =
        (const struct letter *)((const char *)link -
                                offsetof(struct letter, all));
    struct note note = {.rank = comm->vp->rank};
    struct text t = text_in(note.text, sizeof(note.text));
    text_add(&t, "a message with tag %d from rank %d on ", l->tag,
             sender_of(comm, l));
    name_comm(&t, comm);
    text_add(&t, " was not received");
    add(&note);
  }
}

void check_leaks_messages(void) {
  run_queue_lock();
  for (const struct comm *c = rank_me()->comms; c; c = c->next) {
    note_letters(c);
  }
  run_queue_unlock();
}

/* --- the report --- */

void check_leaks_send(void) {
  enum { AT_ONCE = AM_LARGEST / sizeof(struct note) };
  if (net_rank() == 0) {
    return;
  }
  for (size_t at = 0; at < notes.n; at += AT_ONCE) {
    const size_t n = notes.n - at < AT_ONCE ? notes.n - at : AT_ONCE;
    am_send(0, AM_CHECK, 0, notes.note + at, n * sizeof(struct note), NULL, 0);
  }
}

static int by_text(const void *a, const void *b) {
  const struct note *p = a, *q = b;
  const int order = strcmp(p->text, q->text);
  return order ? order : p->rank - q->rank;
}

static size_t group_end(size_t i) {
  size_t end = i;
  while (end < notes.n &&
         strcmp(notes.note[i].text, notes.note[end].text) == 0) {
    end++;
  }
  return end;
}

static void tell_group(struct text *t, size_t i, size_t end, int *ranks) {
  for (size_t j = i; j < end; j++) {
    ranks[j - i] = notes.note[j].rank;
  }
  text_add(t, "\n  ");
  text_ranks(t, ranks, (int)(end - i));
  text_add(t, ": %s", notes.note[i].text);
  int different = 1;
  for (size_t j = 1; j < end - i; j++) {
    different += ranks[j] != ranks[j - 1];
  }
  if ((size_t)different < end - i) {
    text_add(t, " (%zu times)", end - i);
  }
}

bool check_leaks_report(void) {
  char report[REPORT];
  struct text t = text_in(report, sizeof(report));
  if (net_rank() != 0 || notes.n == 0) {
    return false;
  }
  int *ranks = need_alloc(notes.n * sizeof(*ranks), "a report"), lines = 0;
  qsort(notes.note, notes.n, sizeof(*notes.note), by_text);
  text_add(&t, "left at MPI_Finalize:");
  for (size_t i = 0, end; i < notes.n; i = end) {
    end = group_end(i);
    if (++lines <= LINES) {
      tell_group(&t, i, end, ranks);
    }
  }
  if (lines > LINES) {
    text_add(&t, "\n  and %d more", lines - LINES);
  }
  msg_warn("%s", report);
  native_free(ranks);
  return true;
}
