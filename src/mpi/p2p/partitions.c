#include "mpi/p2p/partitions.h"

#include <stdint.h>

struct partitions partitions_meeting(int which, int m, int n) {
  const int64_t begin = (int64_t)which * n, end = begin + n;
  return (struct partitions){(int)(begin / m), (int)((end + m - 1) / m - 1)};
}
