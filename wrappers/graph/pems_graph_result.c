#include "wrappers/graph/pems_graph_result.h"

#include <stdio.h>
#include <string.h>

#include "wrappers/graph/pems_graph_options.h"

static int ends_with(const char *path, const char *end) {
  const size_t length = strlen(path), n = strlen(end);
  return length > n && strcmp(path + length - n, end) == 0;
}

enum graph_result_format graph_result_format(const char *word,
                                             const char *path) {
  static const char *const words[] = {"text", "csv", "binary", NULL};
  return word ? (enum graph_result_format)graph_option_choice("format", words,
                                                              word)
         : ends_with(path, ".csv") ? GRAPH_RESULT_CSV
         : ends_with(path, ".bin") ? GRAPH_RESULT_BINARY
                                   : GRAPH_RESULT_TEXT;
}

void graph_result_open(struct graph_result *r, const char *path,
                       enum graph_result_format format, const char *names) {
  r->format = format;
  if (digraph_out_open(&r->out, path, &r->error)) {
    graph_options_fail(&r->error);
  }
  if (format == GRAPH_RESULT_CSV) {
    digraph_out_text(&r->out, names);
    digraph_out_text(&r->out, "\n");
  }
}

static void put_binary(struct digraph_out *out, const struct graph_value *v) {
  const uint32_t half = (uint32_t)v->whole;
  switch (v->kind) {
  case GRAPH_INDEX:
    break;
  case GRAPH_U64:
    digraph_out_bytes(out, &v->whole, sizeof(v->whole));
    break;
  case GRAPH_U32:
  case GRAPH_NODE:
    digraph_out_bytes(out, &half, sizeof(half));
    break;
  case GRAPH_F64:
    digraph_out_bytes(out, &v->real, sizeof(v->real));
    break;
  }
}

static void put_text(struct digraph_out *out, const struct graph_value *v,
                     int csv, char after) {
  const char end[2] = {after, '\0'};
  char text[32];
  if (v->kind == GRAPH_F64) {
    snprintf(text, sizeof(text), "%.17g%c", v->real, after);
    digraph_out_text(out, text);
  } else if (v->kind == GRAPH_U64 && v->whole == UINT64_MAX) {
    digraph_out_text(out, csv ? "" : "inf");
    digraph_out_text(out, end);
  } else if (v->kind == GRAPH_NODE && v->whole == UINT32_MAX) {
    digraph_out_text(out, csv ? "" : "-");
    digraph_out_text(out, end);
  } else {
    digraph_out_number(out, v->whole, after);
  }
}

void graph_result_row(struct graph_result *r, const struct graph_value *value,
                      int n) {
  const int csv = r->format == GRAPH_RESULT_CSV;
  for (int i = 0; i < n; i++) {
    if (r->format == GRAPH_RESULT_BINARY) {
      put_binary(&r->out, &value[i]);
    } else {
      put_text(&r->out, &value[i], csv, i + 1 == n ? '\n' : csv ? ',' : ' ');
    }
  }
}

void graph_result_close(struct graph_result *r) {
  if (digraph_out_close(&r->out)) {
    graph_options_fail(&r->error);
  }
}
