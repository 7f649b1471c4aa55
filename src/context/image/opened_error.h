/* Why a call of dlopen, dlclose or dlsym failed. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_ERROR_H
#define PEMS_CONTEXT_IMAGE_OPENED_ERROR_H

#include <stdarg.h>
#include <stdio.h>

/* As dlerror tells it; empty if the call did not fail. */
struct opened_error {
  char text[1024];
};

__attribute__((format(printf, 2, 3))) static inline void
opened_error_say(struct opened_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof(error->text), format, args);
  va_end(args);
}

#endif
