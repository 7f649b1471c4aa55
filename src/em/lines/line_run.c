#include "em/lines/line_run.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/lines/line_slots.h"

enum {
  NUMBER = 10, /* bytes of a number, at most */
  HEAD = 8,    /* of a frame: bytes packed, or 0 if it is not, and bytes */
};

void line_run_free(struct line_run *run) {
  line_blocks_free(&run->blocks);
}

static size_t put_number(unsigned char *at, size_t n) {
  size_t used = 0;
  for (; n >= 128; n >>= 7) {
    at[used++] = (unsigned char)(n | 128);
  }
  at[used++] = (unsigned char)n;
  return used;
}

/* --- writing --- */

static size_t packed_room(enum line_codec codec) {
  return codec ? HEAD + LINE_RUN_FRAME : 0;
}

size_t line_run_out_memory(enum line_codec codec) {
  return LINE_RUN_FRAME + packed_room(codec) + line_codec_work(codec) +
         4 * (size_t)MEMORY_PAGE;
}

int line_run_begin(struct line_run_out *out, struct line_run *run,
                   struct memory *memory, struct pems_error *error) {
  *out = (struct line_run_out){.run = run, .memory = memory};
  out->frame = memory_get(memory, line_run_out_memory(run->codec));
  if (!out->frame) {
    return failure(error, ENOMEM,
                   "memory for sorting: too little to write a run: give more");
  }
  out->work = out->frame + LINE_RUN_FRAME + MEMORY_PAGE +
              (packed_room(run->codec) + 63) / 64 * 64;
  return line_blocks_begin(&out->out, &run->blocks, memory, error);
}

static int put_frame(struct line_run_out *out, struct pems_error *error) {
  const size_t n = out->filled;
  out->filled = 0;
  if (n == 0) {
    return 0;
  }
  if (!out->run->codec) {
    return line_blocks_put(&out->out, out->frame, n, error);
  }
  unsigned char *const packed = out->frame + LINE_RUN_FRAME;
  const uint32_t m = (uint32_t)line_codec_pack(out->run->codec, out->frame, n,
                                               packed + HEAD, n - 1, out->work);
  const uint32_t head[2] = {m, (uint32_t)n};
  memcpy(packed, head, HEAD);
  if (m) {
    return line_blocks_put(&out->out, packed, HEAD + m, error);
  }
  const int failed = line_blocks_put(&out->out, head, HEAD, error);
  return failed ? failed : line_blocks_put(&out->out, out->frame, n, error);
}

static int put_bytes(struct line_run_out *out, const unsigned char *bytes,
                     size_t n, struct pems_error *error) {
  out->run->raw += n;
  while (n > 0) {
    const size_t room = LINE_RUN_FRAME - out->filled,
                 part = n < room ? n : room;
    memcpy(out->frame + out->filled, bytes, part);
    out->filled += part;
    bytes += part;
    n -= part;
    if (out->filled == LINE_RUN_FRAME) {
      const int failed = put_frame(out, error);
      if (failed) {
        return failed;
      }
    }
  }
  return 0;
}

int line_run_put(struct line_run_out *out, const unsigned char *string,
                 size_t string_n, size_t common, const unsigned char *line,
                 size_t line_n, struct pems_error *error) {
  struct line_run *const run = out->run;
  unsigned char head[3 * NUMBER];
  size_t n = put_number(head, common);
  n += put_number(head + n, string_n - common);
  run->string = string_n > run->string ? string_n : run->string;
  run->lines++;
  if (!run->whole) {
    n += put_number(head + n, line_n);
    run->line = line_n > run->line ? line_n : run->line;
  }
  int failed = put_bytes(out, head, n, error);
  if (!failed) {
    failed = put_bytes(out, string + common, string_n - common, error);
  }
  return failed || run->whole ? failed : put_bytes(out, line, line_n, error);
}

int line_run_end(struct line_run_out *out, struct pems_error *error) {
  const int failed = put_frame(out, error);
  return failed ? failed : line_blocks_end(&out->out, error);
}

void line_run_out_free(struct line_run_out *out) {
  line_blocks_out_free(&out->out);
  if (out->frame) {
    memory_put(out->memory, out->frame, line_run_out_memory(out->run->codec));
  }
  out->frame = NULL;
}

/* --- reading --- */

/* Behind strings bytes are read that are not theirs; lines have one more. */
size_t line_run_in_memory(const struct line_run *run) {
  return run->string + LINE_SPARE + (run->whole ? 0 : run->line + LINE_SPARE) +
         (run->codec ? 2 * LINE_RUN_FRAME : 0);
}

