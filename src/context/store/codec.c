#include "context/store/codec.h"

#include "config.h"
#include "os/native.h"

#include <string.h>

#if HAVE_LZ4
#include <lz4.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

struct codec {
  enum option_compress how;
  int level;
  size_t memory;
  void *lz4;
#if HAVE_ZSTD
  ZSTD_CCtx *packer;
  ZSTD_DCtx *unpacker;
#endif
};

static bool open_lz4(struct codec *k) {
#if HAVE_LZ4
  k->memory = (size_t)LZ4_sizeofState();
  k->lz4 = native_alloc(k->memory);
#endif
  return k->lz4;
}

#if HAVE_ZSTD
/* What it allocates it does for its first unit: here, not in a thread that
   swaps. */
static bool open_zstd(struct codec *k, size_t most) {
  k->packer = ZSTD_createCCtx();
  k->unpacker = ZSTD_createDCtx();
  char *const unit = native_zalloc(2, most);
  bool good = k->packer && k->unpacker && unit;
  if (good) {
    const size_t n = codec_pack(k, unit, most, unit + most, most);
    good = n && codec_unpack(k, unit + most, n, unit, most);
    k->memory = ZSTD_sizeof_CCtx(k->packer) + ZSTD_sizeof_DCtx(k->unpacker);
  }
  native_free(unit);
  return good;
}
#endif

/* Decompressing counts as much as compressing. */
static enum option_compress fastest(void) {
  return HAVE_LZ4 ? COMPRESS_LZ4 : COMPRESS_ZSTD;
}

static bool open_codec(struct codec *k, size_t most) {
  if (k->how == COMPRESS_LZ4) {
    return open_lz4(k);
  }
#if HAVE_ZSTD
  if (k->how == COMPRESS_ZSTD) {
    return open_zstd(k, most);
  }
#endif
  (void)most;
  return false;
}

struct codec *codec_new(enum option_compress how, int level, size_t most) {
  struct codec *k = native_zalloc(1, sizeof(*k));
  if (!k) {
    return NULL;
  }
  k->how = how == COMPRESS_AUTO ? fastest() : how;
  k->level = level ? level : 1;
  if (!open_codec(k, most)) {
    codec_free(k);
    k = NULL;
  }
  return k;
}

void codec_free(struct codec *k) {
  if (!k) {
    return;
  }
#if HAVE_ZSTD
  ZSTD_freeCCtx(k->packer);
  ZSTD_freeDCtx(k->unpacker);
#endif
  native_free(k->lz4);
  native_free(k);
}

size_t codec_memory(const struct codec *k) {
  return sizeof(*k) + k->memory;
}

size_t codec_pack(struct codec *k, const void *from, size_t n, void *to,
                  size_t room) {
#if HAVE_LZ4
  if (k->how == COMPRESS_LZ4) {
    const int packed =
        LZ4_compress_fast_extState(k->lz4, from, to, (int)n, (int)room, 1);
    return packed > 0 ? (size_t)packed : 0;
  }
#endif
#if HAVE_ZSTD
  if (k->how == COMPRESS_ZSTD) {
    const size_t packed =
        ZSTD_compressCCtx(k->packer, to, room, from, n, k->level);
    return ZSTD_isError(packed) ? 0 : packed;
  }
#endif
  (void)k, (void)from, (void)n, (void)to, (void)room;
  return 0;
}

bool codec_unpack(struct codec *k, const void *from, size_t packed, void *to,
                  size_t n) {
#if HAVE_LZ4
  if (k->how == COMPRESS_LZ4) {
    return LZ4_decompress_safe(from, to, (int)packed, (int)n) == (int)n;
  }
#endif
#if HAVE_ZSTD
  if (k->how == COMPRESS_ZSTD) {
    return ZSTD_decompressDCtx(k->unpacker, to, n, from, packed) == n;
  }
#endif
  (void)k, (void)from, (void)packed, (void)to, (void)n;
  return false;
}
