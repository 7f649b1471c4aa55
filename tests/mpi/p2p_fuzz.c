/* Random messages between all ranks: lengths, tags, ways to send, the order of
   posting and of waiting. All ranks know all messages. */
#include "test.h"

enum { MESSAGES = 150, ROUNDS = 6, TAGS = 3, MOST = 150000 };

struct message {
  int from, to, tag, n, way;
  int nth; /* of those with the same ranks and tag */
};

static struct message messages[MESSAGES];
static uint64_t state = 88172645463325252u;

static int random_length(void) {
  switch (pick(&state, 8)) {
  case 0:
    return 0;
  case 1:
  case 2:
  case 3:
    return (int)pick(&state, 200);
  case 4:
  case 5:
    return (int)pick(&state, 9000);
  case 6:
    return 60000 + (int)pick(&state, 12000);
  default:
    return (int)pick(&state, MOST);
  }
}

static void plan(void) {
  for (int i = 0; i < MESSAGES; i++) {
    struct message *m = &messages[i];
    m->from = (int)pick(&state, (unsigned)size);
    m->to = (int)pick(&state, (unsigned)size);
    m->tag = (int)pick(&state, TAGS);
    m->n = random_length();
    m->way = (int)pick(&state, 4);
    m->nth = 0;
    for (int j = 0; j < i; j++) {
      m->nth += messages[j].from == m->from && messages[j].to == m->to &&
                messages[j].tag == m->tag;
    }
  }
}

static uint64_t seed(const struct message *m, int round) {
  return seed_of((uint64_t)(round * 1000 + m->tag * 100 + m->nth), m->from,
                 m->to);
}

struct mine {
  MPI_Request request;
  struct message *message;
  unsigned char *data;
};

static struct mine receives[MESSAGES], sends[MESSAGES];
static int n_receives, n_sends;

static void post(struct message *m) {
  struct mine *r = &receives[n_receives++];
  r->message = m;
  r->data = malloc((size_t)m->n + 1);
  r->data[m->n] = 77;
  MPI_Irecv(r->data, m->n, MPI_BYTE, m->from, m->tag, MPI_COMM_WORLD,
            &r->request);
}

static void send(struct message *m, int round) {
  struct mine *s = &sends[n_sends++];
  s->message = m;
  s->data = malloc((size_t)m->n + 1);
  stream(s->data, (size_t)m->n, seed(m, round));
  if (m->way == 0) {
    MPI_Issend(s->data, m->n, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD,
               &s->request);
  } else {
    MPI_Isend(s->data, m->n, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD,
              &s->request);
  }
}

static void check(struct mine *r, const MPI_Status *status, int round) {
  struct message *m = r->message;
  int n;
  MPI_Get_count(status, MPI_BYTE, &n);
  unsigned char *expected = malloc((size_t)m->n + 1);
  stream(expected, (size_t)m->n, seed(m, round));
  if (n != m->n || status->MPI_SOURCE != m->from || status->MPI_TAG != m->tag ||
      memcmp(expected, r->data, (size_t)n) != 0 || r->data[m->n] != 77) {
    fail("round %d: from %d, tag %d, %d bytes", round, m->from, m->tag, m->n);
  }
  mix(r->data, (size_t)m->n);
  free(expected);
  free(r->data);
}

/* Waits in one of several ways until all n are done. */
static void finish(int n, MPI_Request *requests, MPI_Status *all,
                   unsigned way) {
  MPI_Status statuses[MESSAGES];
  int indices[MESSAGES], count;
  if (way == 0) {
    MPI_Waitall(n, requests, all);
    return;
  }
  for (int left = n; left > 0; left -= count) {
    if (way == 1) {
      MPI_Waitsome(n, requests, &count, indices, statuses);
    } else if (way == 2) {
      MPI_Testsome(n, requests, &count, indices, statuses);
    } else {
      MPI_Waitany(n, requests, indices, statuses);
      count = 1;
    }
    for (int i = 0; i < count; i++) {
      all[indices[i]] = statuses[i];
    }
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  for (int round = 0; round < ROUNDS; round++) {
    plan();
    uint64_t own = (uint64_t)(rank + 1) * 7919 + (uint64_t)round;
    n_receives = n_sends = 0;
    MPI_Request requests[MESSAGES];
    MPI_Status statuses[MESSAGES];
    /* Each rank mixes posting and sending as it likes, both in their order. */
    int to_post = 0, to_send = 0;
    while (to_post < MESSAGES || to_send < MESSAGES) {
      int *next = to_post == MESSAGES                    ? &to_send
                  : to_send == MESSAGES || pick(&own, 2) ? &to_post
                                                         : &to_send;
      struct message *m = &messages[(*next)++];
      if (next == &to_post && m->to == rank) {
        post(m);
      } else if (next == &to_send && m->from == rank) {
        send(m, round);
      }
    }
    for (int i = 0; i < n_receives; i++) {
      requests[i] = receives[i].request;
    }
    finish(n_receives, requests, statuses, pick(&own, 4));
    for (int i = 0; i < n_receives; i++) {
      check(&receives[i], &statuses[i], round);
    }
    for (int i = 0; i < n_sends; i++) {
      requests[i] = sends[i].request;
    }
    MPI_Waitall(n_sends, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n_sends; i++) {
      free(sends[i].data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    report("round");
  }
  return end();
}
