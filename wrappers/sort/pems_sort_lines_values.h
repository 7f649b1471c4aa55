/* Values of the options of sort(1). What is none ends the process, with a
   message and MSG_USAGE. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_LINES_VALUES_H
#define PEMS_WRAPPERS_PEMS_SORT_LINES_VALUES_H

#include <stdint.h>

#include "em/lines/key_order.h"
#include "em/lines/line_sort.h"

enum sort_check { SORT_CHECK_NONE, SORT_CHECK_SAY, SORT_CHECK_QUIET };

/* A number of option --`what`; one beyond `most` is `most`. */
uint64_t sort_value_number(const char *what, const char *text, uint64_t least,
                           uint64_t most);
/* Bytes of -S: kibibytes unless there is a unit, or a part of the memory. */
uint64_t sort_value_buffer_size(const char *text);
/* Bytes of --memory. */
uint64_t sort_value_memory(const char *text);
/* The byte of -t, where `before` is the one given before, or KEY_BLANKS. */
int sort_value_separator(const char *text, int before);
/* Sets the order that --sort names by a word, or its beginning. */
void sort_value_order(struct key_order *o, const char *text);
/* Of -c (`text`: the word of --check, or NULL) or -C. */
enum sort_check sort_value_check(int letter, const char *text);
/* Of --compress-program. */
enum line_packing sort_value_packing(const char *text);

#endif
