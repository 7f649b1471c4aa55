#define _GNU_SOURCE
#include "config.h"

#include "wrappers/monitor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/job_status.h"
#include "base/lifeline.h"
#include "base/limit.h"
#include "base/message.h"

/* Processes may see later than this one why one of them has died. */
enum { EXPLAIN_MS = 300, LEFT_MS = 3000, TIME_UP_MS = 60000 };
/* For the secret, from a connection on. */
enum { SECRET_MS = 5000 };
/* From the end of a process before MPI_Init on, as its connection has it, until
   it counts: a program may have closed what it inherited. On this host the
   process number tells, and mpirun has its time to notice. */
enum { ABSENT_MS = 20000, ABSENT_HERE_MS = 2000, ABSENT_LOOK_MS = 100 };

struct monitor_process {
  int fd;                        /* or -1 */
  long long since;               /* ms, when it connected, or has gone */
  char line[LIFELINE_TEXT_SIZE]; /* its first one, later answers and texts */
  int used;                      /* bytes of the line that have come */
  bool answers;                  /* what comes is an answer */
  bool prints;                   /* what comes is to be printed */
  bool asked;                    /* one is awaited */
  bool begins;                   /* the program has; it is not in MPI yet */
  bool gone;                     /* and the connection has ended */
  bool known;                    /* it has joined: its line was right */
  bool ends;                     /* it has said that it does */
  bool takes_down;               /* and the job with it */
  bool lost;
  bool status_follows; /* the next byte is its status */
  struct lifeline_hello hello;
};

long long monitor_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* --- opening --- */

/* Both families by one socket; IPv4 alone where the kernel has no other. */
static int listen_to_all(void) {
  const int no = 0;
  const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                                   .sin6_addr = IN6ADDR_ANY_INIT};
  const struct sockaddr_in four = {.sin_family = AF_INET};
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 &&
      setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0 &&
      bind(fd, (const struct sockaddr *)&six, sizeof(six)) == 0) {
    return fd;
  }
  if (fd >= 0) {
    close(fd);
  }
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&four, sizeof(four)) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

static int listen_here(void) {
  const struct sockaddr_in here = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&here, sizeof(here)) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

int monitor_open(struct monitor *m, bool local, struct pems_error *error) {
  unsigned char secret[(sizeof(m->cookie) - 1) / 2];
  *m = (struct monitor){.listener = local ? listen_here() : listen_to_all(),
                        .heard = epoll_create1(EPOLL_CLOEXEC),
                        .spare = open("/dev/null", O_RDONLY | O_CLOEXEC),
                        .ender = -1,
                        .status = -1};
  if (m->listener < 0 || m->heard < 0 || m->spare < 0 ||
      listen(m->listener, 128) ||
      getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
    return failure(error, errno ? errno : EIO,
                   "a port for the processes of the job: %s: check the network",
                   strerror(errno));
  }
  for (size_t i = 0; i < sizeof(secret); i++) {
    sprintf(m->cookie + 2 * i, "%02x", secret[i]);
  }
  questions_open(&m->questions);
  return 0;
}

/* Prints ",ADDRESS" if other hosts may reach this one by it. */
static void print_address(FILE *f, const struct ifaddrs *i) {
  char text[INET6_ADDRSTRLEN];
  if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) ||
      (i->ifa_flags & IFF_LOOPBACK)) {
    return;
  }
  const void *address = NULL;
  if (i->ifa_addr->sa_family == AF_INET) {
    address = &((const struct sockaddr_in *)i->ifa_addr)->sin_addr;
  } else if (i->ifa_addr->sa_family == AF_INET6) {
    const struct in6_addr *const a =
        &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;
    address = IN6_IS_ADDR_LINKLOCAL(a) ? NULL : a;
  }
  if (address &&
      inet_ntop(i->ifa_addr->sa_family, address, text, sizeof(text))) {
    fprintf(f, ",%s", text);
  }
}

static int port_of(int fd) {
  struct sockaddr_storage s;
  socklen_t n = sizeof(s);
  if (getsockname(fd, (struct sockaddr *)&s, &n)) {
    return 0;
  }
  return ntohs(s.ss_family == AF_INET6
                   ? ((const struct sockaddr_in6 *)&s)->sin6_port
                   : ((const struct sockaddr_in *)&s)->sin_port);
}

