#include "em/lines/line_codec.h"

#include "config.h"

#if HAVE_LZ4
#include <lz4.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

bool line_codec_there(enum line_codec codec) {
  switch (codec) {
  case LINE_CODEC_LZ4:
    return HAVE_LZ4;
  case LINE_CODEC_ZSTD:
    return HAVE_ZSTD;
  default:
    return true;
  }
}

#if HAVE_LZ4
static size_t lz4_pack(const void *from, size_t n, void *to, size_t room,
                       void *work) {
  const int packed =
      LZ4_compress_fast_extState(work, from, to, (int)n, (int)room, 1);
  return packed > 0 ? (size_t)packed : 0;
}
#endif

#if HAVE_ZSTD
static size_t zstd_pack(const void *from, size_t n, void *to, size_t room) {
  const size_t packed = ZSTD_compress(to, room, from, n, 1);
  return ZSTD_isError(packed) ? 0 : packed;
}
#endif

size_t line_codec_pack(enum line_codec codec, const void *from, size_t n,
                       void *to, size_t room, void *work) {
  (void)from, (void)n, (void)to, (void)room, (void)work;
#if HAVE_LZ4
  if (codec == LINE_CODEC_LZ4) {
    return lz4_pack(from, n, to, room, work);
  }
#endif
#if HAVE_ZSTD
  if (codec == LINE_CODEC_ZSTD) {
    return zstd_pack(from, n, to, room);
  }
#endif
  (void)codec;
  return 0;
}

bool line_codec_unpack(enum line_codec codec, const void *from, size_t packed,
                       void *to, size_t n) {
  (void)from, (void)packed, (void)to, (void)n;
#if HAVE_LZ4
  if (codec == LINE_CODEC_LZ4) {
    return LZ4_decompress_safe(from, to, (int)packed, (int)n) == (int)n;
  }
#endif
#if HAVE_ZSTD
  if (codec == LINE_CODEC_ZSTD) {
    return ZSTD_decompress(to, n, from, packed) == n;
  }
#endif
  (void)codec;
  return false;
}

size_t line_codec_work(enum line_codec codec) {
#if HAVE_LZ4
  if (codec == LINE_CODEC_LZ4) {
    return (size_t)LZ4_sizeofState();
  }
#endif
  (void)codec;
  return 0;
}
