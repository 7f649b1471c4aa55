/* A file that has no name until it is complete; or a pipe, a device, standard
   output. */
#ifndef PEMS_DIGRAPH_DIGRAPH_OUT_H
#define PEMS_DIGRAPH_DIGRAPH_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>
#include <pems/status.h>

struct disk_file;

/* After something failed, nothing more is written, and closing says so. */
struct digraph_out {
  const char *path;
  struct disk_file *file; /* NULL: `fd` is written to */
  int fd;
  char *buffer;                   /* two pieces */
  struct pems_request request[2]; /* of the file, one for each; n: under way */
  int current;                    /* the piece that is filled */
  size_t used;                    /* bytes of it */
  uint64_t written;               /* bytes before it */
  int code;                       /* the errno value of what failed first */
  struct pems_error *error;
};

/* "-" is standard output. */
bool digraph_out_standard(const char *path);

int digraph_out_open(struct digraph_out *o, const char *path,
                     struct pems_error *error);

void digraph_out_bytes(struct digraph_out *o, const void *bytes, uint64_t n);
/* Zeros until so many bytes have a multiple of `unit`. */
void digraph_out_pad(struct digraph_out *o, uint64_t bytes, size_t unit);
void digraph_out_text(struct digraph_out *o, const char *text);
void digraph_out_number(struct digraph_out *o, uint64_t number, char after);
void digraph_out_signed(struct digraph_out *o, int32_t number, char after);

/* Gives the file its name, or removes it if something failed. 0 or an errno
   value. */
int digraph_out_close(struct digraph_out *o);

#endif
