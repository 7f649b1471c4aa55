/* Why a call of dlopen, dlclose or dlsym failed. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_ERROR_H
#define PEMS_CONTEXT_IMAGE_OPENED_ERROR_H

/* As dlerror tells it; empty if the call did not fail. */
struct opened_error {
  char text[1024];
};

void opened_error_say(struct opened_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
