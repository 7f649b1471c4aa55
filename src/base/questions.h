/* pemstop's questions to pemsrun about its job: who asks waits until all
   processes have answered by their connections (wrappers/monitor.h), or for a
   second. */
#ifndef PEMS_BASE_QUESTIONS_H
#define PEMS_BASE_QUESTIONS_H

#include <stdbool.h>

/* Zeroed, with listener -1: nobody is answered. */
struct questions {
  int listener;    /* or -1 */
  int asker;       /* a connection, or -1: there is no question */
  long long since; /* ms, when it came */
  int awaited;     /* answers that have not come */
};

enum { QUESTIONS_PATIENCE_MS = 1000 };

void questions_open(struct questions *q);
void questions_close(struct questions *q);
/* Somebody asks, or -1; at most one at a time. Returns true if there is a new
   question. */
bool questions_take(struct questions *q, long long now);
/* Somebody asks by a connection of another kind, `fd`, which is closed when the
   question ends. Returns true if there is a new question; false, and fd is
   closed, if there is one already. */
bool questions_adopt(struct questions *q, int fd, long long now);
/* Passes a line on. */
void questions_answer(struct questions *q, const char *line);
/* Is there a question, and is its time up while answers are awaited? */
bool questions_late(const struct questions *q, long long now);
/* Ends the question if nothing more is to come, or time is up. */
void questions_settle(struct questions *q, long long now);
/* ms until then, or -1. */
int questions_left(const struct questions *q, long long now);

#endif
