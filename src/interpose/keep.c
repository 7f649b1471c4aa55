#include "interpose/keep.h"

#include "base/failure.h"
#include "interpose/descriptor.h"
#include "interpose/dlfcn.h"
#include "interpose/exit.h"
#include "interpose/file_mapping.h"
#include "interpose/handler.h"
#include "interpose/itimer.h"
#include "interpose/keys.h"
#include "interpose/locale.h"
#include "interpose/record_lock.h"
#include "interpose/stdio.h"
#include "interpose/unwind.h"
#include "vp/vp.h"

#include <errno.h>

static const char *in_the_way(const struct vp *vp) {
  return vp->helpers || vp->shared ? "threads, or MPI_THREAD_MULTIPLE"
         : keys_has_shared(vp)     ? "keys of threads' data of a shared library"
         : itimers_has_others()    ? "timers of timer_create"
         : vp->mapped ? "shared mappings, or mappings of files that "
                        "could not be made again"
         : vp->context && vp->context->oversize.n
             ? "memory that does not fit in its context"
         : record_locks_held(vp) ? "record locks of files"
         : vp->attached          ? "System V's shared memory"
         : unwind_has_tables(vp) ? "machine code that its program has made"
                                 : NULL;
}

/* What has a name of its own comes first: it may hold such memory, too. */
int keep_check(struct vp *vp, struct pems_error *error) {
  const char *const what = in_the_way(vp);
  if (what) {
    return failure(error, ENOTSUP, "it has %s", what);
  }
  int code = file_mappings_check(vp, error);
  code = code ? code : descriptors_check(vp, error);
  code = code ? code : stdio_check(vp, error);
  code = code ? code : dlfcn_check(vp, error);
  return code || !vp->native
             ? code
             : failure(error, ENOTSUP,
                       "it has memory of the C library: an open directory, a "
                       "stream without a file, or the like");
}

int keep_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *error) {
  int code = handlers_save(vp, o, error);
  code = code ? code : itimers_save(o, error);
  code = code ? code : keys_save(vp, o, error);
  code = code ? code : exit_save(o, error);
  code = code ? code : locale_save(o, error);
  code = code ? code : descriptors_save(vp, o, error);
  code = code ? code : stdio_save(vp, o, error);
  code = code ? code : file_mappings_save(vp, o, error);
  return code ? code : dlfcn_save(vp, o, error);
}

int keep_load(struct vp *vp, struct checkpoint_in *in,
              struct pems_error *error) {
  int code = handlers_load(vp, in, error);
  code = code ? code : itimers_load(in, error);
  code = code ? code : keys_load(vp, in, error);
  code = code ? code : exit_load(in, error);
  code = code ? code : locale_load(in, error);
  code = code ? code : descriptors_load(vp, in, error);
  code = code ? code : stdio_load(vp, in, error);
  code = code ? code : file_mappings_load(vp, in, error);
  return code ? code : dlfcn_load(in, error);
}

int keep_open_again(struct vp *vp, const char *name, struct pems_error *error) {
  return dlfcn_open_again(vp, name, error);
}

void keep_settle(struct vp *vp) {
  dlfcn_settle(vp);
}
