#include "mpi_below/launcher_variables.h"

#include "os/native.h"

#include <stdio.h>
#include <string.h>

/* Starters that are no MPI's: Slurm's srun, and what it tells of PMI and PMIx.
 */
static const struct launcher_variable starters[] = {
    {"SLURM_PROCID", LAUNCHER_RANK},
    {"SLURM_LOCALID", LAUNCHER_LOCAL_RANK},
    {"SLURM_NTASKS", LAUNCHER_SIZE},
    {"SLURM_NPROCS", LAUNCHER_SIZE},
    {"SLURM_STEP_NUM_TASKS", LAUNCHER_SIZE},
    {"PMI_RANK", LAUNCHER_RANK},
    {"PMI_SIZE", LAUNCHER_SIZE},
    {"PMIX_RANK", LAUNCHER_RANK},
    {NULL, LAUNCHER_NUMBERS},
};

/* As much as "OMPI_MCA_orte_ess_node_rank=-2147483648" takes. */
enum { TEXT = 40 };

struct making {
  char **words; /* n of them */
  size_t n;
  char *text; /* room for the next one */
};

static size_t find(char *const *words, size_t n, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < n; i++) {
    if (strncmp(words[i], name, length) == 0 && words[i][length] == '=') {
      return i;
    }
  }
  return n;
}

static void set_all(struct making *m, const struct launcher_variable *v,
                    bool add, const int *number) {
  for (; v->name; v++) {
    const size_t at = find(m->words, m->n, v->name);
    if (at < m->n || add) {
      snprintf(m->text, TEXT, "%s=%d", v->name, number[v->is]);
      m->n += at == m->n;
      m->words[at] = m->text;
      m->text += TEXT;
    }
  }
}

static size_t count(const struct launcher_variable *v) {
  size_t n = 0;
  while (v[n].name) {
    n++;
  }
  return n;
}

char **launcher_variables_of(char *const *from, bool whole,
                             const int number[LAUNCHER_NUMBERS]) {
  size_t n = 0;
  while (from[n]) {
    n++;
  }
  const bool own = find(from, n, launcher_variables[0].name) < n;
  const bool others = !own && !whole && find(from, n, starters[0].name) < n;
  const struct launcher_variable *const v =
      others ? starters : launcher_variables;
  const size_t array = (n + count(v) + 1) * sizeof(char *);
  struct making m = {native_alloc(array + count(v) * TEXT), n, NULL};
  if (!m.words) {
    return NULL;
  }
  m.text = (char *)m.words + array;
  memcpy(m.words, from, n * sizeof(*from));
  set_all(&m, v, whole, number);
  m.words[m.n] = NULL;
  return m.words;
}
