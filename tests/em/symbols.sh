#!/bin/sh
# What the shared libraries export and need: libpems-em and pems-sort know nothing
# of MPI and replace no function, so that a program that only wants to sort keeps
# its own malloc and threads.
. "$(dirname "$0")/../wrappers/lib.sh"
libs=${top_builddir:-.}/.libs
: >out
: >err

# exported LIBRARY: the names that it defines, without versions.
exported() {
  nm -D --defined-only "$libs/$1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }'
}

# none TITLE: standard input has to be empty.
none() {
  if lines=$(grep .); then
    printf '%s\n' "$lines" >out
    fail "$1"
  else
    echo "PASS $1"
  fi
}

exported libpems-em.so >em
exported libpems.so >pems
[ "$(wc -l <em)" -gt 100 ] || fail "libpems-em exports its functions"
grep -v '^pems_' em | none "libpems-em exports pems_* only"
exported libpems-mpi.so >mpi
[ "$(wc -l <mpi)" -gt 300 ] || fail "libpems-mpi exports MPI"
grep -v '^\(MPIX\?_\|mpix\?_\)' mpi | none "libpems-mpi exports MPI only"
for name in malloc MPI_Send pthread_create exit; do
  grep -x "P\?$name" em | none "libpems-em does not replace $name"
done
grep -qx malloc pems || fail "libpems replaces malloc"
sort em pems | uniq -d | none "no name is in both"
readelf -d "$libs/libpems-em.so" | grep 'NEEDED.*\(mpi\|libpems\.\)' |
  none "libpems-em needs neither MPI nor libpems"
readelf -d "$libs/libpems.so" | grep -q 'NEEDED.*libpems-em\.so\.0' ||
  fail "libpems needs libpems-em"
ldd "$top_builddir/pems-sort" | grep 'libmpi' | none "pems-sort needs no MPI"

# Its own malloc is used by the program, and may be anything.
cat >own.c <<'END'
#include <pems/sort.h>
#include <pems/version.h>
#include <stdio.h>
#include <stdlib.h>

static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;
static int calls;

void *malloc(size_t n) {
  void *const p = heap + used;
  used += (n + 15) / 16 * 16;
  calls++;
  return used > sizeof(heap) ? NULL : p;
}
void *calloc(size_t count, size_t n) {
  return malloc(count * n);
}
void *realloc(void *p, size_t n) {
  char *const to = malloc(n);
  for (size_t i = 0; p && i < n; i++) {
    to[i] = ((char *)p)[i];
  }
  return to;
}
void free(void *p) {
  (void)p;
}

int main(void) {
  struct pems_sort_options o = {.memory = 1 << 20};
  struct pems_sorter *s;
  struct pems_error e;
  const double x[] = {2.5, -1, 7};
  const void *got;
  size_t n;
  o.record.size = sizeof(*x);
  o.record.key = PEMS_KEY_F64;
  int *const mine = malloc(sizeof(*mine));
  if (calls != 1 || (char *)mine < heap || (char *)mine >= heap + sizeof(heap)) {
    puts("malloc is another's");
    return 1;
  }
  if (pems_sorter_new(&s, &o, &e) || pems_sorter_push(s, x, 3, &e) ||
      pems_sorter_finish(s, &e) || pems_sorter_pull(s, &got, &n, &e)) {
    puts(e.text);
    return 1;
  }
  const double *const y = got;
  printf("%g %g %g %d\n", y[0], y[1], y[2],
         n == 3 && pems_version_number() == PEMS_VERSION_NUMBER);
  pems_sorter_free(s);
  return 0;
}
END
PKG_CONFIG_PATH=${top_builddir:-.}/wrappers
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # a list of options
if ${REAL_CC:-cc} -O2 -fno-builtin -o own own.c \
  $(pkg-config --cflags --libs pems-em-uninstalled) >out 2>&1 &&
  ./own >out 2>&1 && [ "$(cat out)" = "-1 2.5 7 1" ]; then
  echo "PASS a program with its own malloc sorts"
else
  fail "a program with its own malloc sorts"
fi

conclude
