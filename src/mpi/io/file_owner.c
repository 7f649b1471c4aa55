#include "mpi/io/file_owner.h"

#include "base/need.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <string.h>

enum task { TASK_TAKE, TASK_SET, TASK_LOCK, TASK_UNLOCK, TASK_ANSWER };

/* A VP that waits for an answer; on its stack. */
struct asker {
  struct run_queue_waiting waiting;
  bool answered;
  MPI_Offset position;
};

/* What the owner is asked, and what it answers; also the message. */
struct question {
  uint64_t file;
  uint64_t view;
  int64_t n; /* etypes, or a position */
  struct asker *asker;
  int32_t process; /* where the asker is */
  uint32_t task;
};

/* Who waits for the lock. */
struct turn {
  struct turn *next;
  struct question question;
};

struct pointer {
  uint64_t view;
  MPI_Offset position;
};

struct owner {
  struct owner *next;
  uint64_t file;
  struct pointer *pointers; /* of views that used theirs, the newest last */
  int n, room;
  bool locked;
  struct turn *first, **last;
};

/* Of the files that this process owns, under the scheduler's lock. */
static struct owner *owners;

static struct owner **link_of(uint64_t file) {
  struct owner **link = &owners;
  while (*link && (*link)->file != file) {
    link = &(*link)->next;
  }
  return link;
}

static int owner_process(const struct file *file) {
  return file->comm->team->proc[0];
}

/* A rank may still use an older view than others: none is forgotten. */
static MPI_Offset *position_of(struct owner *o, uint64_t view) {
  for (int i = o->n - 1; i >= 0; i--) {
    if (o->pointers[i].view == view) {
      return &o->pointers[i].position;
    }
  }
  if (o->n == o->room) {
    o->room = o->room ? 2 * o->room : 4;
    struct pointer *more =
        need_alloc(o->room * sizeof(*more), "shared file pointer");
    if (o->n) {
      memcpy(more, o->pointers, o->n * sizeof(*more));
    }
    native_free(o->pointers);
    o->pointers = more;
  }
  o->pointers[o->n] = (struct pointer){view, 0};
  return &o->pointers[o->n++].position;
}

static struct owner *owner_new(const struct file *file) {
  struct owner *const o = need_zalloc(1, sizeof(*o), "file");
  o->file = file->comm->team->id;
  o->last = &o->first;
  return o;
}

static void owner_add(struct owner *o) {
  run_queue_lock();
  o->next = owners;
  owners = o;
  run_queue_unlock();
}

void file_owner_begin(struct file *file, MPI_Offset position) {
  struct owner *const o = owner_new(file);
  *position_of(o, 0) = position;
  owner_add(o);
}

void file_owner_end(struct file *file) {
  run_queue_lock();
  struct owner **link = link_of(file->comm->team->id);
  struct owner *o = *link;
  *link = o->next;
  run_queue_unlock();
  native_free(o->pointers);
  native_free(o);
}

/* --- in a checkpoint --- */

void file_owner_save(const struct file *file, struct checkpoint_writer *to) {
  run_queue_lock();
  const struct owner *const o = *link_of(file->comm->team->id);
  run_queue_unlock();
  const uint64_t n = (uint64_t)o->n;
  checkpoint_write(to, &n, sizeof(n));
  checkpoint_write(to, o->pointers, n * sizeof(*o->pointers));
}

void file_owner_load(const struct file *file, struct checkpoint_reader *from) {
  struct owner *const o = owner_new(file);
  uint64_t n;
  checkpoint_read(from, &n, sizeof(n));
  for (uint64_t i = 0; i < n && !from->code; i++) {
    struct pointer p;
    checkpoint_read(from, &p, sizeof(p));
    *position_of(o, p.view) = p.position;
  }
  owner_add(o);
}

/* --- questions --- */

