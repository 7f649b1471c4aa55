/* An independent opinion on sorting, for the tests of pems-sort: makes records
   and lines, and checks what was made of them. Everything is in memory, and the
   order is written down here once more.

     reference records SIZE COUNT KIND SEED          to stdout
     reference lines COUNT LONGEST SEED              to stdout
     reference check SIZE KEY ORDER INPUT OUTPUT

   KIND: random; few (bytes of 0, 1, 0x7f, 0x80, 0xff); equal; numbered (few,
   and the last 4 bytes are the record's number). KEY: OFFSET:LENGTH or
   OFFSET:TYPE. ORDER: some of the letters d (descending) and s (stable). Exit
   status 1: the output is not the input in this order. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* splitmix64 */
static uint64_t next_random(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void fail(const char *text) {
  fprintf(stderr, "reference: %s\n", text);
  exit(1);
}

/* --- making input --- */

static void put_record(unsigned char *r, size_t size, const char *kind,
                       uint32_t number) {
  static const unsigned char few[] = {0, 1, 0x7f, 0x80, 0xff};
  for (size_t i = 0; i < size; i++) {
    r[i] = *kind == 'r'   ? (unsigned char)next_random()
           : *kind == 'e' ? 42
                          : few[next_random() % sizeof(few)];
  }
  if (*kind == 'n') {
    memcpy(r + size - sizeof(number), &number, sizeof(number));
  }
  fwrite(r, 1, size, stdout);
}

static void make_records(size_t size, long count, const char *kind) {
  unsigned char *const r = malloc(size);
  for (long i = 0; r && i < count; i++) {
    put_record(r, size, kind, (uint32_t)i);
  }
  free(r);
}

/* Bytes as they come but for newlines; many begin alike, some are empty, some
   as long as can be, some there twice. */
static void make_lines(long count, size_t longest) {
  char *const line = calloc(longest + 1, 1);
  for (long i = 0; line && i < count; i++) {
    size_t n = next_random() % 8 ? next_random() % (longest / 4 + 1)
                                 : next_random() % (longest + 1);
    const size_t same = next_random() % 2 ? next_random() % (n + 1) : 0;
    n = next_random() % 50 ? n : longest;
    for (size_t b = same; b < n; b++) {
      line[b] = (char)(next_random() % 4 ? next_random() : next_random() % 3);
      line[b] = line[b] == '\n' ? 0 : line[b];
    }
    for (int times = next_random() % 10 ? 1 : 2; times > 0; times--) {
      fwrite(line, 1, n, stdout);
      putchar('\n');
    }
  }
  free(line);
}

/* --- the order --- */

static size_t size, key_offset, key_size;
static char type; /* u, i, f, or b for bytes */
static int descending, stable;

static void read_key(const char *text) {
  char *end;
  key_offset = strtoul(text, &end, 10);
  type = *++end;
  if (type >= '0' && type <= '9') {
    type = 'b';
    key_size = strtoul(end, NULL, 10);
  } else {
    key_size = strtoul(end + 1, NULL, 10) / 8;
  }
  if (key_offset + key_size > size || key_size == 0) {
    fail("key");
  }
}

/* Numbers from their highest byte on; so that memcmp orders them. */
static void make_key(unsigned char *key, const unsigned char *record) {
  const unsigned char *const at = record + key_offset;
  if (type == 'b') {
    memcpy(key, at, key_size);
    return;
  }
  for (size_t i = 0; i < key_size; i++) {
    key[i] = at[key_size - 1 - i];
  }
  const bool negative = key[0] >= 0x80;
  if (type == 'f' && negative) {
    for (size_t i = 0; i < key_size; i++) {
      key[i] = (unsigned char)~key[i];
    }
  } else if (type != 'u') {
    key[0] ^= 0x80;
  }
}

static int compare_keys(const unsigned char *a, const unsigned char *b) {
  static unsigned char x[4096], y[4096];
  make_key(x, a);
  make_key(y, b);
  const int order = memcmp(x, y, key_size);
  return descending ? -order : order;
}

static int by_place(const unsigned char *a, const unsigned char *b) {
  return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b) {
  const unsigned char *const *const x = a, *const *const y = b;
  const int order = compare_keys(*x, *y);
  return order ? order : by_place(*x, *y);
}

static int by_all(const void *a, const void *b) {
  const unsigned char *const *const x = a, *const *const y = b;
  return memcmp(*x, *y, size);
}

/* --- checking --- */

static unsigned char *read_file(const char *path, size_t *count) {
  FILE *const f = fopen(path, "rb");
  if (!f) {
    fail("cannot read a file");
  }
  fseek(f, 0, SEEK_END);
  const size_t n = (size_t)ftell(f);
  unsigned char *const all = malloc(n + 1);
  rewind(f);
  if (!all || fread(all, 1, n, f) != n) {
    fail("cannot read a file");
  }
  fclose(f);
  if (n % size) {
    fail("no whole records");
  }
  *count = n / size;
  return all;
}

static const unsigned char **sorted(const unsigned char *all, size_t count,
                                    int order(const void *, const void *)) {
  const unsigned char **const list = malloc((count + 1) * sizeof(*list));
  if (!list) {
    fail("no memory");
  }
  for (size_t i = 0; i < count; i++) {
    list[i] = all + i * size;
  }
  qsort(list, count, sizeof(*list), order);
  return list;
}

static void check(const char *input, const char *output) {
  size_t n, there;
  unsigned char *const in = read_file(input, &n);
  unsigned char *const out = read_file(output, &there);
  if (n != there) {
    fail("another number of records");
  }
  const unsigned char **const a = sorted(in, n, stable ? by_key : by_all);
  const unsigned char **const b = stable ? NULL : sorted(out, n, by_all);
  for (size_t i = 0; i < n; i++) {
    if (memcmp(a[i], b ? b[i] : out + i * size, size) != 0) {
      fail(stable ? "not the stable order" : "other records");
    }
  }
  for (size_t i = 1; i < n; i++) {
    if (compare_keys(out + (i - 1) * size, out + i * size) > 0) {
      fail("not in order");
    }
  }
  free(a);
  free(b);
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "records") == 0) {
    state = strtoul(argv[5], NULL, 10);
    make_records(strtoul(argv[2], NULL, 10), atol(argv[3]), argv[4]);
  } else if (argc == 5 && strcmp(argv[1], "lines") == 0) {
    state = strtoul(argv[4], NULL, 10);
    make_lines(atol(argv[2]), strtoul(argv[3], NULL, 10));
  } else if (argc == 7 && strcmp(argv[1], "check") == 0) {
    size = strtoul(argv[2], NULL, 10);
    read_key(argv[3]);
    descending = strchr(argv[4], 'd') != NULL;
    stable = strchr(argv[4], 's') != NULL;
    check(argv[5], argv[6]);
  } else {
    fail("arguments");
  }
  return 0;
}
