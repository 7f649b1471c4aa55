/* Compressing one unit of a context's bytes: Debian's liblz4 and libzstd, where
   pems was built with them. */
#ifndef PEMS_CONTEXT_STORE_CODEC_H
#define PEMS_CONTEXT_STORE_CODEC_H

#include "config/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Compressor and decompressor of one thread at a time, with all the memory that
   units of `most` bytes take: later calls allocate none. */
struct codec;

/* NULL: out of memory, or pems was built without it (config/options.h refuses
   that). `level`: of zstd; 0: 1, the fastest. */
struct codec *codec_new(enum option_compress how, int level, size_t most);
void codec_free(struct codec *k);
/* Bytes of memory that it takes. */
size_t codec_memory(const struct codec *k);

/* Compresses n bytes to at most `room` bytes. Returns how many; 0: they do not
   fit. */
size_t codec_pack(struct codec *k, const void *from, size_t n, void *to,
                  size_t room);
/* Do `packed` bytes make exactly n bytes? They are at `to` then. Never writes
   behind those, whatever is at `from`. */
bool codec_unpack(struct codec *k, const void *from, size_t packed, void *to,
                  size_t n);

#endif