char *monitor_variable(const struct monitor *m, bool local) {
  char *text = NULL;
  size_t size;
  struct ifaddrs *all = NULL;
  FILE *const f = open_memstream(&text, &size);
  if (!f) {
    return NULL;
  }
  fprintf(f, "%s,%d", m->cookie, port_of(m->listener));
  if (!local && getifaddrs(&all) == 0) {
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
      print_address(f, i);
    }
    freeifaddrs(all);
  }
  fprintf(f, ",127.0.0.1");
  fclose(f);
  return text;
}

/* --- what has happened --- */

static void say_died(const struct lifeline_hello *h) {
  msg_warn("host %s: process %d of %d, pid %ld, has died: the job ends: see "
           "there whether it was killed, for want of memory perhaps",
           h->host, h->process, h->of, h->pid);
}

static void say_orphan(const struct lifeline_hello *h) {
  msg_warn("host %s: mpirun's process there has died: the job ends: see there "
           "whether it was killed",
           h->host);
}

static void say_absent(const struct lifeline_hello *h) {
  msg_warn("host %s: process %d of %d, pid %ld, has ended before MPI_Init: the "
           "job ends: see there whether the program starts: a library may be "
           "missing, or another program have its name",
           h->host, h->process, h->of, h->pid);
}

/* Is there a lost process of the same host before this one? */
static bool is_named(const struct monitor *m, int i) {
  for (int j = 0; j < i; j++) {
    if (m->processes[j].lost &&
        strcmp(m->processes[j].hello.host, m->processes[i].hello.host) == 0) {
      return true;
    }
  }
  return false;
}

static void say_lost(const struct monitor *m) {
  char hosts[4096] = "";
  size_t used = 0;
  int n = 0;
  for (int i = 0; i < m->n && used < sizeof(hosts); i++) {
    if (m->processes[i].lost && !is_named(m, i)) {
      used += (size_t)snprintf(hosts + used, sizeof(hosts) - used, "%s%s",
                               n++ ? ", " : "", m->processes[i].hello.host);
    }
  }
  msg_warn("host%s %s: lost: no answer for %d s: the job ends: see whether %s "
           "and the network between run%s",
           n > 1 ? "s" : "", hosts, LIFELINE_SECONDS, n > 1 ? "they" : "it",
           n > 1 ? "" : "s");
}

void monitor_settle(struct monitor *m) {
  if (!m->say_at) {
    return;
  }
  m->say_at = 0;
  if (m->state == MONITOR_LOST) {
    say_lost(m);
  } else if (m->state == MONITOR_ORPHAN || m->state == MONITOR_LEFT) {
    say_orphan(&m->processes[m->about].hello);
  } else if (m->state == MONITOR_ABSENT) {
    say_absent(&m->processes[m->about].hello);
  } else if (!m->parting) {
    say_died(&m->processes[m->about].hello);
  }
}

/* How long the launcher has to explain it. One that ends the job because its
   time is up does so when it ends itself, which on a busy machine takes a
   while. */
static int patience(const struct monitor *m, enum monitor_state state) {
  if (state == MONITOR_LOST) {
    return MONITOR_GATHER_MS;
  }
  if (state == MONITOR_LEFT) {
    return LEFT_MS;
  }
  return m->limit_at && monitor_now_ms() >= m->limit_at ? TIME_UP_MS
                                                        : EXPLAIN_MS;
}

static void note(struct monitor *m, enum monitor_state state,
                 const struct monitor_process *p) {
  if (m->passive || state <= m->state) {
    return;
  }
  m->state = state;
  m->about = (int)(p - m->processes);
  if (!m->told || m->say_at) {
    m->say_at = monitor_now_ms() + patience(m, state);
  }
  m->told = true;
}

/* --- ends before MPI_Init --- */