/* At the owner, with the lock held. Is there an answer now? It is in q->n. */
static bool carry_out_locked(struct owner *o, struct question *q) {
  if (q->task == TASK_LOCK) {
    if (o->locked) {
      struct turn *turn = need_alloc(sizeof(*turn), "file");
      *turn = (struct turn){NULL, *q};
      *o->last = turn;
      o->last = &turn->next;
      return false;
    }
    o->locked = true;
    return true;
  }
  MPI_Offset *position = position_of(o, q->view);
  const MPI_Offset was = *position;
  *position = q->task == TASK_SET ? q->n : was + q->n;
  q->n = was;
  return true;
}

/* The lock is free: whose turn is it? With the scheduler's lock held. */
static bool pass_lock_on_locked(struct owner *o, struct question *next) {
  struct turn *turn = o->first;
  if (!turn) {
    o->locked = false;
    return false;
  }
  *next = turn->question;
  o->first = turn->next;
  if (!o->first) {
    o->last = &o->first;
  }
  native_free(turn);
  return true;
}

/* With the lock held, in the asker's process. */
static void take_answer_locked(const struct question *q) {
  q->asker->position = q->n;
  q->asker->answered = true;
  run_queue_wake_locked(&q->asker->waiting);
}

static void send(int process, const struct question *q) {
  am_send(process, AM_FILE, q->file, q, sizeof(*q), NULL, 0);
}

/* Answers where the asker is. Called with the lock held, returns without. */
static void answer_and_unlock(struct question *q) {
  const bool here = q->process == net_rank();
  q->task = TASK_ANSWER;
  if (here) {
    take_answer_locked(q);
  }
  run_queue_unlock();
  if (!here) {
    send(q->process, q);
  }
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  struct question q;
  (void)process, (void)key, (void)n;
  memcpy(&q, bytes, sizeof(q));
  run_queue_lock();
  if (q.task == TASK_ANSWER) {
    take_answer_locked(&q);
    run_queue_unlock();
    return true;
  }
  struct owner *o = *link_of(q.file);
  const bool answer = q.task == TASK_UNLOCK ? o && pass_lock_on_locked(o, &q)
                                            : o && carry_out_locked(o, &q);
  if (answer) {
    answer_and_unlock(&q);
  } else {
    run_queue_unlock();
  }
  return true;
}

void file_owner_start(void) {
  am_register(AM_FILE, handle);
}

/* Asks the owner and waits for the answer. */
static MPI_Offset ask(struct file *file, enum task task, MPI_Offset n,
                      const char *function) {
  struct asker asker = {.answered = false};
  struct question q = {file->comm->team->id, file->views, n, &asker,
                       net_rank(),           task};
  const bool remote = owner_process(file) != net_rank();
  if (remote) {
    send(owner_process(file), &q);
  }
  run_queue_lock();
  if (!remote && carry_out_locked(*link_of(q.file), &q)) {
    asker.answered = true;
    asker.position = q.n;
  }
  while (!asker.answered) {
    run_queue_wait_locked(file->comm->vp, &asker.waiting, function);
  }
  run_queue_unlock();
  return asker.position;
}

MPI_Offset file_pointer_take(struct file *file, MPI_Offset n,
                             const char *function) {
  return ask(file, TASK_TAKE, n, function);
}

void file_pointer_set(struct file *file, MPI_Offset position,
                      const char *function) {
  ask(file, TASK_SET, position, function);
}

void file_lock(struct file *file, const char *function) {
  ask(file, TASK_LOCK, 0, function);
}

void file_unlock(struct file *file) {
  struct question q = {.file = file->comm->team->id, .task = TASK_UNLOCK};
  if (owner_process(file) != net_rank()) {
    send(owner_process(file), &q);
    return;
  }
  run_queue_lock();
  if (pass_lock_on_locked(*link_of(q.file), &q)) {
    answer_and_unlock(&q);
  } else {
    run_queue_unlock();
  }
}
