/* Many small messages and communicators, each of which is waited for: rank 0
   takes one message of each other rank, in their order, and then answers all;
   communicators are split off and freed in which most ranks have no part.

   Arguments: the pace (see test.h); how often. In a round of messages every
   rank waits once at least, and in one of communicators all but the last to
   come. */
#include "test.h"

#include <stdbool.h>

static int rounds = 40;

static void messages(int round) {
  int word[4] = {round, rank, 0, 0};
  if (rank) {
    MPI_Send(word, 3, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(word, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (word[0] != round || word[1] != 0 || word[2] != rank) {
      fail("round %d: answer %d %d %d", round, word[0], word[1], word[2]);
    }
    return;
  }
  for (int i = 1; i < size; i++) {
    int got[4];
    MPI_Recv(got, 4, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got[0] != round || got[1] != i) {
      fail("round %d: from %d: %d %d", round, i, got[0], got[1]);
    }
  }
  for (int i = 1; i < size; i++) {
    word[2] = i;
    MPI_Send(word, 3, MPI_INT, i, 1, MPI_COMM_WORLD);
  }
}

static void communicators(int round) {
  const bool in = round % (rank + 2) == 0;
  MPI_Comm part;
  int members = 0, n = 0;
  MPI_Comm_split(MPI_COMM_WORLD, in ? 1 : MPI_UNDEFINED, rank, &part);
  for (int i = 0; i < size; i++) {
    members += round % (i + 2) == 0;
  }
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &n);
    MPI_Comm_free(&part);
  }
  if (n != (in ? members : 0)) {
    fail("round %d: %d members", round, n);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (argc > 2) {
    rounds = atoi(argv[2]);
  }
  for (int i = 0; i < rounds; i++) {
    messages(i);
  }
  for (int i = 0; i < rounds; i++) {
    communicators(i);
  }
  return end();
}