/* The first of those that have not come to MPI; NULL: there is none. */
static const struct monitor_process *first_gone(const struct monitor *m) {
  const struct monitor_process *first = NULL;
  for (int i = 0; m->gone && i < m->n; i++) {
    const struct monitor_process *const p = &m->processes[i];
    if (p->gone && (!first || p->since < first->since)) {
      first = p;
    }
  }
  return first;
}

/* A launcher ends the others because of it. */
static void note_died(struct monitor *m, const struct monitor_process *p) {
  const struct monitor_process *const gone = first_gone(m);
  note(m, gone ? MONITOR_ABSENT : MONITOR_DIED, gone ? gone : p);
}

static bool has_ended_here(const struct lifeline_hello *h) {
  char host[LIFELINE_HOST] = "";
  return gethostname(host, sizeof(host) - 1) == 0 &&
         strcmp(host, h->host) == 0 && kill((pid_t)h->pid, 0) && errno == ESRCH;
}

/* Processes that have joined wait for one that never will. Returns the ms until
   that is to be looked at again, or -1. */
static int note_absent(struct monitor *m) {
  const struct monitor_process *const p = m->joined ? first_gone(m) : NULL;
  if (!p || m->passive || m->told || m->parting || m->state != MONITOR_RUNS) {
    return -1;
  }
  const long long since = monitor_now_ms() - p->since;
  if (since >= ABSENT_MS ||
      (since >= ABSENT_HERE_MS && has_ended_here(&p->hello))) {
    note(m, MONITOR_ABSENT, p);
    m->waits = true;
    return 0;
  }
  return ABSENT_LOOK_MS;
}

bool monitor_say_absent(struct monitor *m) {
  const struct monitor_process *const p = first_gone(m);
  if (p) {
    say_absent(&p->hello);
  }
  return p;
}

/* --- serving --- */

/* The place of one that was none of the job's, or a new one; NULL: there is no
   memory. Others keep theirs: `about` and `ender` are places. */
static struct monitor_process *place(struct monitor *m) {
  for (int i = 0; i < m->n; i++) {
    if (m->processes[i].fd < 0 && !m->processes[i].known &&
        !m->processes[i].gone) {
      return &m->processes[i];
    }
  }
  struct monitor_process *const more =
      realloc(m->processes, ((size_t)m->n + 1) * sizeof(*more));
  if (!more) {
    return NULL;
  }
  m->processes = more;
  return &m->processes[m->n++];
}

static bool is_stranger(const struct monitor_process *p) {
  return p->fd >= 0 && !p->known && !p->begins;
}

static bool is_beginner(const struct monitor_process *p) {
  return p->fd >= 0 && p->begins;
}

static void drop(struct monitor *m, struct monitor_process *p) {
  m->strangers -= is_stranger(p);
  close(p->fd);
  p->fd = -1;
}

/* NULL: there is none. */
static struct monitor_process *
oldest(const struct monitor *m,
       bool (*is_one)(const struct monitor_process *)) {
  struct monitor_process *oldest = NULL;
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    if (is_one(p) && (!oldest || p->since < oldest->since)) {
      oldest = p;
    }
  }
  return oldest;
}

/* Of those that have not said the secret yet. */
static struct monitor_process *oldest_stranger(const struct monitor *m) {
  return m->strangers ? oldest(m, is_stranger) : NULL;
}

/* Connections that say nothing would keep descriptors for ever. Returns the ms
   until the next is too old, or -1. */
static int drop_silent(struct monitor *m) {
  struct monitor_process *p;
  while ((p = oldest_stranger(m))) {
    const long long left = p->since + SECRET_MS - monitor_now_ms();
    if (left > 0) {
      return (int)left;
    }
    drop(m, p);
  }
  return -1;
}

/* Closes whoever waits at a listener: it would stay readable, and this process
   spin. */
static void turn_away(struct monitor *m, int listener) {
  close(m->spare);
  const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd >= 0) {
    close(fd);
  }
  m->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (!m->turned_away++) {
    char advice[LIMIT_TEXT];
    msg_warn("pemsrun: a connection: %s: a process of the job may not have "
             "been let in: %s",
             strerror(EMFILE),
             limit_advice(advice, LIMIT_FILE, EMFILE, 0, "raise ulimit -n"));
  }
}

