/* A file that is written under another name until it is complete. */
#ifndef APPS_GRAPH_GRAPH_OUT_H
#define APPS_GRAPH_GRAPH_OUT_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* After something failed, nothing more is written, and closing says so. */
struct graph_out {
  const char *path;
  char *temporary; /* its name until then; NULL: written as it is */
  int fd;
  char *buffer;
  size_t used;
  int code; /* the errno value of what failed first */
  struct pems_error *error;
};

int graph_out_open(struct graph_out *o, const char *path,
                   struct pems_error *error);

void graph_out_bytes(struct graph_out *o, const void *bytes, uint64_t n);
/* Zeros until so many bytes have a multiple of `unit`. */
void graph_out_pad(struct graph_out *o, uint64_t bytes, size_t unit);
void graph_out_text(struct graph_out *o, const char *text);
void graph_out_number(struct graph_out *o, uint64_t number, char after);
void graph_out_signed(struct graph_out *o, int32_t number, char after);

/* Gives the file its name, or removes it if something failed. 0 or an errno
   value. */
int graph_out_close(struct graph_out *o);

#endif
