/* A file that is read from its beginning to its end; what gzip or zstd have
   compressed, as it was before. "-" is standard input. */
#ifndef PEMS_DIGRAPH_DIGRAPH_INPUT_H
#define PEMS_DIGRAPH_DIGRAPH_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

struct digraph_input;

/* 0 or an errno value, also where pems was built without that compression. */
int digraph_input_open(struct digraph_input **input, const char *path,
                       struct pems_error *error);
void digraph_input_close(struct digraph_input *input);

/* Reads n bytes; *got is less at the end only. 0, or an errno value: EINVAL
   where compressed data are damaged or end too early. */
int digraph_input_read(struct digraph_input *input, void *to, size_t n,
                       size_t *got, struct pems_error *error);

/* Bytes that reading will give; 0: that cannot be told. */
uint64_t digraph_input_size(const struct digraph_input *input);

/* `path` without an ending that tells how it is compressed: how long it is. */
size_t digraph_input_name(const char *path);

#endif
