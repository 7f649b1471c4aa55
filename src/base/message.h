/* Messages to the user: one line on stderr, from one place, once per job. */
#ifndef PEMS_BASE_MESSAGE_H
#define PEMS_BASE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Exit status for wrong options, environment or machine: nothing was run. */
#define MSG_USAGE 2
/* Exit status for a failure of pems or of the machine while running. */
#define MSG_FAILED 1

/* How the job ends once the message is out; the runtime sets it to something
   that takes all processes down (PMPI_Abort). It must not return. The default
   is msg_quit. */
typedef void msg_end_fn(int status);

/* Registers `end`. Not thread-safe; called once, before threads start. */
void msg_set_end(msg_end_fn *end);

/* Ends this process at once, whatever _exit means to the program (it ends one
   VP only). */
_Noreturn void msg_quit(int status);

/* Asked by msg_fail before it prints: is this the first process of the job to
   fail? Others print nothing; `first` returns to them only when the line is
   out, since they end the job then. Safe in a signal handler. */
typedef bool msg_first_fn(void);
/* Called by the first one when its line is out. Safe in a signal handler. */
typedef void msg_said_fn(void);
/* Not thread-safe; called once, before threads start. */
void msg_set_first(msg_first_fn *first, msg_said_fn *said);

/* True once msg_fail was called. */
int msg_failing(void);

/* When false, msg_fail and msg_warn of this process print nothing (all
   processes find the same bad option; one of them says it). */
void msg_set_speaker(bool speaks);

/* Replaces control characters by '?': those of file names, options and other
   processes' answers may move the cursor or write over what stands there. A
   newline stays where two blanks follow: it begins a row of a list. All
   messages go through it. Safe in a signal handler. */
void msg_clean(char *text, size_t n);

/* Prints "pems: <formatted>\n" with one write(2) and ends the job. The text
   has the form "<what failed>: <the value>: <what to do>". Only the first call
   in a process prints; later ones (other threads) just wait for the end.
   Thread-safe. Does not allocate. */
_Noreturn void msg_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the job as msg_fail does, where another process says why. */
_Noreturn void msg_end(int status);

/* Of a job on several hosts: the name of this one, which messages about what is
   wrong with it begin with. "" or not called: it is the only one. Not
   thread-safe; called once, before threads start. */
void msg_set_host(const char *name);
/* As msg_fail and msg_warn, for what this host lacks: space, memory, threads.
 */
_Noreturn void msg_fail_here(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void msg_warn_here(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Whether this process prints what it notices (msg_notice): one process of each
   host does. True until it is called. */
void msg_set_noticing(bool notices);
/* As msg_warn_here, for what every process of a host will find: something that
   was asked for is replaced by something else, say. */
void msg_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where msg_notice's lines go instead of stderr, without "pems: "; NULL: to
   stderr. Not thread-safe; called before threads start. */
void msg_set_notice(void (*notice)(const char *line));

/* Prints "pems: <formatted>\n" and goes on. Thread-safe. */
void msg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
