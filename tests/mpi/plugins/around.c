/* What a rank sees around it: its own libraries, each once. Prints what does
   not depend on where they are. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int program_value = 1;
static int rank, size;
static char out[8192];

int program_call(int n) {
  return n;
}

#define SAY(...)                                                               \
  snprintf(out + strlen(out), sizeof(out) - strlen(out), __VA_ARGS__)

static void *open_it(const char *name, int flags) {
  void *const handle = dlopen(name, flags);
  if (!handle) {
    printf("cannot open: %s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return handle;
}

static void *find(void *handle, const char *name) {
  void *const p = dlsym(handle, name);
  if (!p) {
    printf("cannot find: %s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return p;
}

static int call(void *handle, const char *name) {
  return ((int (*)(void))find(handle, name))();
}

/* --- dl_iterate_phdr --- */

/* Which object has an address, and what is known of it. */
struct look {
  const void *at;
  const char *ending; /* of the name */
  int found, same_name, index, objects, has_thread_data, rc;
};

static int holds(const struct dl_phdr_info *info, const void *p) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type == PT_LOAD &&
        (uintptr_t)p - info->dlpi_addr - h->p_vaddr < h->p_memsz) {
      return 1;
    }
  }
  return 0;
}

static int ends_with(const char *name, const char *ending) {
  const size_t n = strlen(name), m = strlen(ending);
  return n >= m && strcmp(name + n - m, ending) == 0;
}

static int look_at(struct dl_phdr_info *info, size_t bytes, void *arg) {
  struct look *const l = arg;
  if (bytes < sizeof(*info)) {
    l->rc = -1;
  }
  if (holds(info, l->at)) {
    l->found++;
    l->index = l->objects;
    l->has_thread_data = info->dlpi_tls_modid != 0 && info->dlpi_tls_data;
  }
  l->same_name += ends_with(info->dlpi_name, l->ending);
  l->objects++;
  return l->rc;
}

static struct look look(const void *at, const char *ending) {
  struct look l = {.at = at, .ending = ending};
  SAY("%d ", dl_iterate_phdr(look_at, &l));
  return l;
}

static int count_two(struct dl_phdr_info *info, size_t bytes, void *arg) {
  (void)info, (void)bytes;
  return ++*(int *)arg == 2 ? 42 : 0;
}

static void list(void *plain, void *late) {
  struct look l = look(&program_value, "no such name");
  SAY("program: %d, the first: %d, %d\n", l.found, l.index == 0, l.same_name);
  *(volatile int *)find(plain, "thread_value") += 1;
  l = look(find(plain, "large"), "/plain.so");
  SAY("plain: %d %d, thread-local data: %d\n", l.found, l.same_name,
      l.has_thread_data);
  l = look(find(plain, "base_value"), "/libbase.so");
  SAY("base: %d %d\n", l.found, l.same_name);
  l = look((void *)(uintptr_t)printf, "/libc.so.6");
  SAY("libc: %d %d\n", l.found, l.same_name);
  l = look(find(late, "closing_opened"), "/closing.so");
  SAY("closing: %d %d\n", l.found, l.same_name);
  const int before = l.objects;
  dlclose(late);
  l = look(&program_value, "/closing.so");
  SAY("gone: %d %d\n", before - l.objects, l.same_name);
  int n = 0;
  SAY("ends early: %d", dl_iterate_phdr(count_two, &n));
  SAY(" %d\n", n);
}

/* --- the others --- */

static void next(void *wrap) {
  SAY("next: %d", call(wrap, "base_next"));
  SAY(" %d\n", call(wrap, "base_next"));
  int (*finds)(const char *) = (int (*)(const char *))find(wrap, "wrap_finds");
  SAY("behind it: base %d, itself %d, plain %d, program %d, libc %d\n",
      finds("base_value"), finds("only_in_wrap"), finds("plain_step"),
      finds("program_call"), finds("qsort"));
  SAY("allocates: %d\n", call(wrap, "wrap_allocates"));
  SAY("behind the program: %d %d %d\n",
      dlsym(RTLD_NEXT, "program_call") != NULL,
      dlsym(RTLD_NEXT, "only_in_wrap") != NULL,
      dlsym(RTLD_NEXT, "qsort") != NULL);
  (void)open_it("plugins/wrap.so", RTLD_NOW | RTLD_GLOBAL);
  SAY("when it is global: %d\n",
      dlsym(RTLD_NEXT, "only_in_wrap") == find(wrap, "only_in_wrap"));
}

static int is_symbol(const char *name, const void *at) {
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  const int found = dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT);
  return found && symbol && strcmp(info.dli_sname, name) == 0 &&
         info.dli_saddr == at &&
         (uintptr_t)info.dli_fbase + symbol->st_value == (uintptr_t)at;
}

