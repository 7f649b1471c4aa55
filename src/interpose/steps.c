#include "interpose/steps.h"

#include "interpose/descriptor.h"
#include "interpose/exit.h"
#include "interpose/fatal.h"
#include "interpose/file_mapping.h"
#include "interpose/handler.h"
#include "interpose/itimer.h"
#include "interpose/keys.h"
#include "interpose/record_lock.h"
#include "interpose/stdio.h"
#include "interpose/unwind.h"

static void begin(struct vp *vp) {
  keys_begin_thread(vp);
  handlers_begin(vp);
}

/* Timers first: no signal of theirs comes after the handlers are gone. */
static void end(struct vp *vp) {
  itimers_end();
  handlers_end(vp);
  stdio_end(vp);
  record_locks_end(vp);
  descriptors_end(vp);
  file_mappings_end(vp);
  unwind_end(vp);
}

const struct vp_interposer steps = {
    .install = fatal_install,
    .stack_new = fatal_stack,
    .begin = begin,
    .destruct = exit_run_thread_destructors,
    .flush = stdio_flush,
    .forget = keys_forget,
    .end = end,
    .stack_free = fatal_stack_free,
};
