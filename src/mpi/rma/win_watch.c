/* VPs that read memory of a window again and again, until another changes it.
 */
#include "base/need.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"

/* What a member watches is noted before its VP reads again; so whoever changes
   it afterwards sees that, or else the VP sees the change. If the VP has waited
   since it last asked, others have run. */
void win_asked(struct win *win, struct win_member *target, bool vain) {
  if (vain && win->waits == win->vp->waits) {
    atomic_store(&win->me->watches, target);
    atomic_store(&target->watched, true);
    request_polled(win->vp, 1, 1);
  } else {
    request_poll_over(win->vp);
  }
  win->waits = win->vp->waits;
}

void win_changed(struct window *window, struct win_member *m) {
  atomic_thread_fence(memory_order_seq_cst);
  if (!atomic_load_explicit(&m->watched, memory_order_relaxed) ||
      !atomic_exchange(&m->watched, false)) {
    return;
  }
  run_queue_lock();
  for (int i = 0; i < window->n; i++) {
    struct win_member *by = &window->member[i];
    struct win_member *expected = m;
    if (atomic_compare_exchange_strong(&by->watches, &expected, NULL)) {
      request_poll_wake_locked(by->vp);
    }
  }
  run_queue_unlock();
}

/* --- epochs of groups --- */

void win_posted_locked(struct window *window, struct win_member *m, int by) {
  if (!m->posts) {
    m->posts = need_zalloc(window->size, sizeof(*m->posts), "MPI_Win_post");
  }
  m->posts[by]++;
  run_queue_wake_locked(&m->waiting);
}

void win_completed_locked(struct win_member *m) {
  m->completes++;
  run_queue_wake_locked(&m->waiting);
  request_poll_wake_locked(m->vp);
}
