#include "mpi/comm/service.h"

#include "base/need.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 256 }; /* bytes of a name, and of a port, with their end */

enum task { TASK_PUBLISH, TASK_UNPUBLISH, TASK_LOOKUP, TASK_ANSWER };

/* What process 0 is asked, and what it answers; also the message. */
struct question {
  struct asker *asker;
  int32_t process; /* where the asker is */
  uint32_t task;
  int32_t code; /* an error class */
  char name[LONGEST], port[LONGEST];
};

/* A thread that waits for an answer; on its stack. */
struct asker {
  struct run_queue_waiting waiting;
  bool answered;
  struct question question;
};

struct entry {
  struct entry *next;
  char name[LONGEST], port[LONGEST];
};

/* Under the scheduler's lock, in process 0. */
static struct entry *entries;

static struct entry **find_locked(const char *name) {
  struct entry **link = &entries;
  while (*link && strcmp((*link)->name, name) != 0) {
    link = &(*link)->next;
  }
  return link;
}

static int publish_locked(const struct question *q) {
  if (*find_locked(q->name)) {
    return MPI_ERR_SERVICE;
  }
  struct entry *e = need_zalloc(1, sizeof(*e), "name of a port");
  memcpy(e->name, q->name, LONGEST);
  memcpy(e->port, q->port, LONGEST);
  e->next = entries;
  entries = e;
  return MPI_SUCCESS;
}

static int unpublish_locked(const struct question *q) {
  struct entry **link = find_locked(q->name), *e = *link;
  if (!e) {
    return MPI_ERR_SERVICE;
  }
  *link = e->next;
  native_free(e);
  return MPI_SUCCESS;
}

static int look_up_locked(struct question *q) {
  const struct entry *e = *find_locked(q->name);
  if (!e) {
    return MPI_ERR_NAME;
  }
  memcpy(q->port, e->port, LONGEST);
  return MPI_SUCCESS;
}

static void carry_out_locked(struct question *q) {
  q->code = q->task == TASK_PUBLISH     ? publish_locked(q)
            : q->task == TASK_UNPUBLISH ? unpublish_locked(q)
                                        : look_up_locked(q);
  q->task = TASK_ANSWER;
}

static bool handle(int process, uint64_t key, const char *bytes, size_t n) {
  struct question q;
  (void)process, (void)key, (void)n;
  memcpy(&q, bytes, sizeof(q));
  run_queue_lock();
  if (q.task == TASK_ANSWER) {
    q.asker->question = q;
    q.asker->answered = true;
    run_queue_wake_locked(&q.asker->waiting);
    run_queue_unlock();
    return true;
  }
  carry_out_locked(&q);
  run_queue_unlock();
  am_send(q.process, AM_NAME, 0, &q, sizeof(q), NULL, 0);
  return true;
}

void service_start(void) {
  am_register(AM_NAME, handle);
}

/* An error class; the answer is in a->question. */
static int ask(enum task task, const char *name, const char *port,
               struct asker *a, const char *function) {
  if (!name || strlen(name) >= LONGEST || !port || strlen(port) >= LONGEST) {
    return MPI_ERR_ARG;
  }
  *a = (struct asker){.question = {.process = net_rank(), .task = task}};
  struct question *q = &a->question;
  q->asker = a;
  strcpy(q->name, name);
  strcpy(q->port, port);
  const bool remote = net_rank() != 0;
  if (remote) {
    am_send(0, AM_NAME, 0, q, sizeof(*q), NULL, 0);
  }
  run_queue_lock();
  if (!remote) {
    carry_out_locked(q);
  }
  while (remote && !a->answered) {
    run_queue_wait_locked(comm_me(), &a->waiting, function);
  }
  run_queue_unlock();
  return q->code;
}

int pems_Publish_name(const char *name, MPI_Info info, const char *port) {
  static const char function[] = "MPI_Publish_name";
  struct asker a;
  (void)info;
  return comm_error(ABI_NOBODYS_ERRORS,
                    ask(TASK_PUBLISH, name, port, &a, function), function);
}

int pems_Unpublish_name(const char *name, MPI_Info info, const char *port) {
  static const char function[] = "MPI_Unpublish_name";
  struct asker a;
  (void)info;
  return comm_error(ABI_NOBODYS_ERRORS,
                    ask(TASK_UNPUBLISH, name, port, &a, function), function);
}

int pems_Lookup_name(const char *name, MPI_Info info, char *port) {
  static const char function[] = "MPI_Lookup_name";
  struct asker a;
  (void)info;
  const int code =
      port ? ask(TASK_LOOKUP, name, "", &a, function) : MPI_ERR_ARG;
  if (!code) {
    snprintf(port, MPI_MAX_PORT_NAME, "%s", a.question.port);
  }
  return comm_error(ABI_NOBODYS_ERRORS, code, function);
}
