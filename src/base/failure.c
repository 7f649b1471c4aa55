#include "base/failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure(struct pems_error *error, int code, const char *format, ...) {
  if (error) {
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof(error->text), format, list);
    va_end(list);
    error->code = code;
  }
  return code;
}
