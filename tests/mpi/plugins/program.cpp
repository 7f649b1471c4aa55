/* Opens plug-ins in C and C++ and prints what each rank sees of them. */
#include "shape.h"

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>

extern "C" {
int program_value = 1;
int program_call(int n) {
  return n * 1000 + program_value;
}
}

static int rank, size;
static std::string out;

template <typename... T> static void say(const char *format, T... args) {
  char text[500];
  std::snprintf(text, sizeof(text), format, args...);
  out += text;
}

static void *open_it(const char *name, int flags) {
  void *handle = dlopen(name, flags);
  if (!handle) {
    say("cannot open: %s\n", dlerror());
  }
  return handle;
}

template <typename F> static F *find(void *handle, const char *name) {
  F *f = reinterpret_cast<F *>(dlsym(handle, name));
  if (!f) {
    say("not found: %s\n", name);
    std::fputs(out.c_str(), stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return f;
}

static void throw_it(int n) {
  throw refused("by the program", n);
}

static void state(void *plain) {
  int s[10];
  const int n = find<int(int *)>(plain, "plain_state")(s);
  for (int i = 0; i < n; i++) {
    say(" %d", s[i]);
  }
  say("\n");
}

static void use_plain(void *plain) {
  const auto step = find<int(int)>(plain, "plain_step");
  for (int i = 1; i <= 3; i++) {
    say("step %d\n", step(rank + i));
    say("sum %d\n", find<int(int)>(plain, "plain_sum")(rank * i));
    MPI_Barrier(MPI_COMM_WORLD);
    state(plain);
  }
  say("program's %d\n", program_value);
  /* A thread has thread_local data of its own. */
  std::thread([&] {
    say("thread: %d\n", *find<int>(plain, "thread_value"));
    say("step %d\n", step(1));
    state(plain);
  }).join();
  state(plain);
}

static void use_fancy(void *fancy) {
  shape *a = find<shape *(double)>(fancy, "fancy_square")(rank + 1);
  shape *b = find<shape *()>(fancy, "fancy_disc")();
  MPI_Barrier(MPI_COMM_WORLD);
  say("areas %g %g\n", a->area(), b->area());
  say("is a square: %d %d\n", dynamic_cast<square *>(a) != nullptr,
      dynamic_cast<square *>(b) != nullptr);
  say("same type: %d\n", typeid(*a) == typeid(square));
  delete a;
  delete b;
  try {
    find<void(int)>(fancy, "fancy_refuse")(rank + 7);
  } catch (const std::exception &e) {
    const refused *r = dynamic_cast<const refused *>(&e);
    say("caught: %s, %d\n", e.what(), r ? r->code : -1);
  }
  say("it caught %d\n",
      find<int(void (*)(int), int)>(fancy, "fancy_catch")(throw_it, rank));
  const auto note = find<int(const char *)>(fancy, "fancy_note");
  say("noted %d %d\n", note("a"), note(rank % 2 ? "b" : "a"));
  made()++;
  counter<int>::n++;
  say("made %d\n", find<int()>(fancy, "fancy_made")());
}

static void look_around(void *plain, void *fancy) {
  Dl_info info;
  const int found = dladdr(dlsym(plain, "plain_step"), &info);
  say("dladdr: %d %s %s\n", found, found ? info.dli_sname : "",
      found && std::strstr(info.dli_fname, "plain.so") ? "plain.so" : "other");
  say("not global: %d\n", dlsym(RTLD_DEFAULT, "plain_step") == nullptr);
  say("error: %d\n", std::strstr(dlerror(), "plain_step") != nullptr);
  say("own: %d\n", dlsym(dlopen(nullptr, RTLD_NOW), "program_call") ==
                       reinterpret_cast<void *>(program_call));
  say("needed: %d\n", *static_cast<int *>(dlsym(plain, "base_value")) > 0);
  say("malloc: %d\n", dlsym(RTLD_DEFAULT, "malloc") != nullptr);
  say("again: %d\n", dlopen("plugins/plain.so", RTLD_NOW) == plain);
  say("close: %d\n", dlclose(plain));
  say("not there: %d\n",
      dlopen("plugins/other.so", RTLD_NOW | RTLD_NOLOAD) == nullptr);
  say("global: %d\n",
      dlopen("plugins/plain.so", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) ==
              plain &&
          dlsym(RTLD_DEFAULT, "plain_step") == dlsym(plain, "plain_step"));
  say("base: %d\n", dlsym(plain, "base_next") == dlsym(fancy, "base_next"));
  if (!dlopen("plugins/none.so", RTLD_NOW)) {
    say("%s\n", dlerror());
  }
  say("no error: %d\n", dlerror() == nullptr);
}

/* Counts what its constructors and destructors do to the program's value. */
static void close_in_order() {
  const int before = program_value;
  void *a = open_it("plugins/closing.so", RTLD_NOW);
  say("opened %d %d\n", program_value - before,
      find<int()>(a, "closing_opened")());
  void *b = open_it("plugins/closing.so", RTLD_LAZY);
  say("once more %d %d\n", a == b, find<int()>(b, "closing_opened")());
  say("closed %d", dlclose(a));
  say(" %d\n", program_value - before);
  say("closed %d", dlclose(b));
  say(" %d\n", program_value - before);
  say("gone %d\n",
      dlopen("plugins/closing.so", RTLD_NOW | RTLD_NOLOAD) == nullptr);
  a = open_it("plugins/closing.so", RTLD_NOW | RTLD_NODELETE);
  say("anew %d\n", find<int()>(a, "closing_opened")());
  MPI_Barrier(MPI_COMM_WORLD);
  say("closed %d\n", dlclose(a));
  a = open_it("plugins/closing.so", RTLD_NOW);
  say("kept %d\n", find<int()>(a, "closing_opened")());
}

static void print() {
  std::fflush(stdout);
  for (int r = 0; r < size; r++) {
    if (r == rank) {
      std::printf("rank %d:\n%s", rank, out.c_str());
      std::fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  out.clear();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void *plain = open_it("plugins/plain.so", RTLD_NOW);
  void *fancy = open_it("plugins/fancy.so", RTLD_LAZY);
  if (plain && fancy) {
    use_plain(plain);
    use_fancy(fancy);
    look_around(plain, fancy);
    void *another = open_it("plugins/closing.so", RTLD_NOW);
    MPI_Barrier(MPI_COMM_WORLD);
    say("beside another:");
    state(plain);
    say("close: %d\n", dlclose(another));
    use_plain(plain);
    say("close: %d", dlclose(plain));
    say(" %d", dlclose(plain));
    say(" still %d\n",
        dlopen("plugins/base.so", RTLD_NOW | RTLD_NOLOAD) != nullptr);
    close_in_order();
  }
  print();
  MPI_Finalize();
  return 0;
}
