/* Requests that are started together, so that a disk gets them as one list. */
#ifndef PEMS_EM_CORE_REQUEST_LIST_H
#define PEMS_EM_CORE_REQUEST_LIST_H

#include "disk/file.h"
#include "pems/disk.h"

enum { REQUEST_LIST_MOST = 64 };

/* A local variable: set one of the first two. */
struct request_list {
  struct pems_disks *disks;
  struct disk_file *file; /* or NULL */
  int n;
  struct pems_request *request[REQUEST_LIST_MOST];
};

/* Starts what is in the list. */
static inline void request_list_start(struct request_list *l) {
  if (l->n > 0 && l->file) {
    disk_file_start(l->file, l->request, l->n);
  } else if (l->n > 0) {
    pems_disks_start(l->disks, l->request, l->n);
  }
  l->n = 0;
}

/* Adds one; starts all when the list is full. */
static inline void request_list_add(struct request_list *l,
                                    struct pems_request *request) {
  l->request[l->n++] = request;
  if (l->n == REQUEST_LIST_MOST) {
    request_list_start(l);
  }
}

#endif
