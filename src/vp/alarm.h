/* Calls a function at a time that is set: for what nobody else will notice. */
#ifndef PEMS_VP_ALARM_H
#define PEMS_VP_ALARM_H

#include <stdint.h>

/* f is called on a thread of its own, with no lock held. One at a time. The
   thread starts when an alarm is set for the first time. */
typedef void alarm_fn(void);
void alarm_create(alarm_fn *f);
/* f is to be called at `when` (clock_ns), or when an earlier alarm that has not
   rung yet is due. Cheap, from any thread; f may call it. */
void alarm_set(uint64_t when);
/* Waits for f if it is being called; it will not be any more. The caller holds
   no lock that f takes. */
void alarm_destroy(void);

#endif