/* Is that why somebody could not be taken? Processes say the secret at once: of
   the others the oldest goes, that there be room when this is tried again; then
   of those that only begin. */
static void make_room(struct monitor *m, int listener, int code) {
  struct monitor_process *p = oldest_stranger(m);
  if (code != EMFILE && code != ENFILE) {
    return;
  }
  p = p ? p : oldest(m, is_beginner);
  if (p) {
    drop(m, p);
    p->begins = false;
  } else {
    turn_away(m, listener);
  }
}

static void join(struct monitor *m) {
  const int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    make_room(m, m->listener, errno);
    return;
  }
  struct monitor_process *const p = lifeline_keep(fd) ? NULL : place(m);
  if (!p) {
    close(fd);
    return;
  }
  *p = (struct monitor_process){.fd = fd, .since = monitor_now_ms()};
  m->arrivals++;
  m->strangers++;
  struct epoll_event e = {.events = EPOLLIN,
                          .data.u32 = (uint32_t)(p - m->processes)};
  if (epoll_ctl(m->heard, EPOLL_CTL_ADD, fd, &e)) {
    drop(m, p);
  }
}

static void answer(const struct monitor_process *p, char what) {
  /* Should it fail, the connection has. */
  const ssize_t sent = send(p->fd, &what, 1, MSG_NOSIGNAL);
  (void)sent;
}

static bool tell_all(struct monitor *m, char what) {
  bool told = false;
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    if (p->fd >= 0 && p->known) {
      answer(p, what);
      told = true;
    }
  }
  return told;
}

bool monitor_leave(struct monitor *m) {
  return tell_all(m, LIFELINE_LEAVE);
}

void monitor_pass_on_usr2(struct monitor *m) {
  (void)tell_all(m, LIFELINE_USR2);
}

/* pemstop has a question: all processes are asked. */
static void ask_all(struct monitor *m) {
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    p->asked = p->fd >= 0 && p->known;
    if (p->asked) {
      m->questions.awaited++;
      answer(p, LIFELINE_QUESTION);
    }
  }
}

static void take_question(struct monitor *m) {
  errno = 0;
  if (questions_take(&m->questions, monitor_now_ms())) {
    ask_all(m);
  } else {
    make_room(m, m->questions.listener, errno);
  }
}

/* In the place of those that have not answered in time. */
static void tell_silent(struct monitor *m) {
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    if (p->asked && p->fd >= 0) {
      char line[JOB_STATUS_LINE];
      struct job_status s = {.process = (uint64_t)p->hello.process,
                             .of = (uint64_t)p->hello.of,
                             .pid = (uint64_t)p->hello.pid,
                             .silent = 1};
      snprintf(s.host, sizeof(s.host), "%.*s", (int)sizeof(s.host) - 1,
               p->hello.host);
      job_status_write(&s, line);
      questions_answer(&m->questions, line);
      p->asked = false;
    }
  }
}

/* It is no process, but pemstop on another host, which knows the cookie: the
   connection is the question's now. */
static void hear_question(struct monitor *m, struct monitor_process *p) {
  const int fd = p->fd;
  p->fd = -1;
  m->strangers--;
  (void)epoll_ctl(m->heard, EPOLL_CTL_DEL, fd, NULL);
  if (questions_adopt(&m->questions, fd, monitor_now_ms())) {
    ask_all(m);
  }
}

/* The connection by which a process that is here has said that it begins. */
static void end_beginner(struct monitor *m, int process) {
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    if (p->begins && p->hello.process == process) {
      m->gone -= p->gone;
      p->gone = false;
      if (p->fd >= 0) {
        drop(m, p);
      }
      p->begins = false;
    }
  }
}

/* Connections of others are none of ours. */
static void greet(struct monitor *m, struct monitor_process *p, char c) {
  p->line[p->used++] = c;
  if (c != '\n' && p->used < LIFELINE_LINE - 1) {
    return;
  }
  p->line[p->used] = '\0';
  if (lifeline_is_question(p->line, m->cookie)) {
    hear_question(m, p);
    return;
  }
  if (lifeline_read(&p->hello, p->line) ||
      strcmp(p->hello.cookie, m->cookie) != 0) {
    drop(m, p);
    return;
  }
  m->strangers--;
  answer(p, LIFELINE_WELCOME);
  if (p->hello.begins) {
    p->begins = true;
    return;
  }
  p->known = true;
  m->joined++;
  m->job = p->hello.job;
  end_beginner(m, p->hello.process);
}

