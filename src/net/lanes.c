#include "net/lanes.h"

#include "base/limit.h"
#include "base/message.h"
#include "base/need.h"
#include "mpi_below/net.h"
#include "mpi_below/real.h"
#include "net/beside.h"
#include "os/bits.h"
#include "os/cycle.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

enum {
  /* Bytes of a lane, and of all of a host, which may have little memory to
     share. */
  MOST = 256 << 10,
  LEAST = 4 << 10,
  ALL = 16 << 20,
  LONGEST = 68 << 10,  /* bytes: more had better be read where they are */
  AT_ONCE = 16,        /* messages of a lane, until others are looked at */
  MARK = UINT8_MAX - 1 /* a kind: the message comes by the real MPI */
};

static struct {
  struct beside beside;
  int processes;
  size_t room;          /* bytes of a lane */
  struct lane_in *in;   /* by process of the host */
  struct lane_out *out; /* by process; `lane` is NULL where there is none */
  int *of;              /* by process: which of the host's it is */
  int marks;            /* at the head of lanes */
  bool *marked;         /* by process of the host */
} lanes;

/* From process i of the host, in a part of its. */
static struct lane *lane_at(void *part, int i) {
  char *const at = part;
  return (struct lane *)(at + (size_t)i * (lanes.room + LANE_AROUND));
}

static void prepare(const struct beside *b, void *own) {
  for (int i = 0; i < b->n; i++) {
    lane_make(lane_at(own, i));
  }
}

static void connect(const struct beside *b, int i) {
  const int process = b->all[i];
  lanes.of[process] = i;
  lanes.in[i] = (struct lane_in){lane_at(b->part[b->me], i), lanes.room, 0};
  if (i != b->me) {
    lanes.out[process] = (struct lane_out){.lane = lane_at(b->part[i], b->me),
                                           .room = lanes.room};
  }
}

void lanes_create(MPI_Comm comm) {
  const size_t n = (size_t)net_host_size();
  net_check(real.Comm_size(comm, &lanes.processes));
  lanes.room = bits_align_down(bits_max(bits_min(ALL / (n * n), MOST), LEAST),
                               LANE_LINE);
  const int code =
      beside_create(&lanes.beside, comm, 0, lanes.room + LANE_AROUND, prepare);
  if (code) {
    char advice[LIMIT_TEXT];
    msg_notice("memory shared by the processes of this host: %s: all their "
               "messages go by the MPI, which is slower: %s",
               strerror(code),
               limit_advice(advice, LIMIT_FILE, code, 0,
                            "allow memfd_create and files of /proc there"));
  }
  const struct beside *const b = &lanes.beside;
  lanes.marks = 0;
  lanes.in = need_zalloc(b->n, sizeof(*lanes.in), "network");
  lanes.marked = need_zalloc(b->n, sizeof(*lanes.marked), "network");
  lanes.out = need_zalloc(lanes.processes, sizeof(*lanes.out), "network");
  lanes.of = need_zalloc(lanes.processes, sizeof(*lanes.of), "network");
  for (int i = 0; i < b->n && b->part; i++) {
    connect(b, i);
  }
}

void lanes_destroy(void) {
  beside_destroy(&lanes.beside);
  native_free(lanes.in);
  native_free(lanes.marked);
  native_free(lanes.out);
  native_free(lanes.of);
  lanes.out = NULL;
}

/* --- sending --- */

bool lanes_lead_to(int process) {
  return lanes.out && lanes.out[process].lane;
}

/* Two of them fit, so that one that does not fit into the end does so into the
   beginning. */
bool lanes_take(size_t n) {
  return n <= LONGEST && n <= lanes.room / 2 - LANE_AROUND;
}

bool lanes_send(int process, const struct lane_wire *w, const void *header,
                size_t header_n, const void *data, size_t n) {
  struct lane_out *const o = &lanes.out[process];
  char *const to = lane_begin(o, w);
  if (!to) {
    return false;
  }
  memcpy(to, header, header_n);
  if (n > 0) {
    memcpy(to + header_n, data, n);
  }
  lane_end(o);
  return true;
}

bool lanes_mark(int process) {
  static const struct lane_wire mark = {.kind = MARK};
  return lanes_send(process, &mark, NULL, 0, NULL, 0);
}

/* --- receiving --- */

/* Hands over one message; false if there is none before a mark. */
static bool receive_one(int i, lanes_deliver_fn *deliver) {
  struct lane_wire w;
  const char *const bytes =
      lanes.marked[i] ? NULL : lane_first(&lanes.in[i], &w);
  if (!bytes) {
    return false;
  }
  if (w.kind == MARK) {
    lanes.marked[i] = true;
    lanes.marks++;
  } else {
    deliver(lanes.beside.all[i], &w, bytes);
  }
  lane_drop(&lanes.in[i]);
  return w.kind != MARK;
}

bool lanes_receive(lanes_deliver_fn *deliver) {
  bool any = false;
  for (int i = 0; i < lanes.beside.n && lanes.beside.part; i++) {
    int n = 0;
    while (n < AT_ONCE && receive_one(i, deliver)) {
      n++;
    }
    any |= n > 0;
  }
  return any;
}

/* The mark was put before the message was sent. */
void lanes_catch_up(int process, lanes_deliver_fn *deliver) {
  const int i = lanes.of[process];
  while (!lanes.marked[i]) {
    if (!receive_one(i, deliver)) {
      cycle_pause();
    }
  }
  lanes.marked[i] = false;
  lanes.marks--;
}

bool lanes_need_mpi(void) {
  return lanes.marks > 0 || !lanes.beside.part ||
         lanes.beside.n < lanes.processes;
}
