#define _GNU_SOURCE
#include "base/questions.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/job_status.h"

void questions_open(struct questions *q) {
  *q = (struct questions){.listener = job_status_listen(true), .asker = -1};
}

static void end(struct questions *q) {
  if (q->asker >= 0) {
    close(q->asker);
  }
  q->asker = -1;
}

void questions_close(struct questions *q) {
  end(q);
  if (q->listener >= 0) {
    close(q->listener);
  }
  q->listener = -1;
}

static bool begin(struct questions *q, int fd, long long now) {
  q->asker = fd;
  q->since = now;
  q->awaited = 0;
  return fd >= 0;
}

bool questions_take(struct questions *q, long long now) {
  return q->asker < 0 && begin(q, job_status_accept(q->listener), now);
}

bool questions_adopt(struct questions *q, int fd, long long now) {
  if (q->asker >= 0) {
    close(fd);
    return false;
  }
  return begin(q, fd, now);
}

void questions_answer(struct questions *q, const char *line) {
  if (q->asker < 0) {
    return;
  }
  q->awaited--;
  /* Thousands of lines fit into no socket: who reads slowly gets fewer. */
  const ssize_t sent =
      send(q->asker, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)sent;
}

bool questions_late(const struct questions *q, long long now) {
  return q->asker >= 0 && q->awaited > 0 &&
         now - q->since >= QUESTIONS_PATIENCE_MS;
}

void questions_settle(struct questions *q, long long now) {
  if (q->asker >= 0 && (q->awaited <= 0 || questions_late(q, now))) {
    end(q);
  }
}

int questions_left(const struct questions *q, long long now) {
  const long long left = q->since + QUESTIONS_PATIENCE_MS - now;
  return q->asker < 0 ? -1 : left < 0 ? 0 : (int)left;
}