/* Those that end because this one does give other statuses, later. */
static void note_ender(struct monitor *m, const struct monitor_process *p) {
  if (m->ender < 0 && m->state == MONITOR_RUNS) {
    m->ender = (int)(p - m->processes);
  }
}

static void take_down(struct monitor *m, struct monitor_process *p) {
  note_ender(m, p);
  p->ends = p->takes_down = m->told = true;
}

static void take_status(struct monitor *m, struct monitor_process *p, char c) {
  p->status_follows = false;
  note_ender(m, p);
  if (m->ender == p - m->processes && m->status < 0) {
    m->status = (unsigned char)c;
  }
}

/* A byte of an answer to a question of pemstop. */
static void take_answer(struct monitor *m, struct monitor_process *p, char c) {
  p->line[p->used++] = c;
  if (c != '\n' && p->used < JOB_STATUS_LINE - 1) {
    return;
  }
  p->line[p->used] = '\0';
  const bool awaited = p->asked; /* or it is too late for that question */
  p->answers = p->asked = false;
  if (awaited) {
    questions_answer(&m->questions, p->line);
  }
}

/* By a single write: texts of several processes do not mix. */
static void take_text(struct monitor_process *p, char c) {
  p->line[p->used++] = c;
  if (c != '\0' && p->used < LIFELINE_TEXT_SIZE) {
    return;
  }
  p->prints = false;
  const ssize_t written = write(STDERR_FILENO, p->line, (size_t)p->used - 1);
  (void)written; /* nobody looks */
}

static void take(struct monitor *m, struct monitor_process *p, char c) {
  switch (c) {
  case LIFELINE_MAY_I:
    answer(p, m->told && !m->passive ? LIFELINE_NO : LIFELINE_YES);
    take_down(m, p);
    break;
  case LIFELINE_ENDS:
    take_down(m, p);
    break;
  case LIFELINE_STATUS:
    p->status_follows = true;
    break;
  case LIFELINE_ORPHAN:
    p->ends = true;
    note(m, MONITOR_ORPHAN, p);
    break;
  case LIFELINE_LEFT:
    p->ends = true;
    note(m, MONITOR_LEFT, p);
    break;
  case LIFELINE_ANSWER:
    p->answers = true;
    p->used = 0;
    break;
  case LIFELINE_TEXT:
    p->prints = true;
    p->used = 0;
    break;
  case LIFELINE_BYE:
    p->ends = m->parting = true;
    break;
  default: /* LIFELINE_ENDED */
    p->ends = true;
  }
}

/* The connection has ended: by `error`, or 0, as when a process ends. */
static void leave(struct monitor *m, struct monitor_process *p, int error) {
  drop(m, p);
  if (!p->known && !p->begins) {
    return;
  }
  if (p->begins && (error == 0 || error == ECONNRESET)) {
    p->gone = true;
    p->since = monitor_now_ms();
    m->gone++;
    return;
  }
  if (error == 0 || error == ECONNRESET) {
    if (!p->ends) {
      note_died(m, p);
    }
    m->down |= p->takes_down && !m->passive;
    return;
  }
  p->lost = true;
  note(m, MONITOR_LOST, p);
}

static void hear(struct monitor *m, struct monitor_process *p) {
  while (p->fd >= 0) {
    char c;
    const ssize_t n = recv(p->fd, &c, 1, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    }
    if (n <= 0) {
      leave(m, p, n < 0 ? errno : 0);
    } else if (p->status_follows) {
      take_status(m, p, c);
    } else if (p->answers) {
      take_answer(m, p, c);
    } else if (p->prints) {
      take_text(p, c);
    } else if (p->known) {
      take(m, p, c);
    } else if (!p->begins) {
      greet(m, p, c);
    }
  }
}

/* Some of those that something has come from. Of two that have died the first
   is heard first, even if this process looks too late to see that one alone: a
   launcher ends the others as soon as it notices. */
