/* Where ld.so looks for what a library opens. A copy has another name than its
   original, so $ORIGIN is expanded here. */
#include "context/image/search_path.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct link_map *map, int64_t tag) {
  const char *strings = NULL;
  const ElfW(Dyn) *found = NULL;
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_STRTAB) {
      strings = (const char *)d->d_un.d_ptr;
    }
    if (d->d_tag == tag) {
      found = d;
    }
  }
  if (strings && (uintptr_t)strings < map->l_addr) {
    strings += map->l_addr;
  }
  return strings && found ? strings + found->d_un.d_val : NULL;
}

/* The length of a variable's name at the start of text, or 0. */
static size_t origin_at(const char *text) {
  static const char *const forms[] = {"$ORIGIN", "${ORIGIN}"};
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
    const size_t n = strlen(forms[i]);
    if (strncmp(text, forms[i], n) == 0) {
      return n;
    }
  }
  return 0;
}

int search_path_expand(const char *text, const char *path, char *to,
                       size_t size) {
  const char *slash = strrchr(path, '/');
  const size_t dir = slash ? (size_t)(slash - path) : 0;
  size_t len = 0;
  while (*text && len + dir + 1 < size) {
    const size_t n = origin_at(text);
    if (n > 0) {
      memcpy(to + len, path, dir);
      len += dir;
      text += n;
    } else {
      to[len++] = *text++;
    }
  }
  to[len] = '\0';
  return *text ? -1 : 0;
}

static void append(const char *text, const char *path, char *to, size_t size) {
  const size_t len = strlen(to);
  const size_t colon = len > 0;
  if (text && len + colon < size) {
    if (search_path_expand(text, path, to + len + colon, size - len - colon)) {
      to[len] = '\0';
    } else if (colon) {
      to[len] = ':';
    }
  }
}

void search_path_of(const struct link_map *map, const char *path,
                    const struct link_map *program, const char *program_path,
                    char *to, size_t size) {
  const char *runpath = text_of(map, DT_RUNPATH);
  to[0] = '\0';
  append(runpath ? runpath : text_of(map, DT_RPATH), path, to, size);
  if (!runpath && map != program && !text_of(program, DT_RUNPATH)) {
    append(text_of(program, DT_RPATH), program_path, to, size);
  }
}