int line_run_open(struct line_run_in *in, struct line_run *run, size_t piece,
                  struct memory *memory, struct pems_error *error) {
  *in = (struct line_run_in){.run = run, .memory = memory, .left = run->lines};
  in->space_n = line_run_in_memory(run);
  in->space = memory_get(memory, in->space_n);
  if (!in->space) {
    return failure(error, ENOMEM,
                   "memory for merging: lines of %zu bytes: give more",
                   run->string > run->line ? run->string : run->line);
  }
  in->string = in->space;
  in->line_space = in->string + run->string + LINE_SPARE;
  if (run->codec) {
    in->frame = in->space + in->space_n - 2 * LINE_RUN_FRAME;
    in->packed = in->frame + LINE_RUN_FRAME;
  }
  return line_blocks_open(&in->in, &run->blocks, piece, memory, error);
}

static int bad_frame(const struct line_run_in *in, struct pems_error *error) {
  return failure(error, EIO,
                 "scratch space: %s: not what was written: check "
                 "the disk",
                 pems_disks_path(in->run->blocks.disks, 0));
}

static int unpack_frame(struct line_run_in *in, struct pems_error *error) {
  uint32_t head[2];
  int failed = line_blocks_read(&in->in, head, HEAD, error);
  if (failed) {
    return failed;
  }
  const uint32_t packed = head[0], n = head[1];
  if (packed > LINE_RUN_FRAME || n > LINE_RUN_FRAME) {
    return bad_frame(in, error);
  }
  failed = line_blocks_read(&in->in, packed ? in->packed : in->frame,
                            packed ? packed : n, error);
  if (!failed && packed &&
      !line_codec_unpack(in->run->codec, in->packed, packed, in->frame, n)) {
    failed = bad_frame(in, error);
  }
  in->at = in->frame;
  in->end = in->frame + n;
  return failed;
}

/* Once all bytes are used: the next ones. */
static int more(struct line_run_in *in, struct pems_error *error) {
  if (in->run->codec) {
    return unpack_frame(in, error);
  }
  in->in.at = in->in.end;
  const int failed = line_blocks_next(&in->in, error);
  in->at = in->in.at;
  in->end = in->in.end;
  return failed ? failed : in->at == in->end ? bad_frame(in, error) : 0;
}

static int get_bytes(struct line_run_in *in, unsigned char *to, size_t n,
                     struct pems_error *error) {
  while (n > 0) {
    const size_t there = (size_t)(in->end - in->at);
    const size_t part = n < there ? n : there;
    memcpy(to, in->at, part);
    in->at += part;
    to += part;
    n -= part;
    const int failed = n > 0 ? more(in, error) : 0;
    if (failed) {
      return failed;
    }
  }
  return 0;
}

static int get_number(struct line_run_in *in, size_t *number,
                      struct pems_error *error) {
  *number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const int failed = in->at == in->end ? more(in, error) : 0;
    if (failed) {
      return failed;
    }
    const unsigned char c = *in->at++;
    *number |= (size_t)(c & 127) << shift;
    if (c < 128) {
      return 0;
    }
  }
  return bad_frame(in, error);
}

/* The line, where it lies, or a copy if it goes on in the next piece. */
static int get_line(struct line_run_in *in, struct pems_error *error) {
  if ((size_t)(in->end - in->at) > in->line_n) {
    in->line = in->at;
    in->at += in->line_n;
    return 0;
  }
  in->line = in->line_space;
  return get_bytes(in, in->line_space, in->line_n, error);
}

int line_run_next(struct line_run_in *in, bool *there,
                  struct pems_error *error) {
  const struct line_run *const run = in->run;
  size_t rest = 0;
  *there = in->left > 0;
  if (!*there) {
    return 0;
  }
  in->left--;
  int failed = get_number(in, &in->common, error);
  failed = failed ? failed : get_number(in, &rest, error);
  if (!failed && !run->whole) {
    failed = get_number(in, &in->line_n, error);
  }
  if (failed) {
    return failed;
  }
  in->string_n = in->common + rest;
  if (in->string_n > run->string || (!run->whole && in->line_n > run->line)) {
    return bad_frame(in, error);
  }
  failed = get_bytes(in, in->string + in->common, rest, error);
  if (!failed && !run->whole) {
    return get_line(in, error);
  }
  in->line = in->string;
  in->line_n = in->string_n;
  return failed;
}

void line_run_in_free(struct line_run_in *in) {
  line_blocks_in_free(&in->in);
  if (in->space) {
    memory_put(in->memory, in->space, in->space_n);
  }
  in->space = NULL;
}