static void hear_some(struct monitor *m) {
  struct epoll_event e[64];
  const int n = epoll_wait(m->heard, e, sizeof(e) / sizeof(*e), 0);
  for (int i = 0; i < n; i++) {
    hear(m, &m->processes[e[i].data.u32]);
  }
}

/* The least of two times to wait, of which -1 is the longest. */
static int sooner(int a, long long b) {
  if (b < 0) {
    b = 0;
  }
  return a < 0 || b < a ? (int)b : a;
}

/* One round of waiting. */
static bool wait_once(struct monitor *m, int fd, int ms) {
  const int asked = m->questions.asker < 0 ? m->questions.listener : -1;
  struct pollfd p[] = {
      {.fd = fd, .events = POLLIN},
      {.fd = m->listener, .events = POLLIN},
      {.fd = m->heard, .events = POLLIN},
      {.fd = asked, .events = POLLIN},
  };
  const int silent = drop_silent(m), absent = note_absent(m);
  if (silent >= 0) {
    ms = sooner(ms, silent);
  }
  if (absent >= 0) {
    ms = sooner(ms, absent);
  }
  const bool any = poll(p, sizeof(p) / sizeof(*p), ms) > 0;
  if (any && p[2].revents) {
    hear_some(m);
  }
  if (any && p[1].revents) {
    join(m);
  }
  if (any && p[3].revents) {
    take_question(m);
  }
  if (questions_late(&m->questions, monitor_now_ms())) {
    tell_silent(m);
  }
  questions_settle(&m->questions, monitor_now_ms());
  return any && p[0].revents;
}

bool monitor_serve(struct monitor *m, int fd, int ms) {
  const long long end = monitor_now_ms() + ms;
  const enum monitor_state before = m->state;
  const bool down = m->down;
  for (;;) {
    int left = ms < 0 ? -1 : sooner(-1, end - monitor_now_ms());
    if (m->say_at) {
      left = sooner(left, m->say_at - monitor_now_ms());
    }
    if (m->questions.asker >= 0) {
      left = sooner(left, questions_left(&m->questions, monitor_now_ms()));
    }
    if (wait_once(m, fd, left)) {
      return true;
    }
    if (m->say_at && monitor_now_ms() >= m->say_at) {
      monitor_settle(m);
    }
    if (m->state != before || m->down != down ||
        (ms >= 0 && monitor_now_ms() >= end)) {
      return false;
    }
  }
}

void monitor_drain(struct monitor *m) {
  for (int before = -1; before != m->arrivals;) {
    before = m->arrivals;
    wait_once(m, -1, 0); /* takes one that is new, hears the others */
  }
}

static bool any_left(const struct monitor *m) {
  for (int i = 0; i < m->n; i++) {
    if (m->processes[i].fd >= 0 && !m->processes[i].begins) {
      return true;
    }
  }
  return false;
}

void monitor_explain(struct monitor *m) {
  const long long end = monitor_now_ms() + LEFT_MS;
  while ((m->state == MONITOR_LEFT ? m->say_at : !m->told) && any_left(m) &&
         monitor_now_ms() < end) {
    wait_once(m, -1, sooner(-1, end - monitor_now_ms()));
  }
}

void monitor_close(struct monitor *m, int ms) {
  const long long end = monitor_now_ms() + ms;
  m->told = true;
  questions_close(&m->questions);
  close(m->listener);
  m->listener = -1;
  for (int i = 0; i < m->n; i++) {
    struct monitor_process *const p = &m->processes[i];
    if (is_stranger(p) || is_beginner(p)) {
      drop(m, p);
    } else if (p->fd >= 0) {
      shutdown(p->fd, SHUT_WR);
    }
  }
  while (any_left(m) && monitor_now_ms() < end) {
    wait_once(m, -1, sooner(-1, end - monitor_now_ms()));
  }
  for (int i = 0; i < m->n; i++) {
    if (m->processes[i].fd >= 0) {
      drop(m, &m->processes[i]);
    }
  }
  close(m->heard);
  close(m->spare);
  free(m->processes);
  m->processes = NULL;
}
