/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/disk.h>: a block goes to a scratch disk and comes back. */
#include <pems/disk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int move(struct pems_disks *disks, struct pems_block block, void *buf,
                int write) {
  struct pems_request request = {block, buf, 4096, write};
  struct pems_request *const list = &request;
  pems_disks_start(disks, &list, 1);
  return pems_request_wait(disks, &request);
}

int main(void) {
  struct pems_disks *disks;
  struct pems_dealer dealer;
  struct pems_block block;
  struct pems_error error;
  char *const buf = aligned_alloc(4096, 4096);
  int failed = buf ? pems_disks_open(&disks, NULL, &error) : 1;
  if (failed) {
    return 1;
  }
  pems_dealer_begin(&dealer, PEMS_DEAL_CYCLIC, 1);
  failed = pems_block_new(disks, &dealer, 4096, &block, &error);
  strcpy(buf, "on disk");
  failed = failed || move(disks, block, buf, 1);
  memset(buf, 0, 4096);
  failed = failed || move(disks, block, buf, 0);
  puts(buf);
  pems_disks_close(disks);
  free(buf);
  return failed;
}
