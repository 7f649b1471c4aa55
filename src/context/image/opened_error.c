#include "context/image/opened_error.h"

#include <stdarg.h>
#include <stdio.h>

void opened_error_say(struct opened_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof(error->text), format, args);
  va_end(args);
}