static void ask(void *plain) {
  struct link_map *map = NULL, *other = NULL;
  char origin[4096] = "";
  Lmid_t space = -1;
  size_t module = 0;
  Dl_info info;
  const void *at = find(plain, "plain_step");
  SAY("dlinfo: %d", dlinfo(plain, RTLD_DI_LINKMAP, &map));
  SAY(" %d", map && ends_with(map->l_name, "/plain.so"));
  SAY(" %d", dladdr1(at, &info, (void **)&other, RTLD_DL_LINKMAP));
  SAY(" %d", map == other && map->l_addr == (uintptr_t)info.dli_fbase);
  SAY(" %d", dlinfo(plain, RTLD_DI_ORIGIN, origin));
  SAY(" %d", ends_with(origin, "/plugins"));
  SAY(" %d", dlinfo(plain, RTLD_DI_LMID, &space));
  SAY(" %d", (int)space);
  SAY(" %d", dlinfo(plain, RTLD_DI_TLS_MODID, &module));
  SAY(" %d\n", module != 0);
  SAY("dladdr1: %d %d %d\n", is_symbol("plain_step", at),
      is_symbol("base_next", find(plain, "base_next")),
      is_symbol("program_call", (void *)(uintptr_t)program_call));
}

static void versions(void) {
  void *const handle = open_it("plugins/versions.so", RTLD_NOW);
  int (*const old)(void) = (int (*)(void))dlvsym(handle, "answer", "FIRST");
  int (*const new)(void) = (int (*)(void))dlvsym(handle, "answer", "SECOND");
  SAY("versions: %d", old ? old() : -1);
  SAY(" %d", new ? new () : -1);
  SAY(" %d", call(handle, "answer"));
  SAY(" %d", dlvsym(handle, "answer", "THIRD") == NULL);
  SAY(" %d\n", strstr(dlerror(), "THIRD") != NULL);
}

/* A namespace of its own has libraries of its own. The last handle stays open:
   ld.so does not unload a libc safely where threads run. */
static void spaces(void) {
  void *const own = dlmopen(LM_ID_NEWLM, "plugins/counts.so", RTLD_NOW);
  void *const plain = dlmopen(LM_ID_BASE, "plugins/counts.so", RTLD_NOW);
  Lmid_t space = 0;
  if (!own || !plain) {
    SAY("no space: %s\n", dlerror());
    return;
  }
  SAY("space: %d", plain == open_it("plugins/counts.so", RTLD_NOW));
  for (int i = 0; i < 3; i++) {
    SAY(" %d", call(own, "counts_next"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  SAY(" %d", call(plain, "counts_next"));
  SAY(" %d", dlvsym(own, "counts_next", "NONE") == NULL);
  SAY(" %d", dlinfo(own, RTLD_DI_LMID, &space));
  SAY(" %d", space != LM_ID_BASE);
  SAY(" %d", dlmopen(space, "plugins/counts.so", RTLD_NOW) == own);
  SAY(" %d", dlsym(own, "nothing") == NULL);
  const char *const why = dlerror();
  SAY(" %d", why && strstr(why, "nothing"));
  SAY(" %d", dlclose(own));
  SAY(" %d\n", call(own, "counts_next"));
}

static void deep(void) {
  int *(*const f)(void) = (int *(*)(void))find(
      open_it("plugins/deep.so", RTLD_NOW | RTLD_DEEPBIND), "deep_value");
  int *(*const g)(void) = (int *(*)(void))find(
      open_it("plugins/shallow.so", RTLD_NOW), "deep_value");
  MPI_Barrier(MPI_COMM_WORLD);
  SAY("deep: %d, not: %d\n", *f(), g() == &program_value);
}

static void kept(void) {
  SAY("not yet: %d\n",
      dlopen("plugins/kept.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
  void *handle = open_it("plugins/kept.so", RTLD_NOW | RTLD_NODELETE);
  SAY("opened: %d", call(handle, "closing_opened"));
  SAY(" %d", dlclose(handle));
  handle = dlopen("plugins/kept.so", RTLD_NOW | RTLD_NOLOAD);
  SAY(" %d", handle != NULL);
  SAY(" %d\n", handle ? call(handle, "closing_opened") : -1);
  handle = open_it("plugins/stays.so", RTLD_NOW);
  SAY("by its own wish: %d", call(handle, "closing_opened"));
  SAY(" %d", dlclose(handle));
  MPI_Barrier(MPI_COMM_WORLD);
  SAY(" %d\n", call(open_it("plugins/stays.so", RTLD_NOW), "closing_opened"));
}

/* Which of two threads comes first does not matter. */
static void *open_slow(void *arg) {
  usleep(*(int *)arg * 100000);
  *(int *)arg =
      *(int *)find(open_it("plugins/slow.so", RTLD_NOW), "slow_ready");
  return NULL;
}

static void two_threads(void) {
  pthread_t thread;
  int now = 0, later = 1;
  pthread_create(&thread, NULL, open_slow, &later);
  open_slow(&now);
  pthread_join(thread, NULL);
  SAY("constructed: %d %d\n", now, later);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* Half the ranks open what others need first. */
  void *plain = rank % 2 ? NULL : open_it("plugins/plain.so", RTLD_NOW);
  void *const wrap = open_it("plugins/wrap.so", RTLD_NOW);
  plain = plain ? plain : open_it("plugins/plain.so", RTLD_NOW);
  list(plain, open_it("plugins/closing.so", RTLD_NOW));
  MPI_Barrier(MPI_COMM_WORLD);
  ask(plain);
  next(wrap);
  versions();
  spaces();
  deep();
  kept();
  two_threads();
  printf("rank %d:\n%s", rank, out);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
