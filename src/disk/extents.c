#include "disk/extents.h"

#include <stddef.h>

#include "os/native.h"

/* A row of free bytes. The rows are a treap: a tree in the order of `at`, a
   heap in that of `rank`, which is random; each knows the longest row below it,
   so that the first that fits is found on one way down. */
struct row {
  uint64_t at, n;
  uint64_t longest; /* n of it and of all below */
  uint64_t rank;
  struct row *left, *right;
};

struct extents {
  struct row *root;
  uint64_t free;   /* bytes */
  uint64_t random; /* for ranks */
};

static uint64_t longest(const struct row *r) {
  return r ? r->longest : 0;
}

static void update(struct row *r) {
  r->longest = r->n;
  if (longest(r->left) > r->longest) {
    r->longest = longest(r->left);
  }
  if (longest(r->right) > r->longest) {
    r->longest = longest(r->right);
  }
}

static struct row *new_row(struct extents *e, uint64_t at, uint64_t n) {
  struct row *const r = native_alloc(sizeof(*r));
  if (!r) {
    return NULL;
  }
  e->random = e->random * 6364136223846793005u + 1442695040888963407u;
  *r = (struct row){.at = at, .n = n, .longest = n, .rank = e->random >> 16};
  return r;
}

/* All of `low` lies before all of `high`. */
static struct row *join(struct row *low, struct row *high) {
  if (!low || !high) {
    return low ? low : high;
  }
  if (low->rank > high->rank) {
    low->right = join(low->right, high);
    update(low);
    return low;
  }
  high->left = join(low, high->left);
  update(high);
  return high;
}

/* Cuts a tree into the rows before `at` and the others. */
static void cut(struct row *r, uint64_t at, struct row **low,
                struct row **high) {
  if (!r) {
    *low = *high = NULL;
  } else if (r->at < at) {
    cut(r->right, at, &r->right, high);
    update(*low = r);
  } else {
    cut(r->left, at, low, &r->left);
    update(*high = r);
  }
}

/* Takes n bytes of the first row that has them; the tree has one. */
static struct row *take_first(struct row *r, uint64_t n, uint64_t *at) {
  if (longest(r->left) >= n) {
    r->left = take_first(r->left, n, at);
  } else if (r->n < n) {
    r->right = take_first(r->right, n, at);
  } else {
    *at = r->at;
    r->at += n;
    r->n -= n;
    if (r->n == 0) {
      struct row *const rest = join(r->left, r->right);
      native_free(r);
      return rest;
    }
  }
  update(r);
  return r;
}

int extents_take(struct extents *e, uint64_t n, uint64_t *at) {
  if (n == 0 || longest(e->root) < n) {
    return -1;
  }
  e->root = take_first(e->root, n, at);
  e->free -= n;
  return 0;
}

/* Takes the last row out of a tree if it ends at `at`; NULL if not. */
static struct row *unhook_before(struct row **tree, uint64_t at) {
  struct row *r = *tree;
  if (!r) {
    return NULL;
  }
  if (r->right) {
    struct row *const found = unhook_before(&r->right, at);
    update(r);
    return found;
  }
  if (r->at + r->n != at) {
    return NULL;
  }
  *tree = r->left;
  return r;
}

/* Takes the first row out of a tree if it begins at `at`; NULL if not. */
static struct row *unhook_at(struct row **tree, uint64_t at) {
  struct row *r = *tree;
  if (!r) {
    return NULL;
  }
  if (r->left) {
    struct row *const found = unhook_at(&r->left, at);
    update(r);
    return found;
  }
  if (r->at != at) {
    return NULL;
  }
  *tree = r->right;
  return r;
}

int extents_give(struct extents *e, uint64_t at, uint64_t n) {
  struct row *low, *high;
  cut(e->root, at, &low, &high);
  struct row *row = unhook_before(&low, at);
  struct row *const after = unhook_at(&high, at + n);
  if (row) {
    row->n += n + (after ? after->n : 0);
    native_free(after);
  } else if (after) {
    row = after;
    row->at = at;
    row->n += n;
  } else {
    row = new_row(e, at, n);
  }
  if (row) {
    row->left = row->right = NULL;
    update(row);
    e->free += n;
  }
  e->root = join(join(low, row), high);
  return row ? 0 : -1;
}

struct extents *extents_new(uint64_t size) {
  struct extents *const e = native_zalloc(1, sizeof(*e));
  if (e && size && extents_give(e, 0, size)) {
    native_free(e);
    return NULL;
  }
  return e;
}

static void delete_rows(struct row *r) {
  if (!r) {
    return;
  }
  delete_rows(r->left);
  delete_rows(r->right);
  native_free(r);
}

void extents_delete(struct extents *e) {
  if (!e) {
    return;
  }
  delete_rows(e->root);
  native_free(e);
}

uint64_t extents_free(const struct extents *e) {
  return e->free;
}

uint64_t extents_longest(const struct extents *e) {
  return longest(e->root);
}
