/* Compression of runs, by libraries that may not be there. */
#ifndef PEMS_EM_LINES_LINE_CODEC_H
#define PEMS_EM_LINES_LINE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

enum line_codec { LINE_CODEC_NONE, LINE_CODEC_LZ4, LINE_CODEC_ZSTD };

/* Whether pems was built with it. */
bool line_codec_there(enum line_codec codec);
/* Compresses n bytes into less than `room` bytes; 0 if it does not fit (then
   they are kept as they are). `work`: line_codec_work bytes, for one thread. */
size_t line_codec_pack(enum line_codec codec, const void *from, size_t n,
                       void *to, size_t room, void *work);
/* The other way round; false if `from` is not what pack made of n bytes. */
bool line_codec_unpack(enum line_codec codec, const void *from, size_t packed,
                       void *to, size_t n);
size_t line_codec_work(enum line_codec codec);

#endif
