#include "base/script.h"

#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

static bool read_line(char *line, const char *path) {
  FILE *f = fopen(path, "re");
  const bool read = f && fgets(line, SCRIPT_LINE, f);
  if (f) {
    fclose(f);
  }
  return read && strncmp(line, "#!", 2) == 0;
}

/* Without blanks around it. */
static char *trim(char *text) {
  text += strspn(text, blanks);
  size_t n = strlen(text);
  while (n && strchr(blanks, text[n - 1])) {
    n--;
  }
  text[n] = '\0';
  return text;
}

/* Splits off the first word; returns what follows it. */
static char *cut(char *text) {
  char *end = text + strcspn(text, blanks);
  if (*end) {
    *end++ = '\0';
  }
  return trim(end);
}

static bool split(struct script *s, char *text) {
  int n = 0;
  for (; *text && n < SCRIPT_WORDS; n++) {
    s->word[n] = text;
    text = cut(text);
  }
  s->word[n] = NULL;
  return n > 0 && !*text;
}

/* "env NAME", where NAME is all that follows, or "env -S WORDS". */
static bool read_env(struct script *s, char *argument) {
  if (strncmp(argument, "-S", 2) == 0) {
    return split(s, trim(argument + 2));
  }
  s->word[0] = argument;
  s->word[1] = NULL;
  return *argument && *argument != '-';
}

bool script_read(struct script *s, const char *path) {
  if (!read_line(s->line, path)) {
    return false;
  }
  char *const word = trim(s->line + 2);
  char *const argument = cut(word);
  if (strcmp(word, "/usr/bin/env") == 0) {
    return read_env(s, argument);
  }
  s->word[0] = word;
  s->word[1] = *argument ? argument : NULL;
  s->word[2] = NULL;
  return *word;
}
