/* What a launcher tells each process in its environment: to getenv, to a
   program that looks at environ itself, and to children. */
#define _GNU_SOURCE
#include "test.h"

#include <unistd.h>

static const char *const names[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "OMPI_COMM_WORLD_NODE_RANK",
    "OMPI_WORLD_SIZE",
    "OMPI_WORLD_LOCAL_SIZE",
    "OMPI_MCA_num_procs",
    "OMPI_APP_CTX_NUM_PROCS",
    "OMPI_MCA_ess_base_vpid",
    "OMPI_MCA_orte_ess_num_procs",
    "OMPI_MCA_orte_ess_node_rank",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "SLURM_PROCID",
};
enum { NAMES = sizeof(names) / sizeof(names[0]), MOST = 32 };

static char early[NAMES][MOST];

static const char *in_environ(const char *name) {
  const size_t n = strlen(name);
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') {
      return *e + n + 1;
    }
  }
  return NULL;
}

/* As libraries do, before main. */
__attribute__((constructor)) static void look(void) {
  for (int i = 0; i < NAMES; i++) {
    const char *const is = getenv(names[i]);
    snprintf(early[i], MOST, "%s", is ? is : "-");
  }
}

/* The child's shell prints what it has; Open MPI's number of slots is how many
   ranks the job may come to. */
static void ask_child(void) {
  char line[128] = "";
  FILE *const f =
      popen("echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK "
            "$OMPI_COMM_WORLD_SIZE $PMI_RANK $PMI_SIZE "
            "$MPI_LOCALRANKID",
            "r");
  if (!f || !fgets(line, sizeof(line), f) || pclose(f) != 0) {
    fail("no child");
  }
  printf("%d: a child sees %s", rank, line);
}

int main(int argc, char **argv) {
  int *universe, flag;
  begin(&argc, &argv);
  for (int i = 0; i < NAMES; i++) {
    const char *const is = getenv(names[i]), *const there =
                                                 in_environ(names[i]);
    printf("%d: %s=%s\n", rank, names[i], early[i]);
    if (is != there || (is && strcmp(is, early[i]) != 0)) {
      fail("%s: %s, in environ %s", names[i], is, there ? there : "none");
    }
  }
  ask_child();
  const char *const slots = getenv("OMPI_UNIVERSE_SIZE");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  printf("%d: %d\n", rank, !slots || (flag && atoi(slots) == *universe));
  return end();
}
