/* stdout of this copy: a stream of its own on file descriptor 1, so that the
   partial lines of different VPs never mix, and the functions that write to
   stdout without naming it. Its buffer is outside the VP's context, which may
   be on disk when the process ends. */
#define _GNU_SOURCE
#include "interpose/program/private.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <wchar.h>

/* Under -O, stdio.h makes macros or inline functions of some of them. */
#undef putchar
#undef putchar_unlocked
#undef putwchar
#undef putwchar_unlocked
#undef stdout

/* libc's other names of what is replaced here. */
extern FILE _IO_2_1_stdout_;
int _IO_fclose(FILE *f);
int _IO_fflush(FILE *f);
int _IO_setvbuf(FILE *f, char *buffer, int mode, size_t size);
void _IO_un_link(FILE *f) __attribute__((weak));
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list args);
int __vfwprintf_chk(FILE *f, int flag, const wchar_t *format, va_list args);

enum { BUFFER = 8192 }; /* bytes: no shorter line is ever torn */

FILE *stdout = &_IO_2_1_stdout_;
static FILE *on_fd1; /* ours, or NULL when fd 1 is closed */

/* Unlinked from libc's list of streams, so that fflush(NULL) of one VP does
   not tear the lines of the others nor wait for their locks. */
void pems_private_stdout_begin(void) {
  on_fd1 = pems_tagged_stdout ? pems_tagged_stdout() : NULL;
  if (on_fd1 == NULL) {
    on_fd1 = fdopen(1, "w");
  }
  if (on_fd1 == NULL) {
    return;
  }
  void *buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer != MAP_FAILED) {
    _IO_setvbuf(on_fd1, buffer, _IOLBF, BUFFER);
  }
  if (_IO_un_link) {
    _IO_un_link(on_fd1);
  }
  stdout = on_fd1;
}

void pems_private_stdout_flush(void) {
  if (on_fd1) {
    _IO_fflush(on_fd1);
  }
}

int fflush(FILE *f) {
  if (f != NULL) {
    return _IO_fflush(f);
  }
  const int own = on_fd1 ? _IO_fflush(on_fd1) : 0;
  const int others = _IO_fflush(NULL);
  return own != 0 ? own : others;
}

/* Descriptor 1 belongs to all VPs: closing the stream leaves it open. */
int fclose(FILE *f) {
  if (on_fd1 == NULL || f != on_fd1) {
    return _IO_fclose(f);
  }
  const int failed = ferror(f);
  return _IO_fflush(f) != 0 || failed ? EOF : 0;
}

typedef FILE *freopen_fn(const char *path, const char *mode, FILE *f);

static FILE *reopen(const char *libc_name, const char *path, const char *mode,
                    FILE *f) {
  if (path != NULL && on_fd1 != NULL && f == on_fd1) {
    _IO_fflush(f);
    FILE *file = fopen(path, mode);
    if (file) {
      stdout = file;
    }
    return file;
  }
  freopen_fn *next = (freopen_fn *)dlsym(RTLD_NEXT, libc_name);
  if (next == NULL) {
    errno = ENOSYS;
    return NULL;
  }
  return next(path, mode, f);
}

/* Redirects this VP only: `stdout` becomes another stream. */
FILE *freopen(const char *path, const char *mode, FILE *f) {
  return reopen("freopen", path, mode, f);
}

FILE *freopen64(const char *path, const char *mode, FILE *f) {
  return reopen("freopen64", path, mode, f);
}

int vprintf(const char *format, va_list args) {
  return vfprintf(stdout, format, args);
}

int printf(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vfprintf(stdout, format, args);
  va_end(args);
  return n;
}

int __vprintf_chk(int flag, const char *format, va_list args);
int __vprintf_chk(int flag, const char *format, va_list args) {
  return __vfprintf_chk(stdout, flag, format, args);
}

int __printf_chk(int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = __vfprintf_chk(stdout, flag, format, args);
  va_end(args);
  return n;
}

int puts(const char *text) {
  flockfile(stdout);
  int rc = fputs_unlocked(text, stdout);
  if (rc >= 0 && putc_unlocked('\n', stdout) == EOF) {
    rc = EOF;
  }
  funlockfile(stdout);
  return rc < 0 ? EOF : rc;
}

int putchar(int c) {
  return putc(c, stdout);
}

int putchar_unlocked(int c) {
  return putc_unlocked(c, stdout);
}

int vwprintf(const wchar_t *format, va_list args) {
  return vfwprintf(stdout, format, args);
}

int wprintf(const wchar_t *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vfwprintf(stdout, format, args);
  va_end(args);
  return n;
}

int __vwprintf_chk(int flag, const wchar_t *format, va_list args);
int __vwprintf_chk(int flag, const wchar_t *format, va_list args) {
  return __vfwprintf_chk(stdout, flag, format, args);
}

int __wprintf_chk(int flag, const wchar_t *format, ...);
int __wprintf_chk(int flag, const wchar_t *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = __vfwprintf_chk(stdout, flag, format, args);
  va_end(args);
  return n;
}

wint_t putwchar(wchar_t c) {
  return putwc(c, stdout);
}

wint_t putwchar_unlocked(wchar_t c) {
  return putwc_unlocked(c, stdout);
}
