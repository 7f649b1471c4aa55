/* A plug-in in C++. */
#include "shape.h"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

extern "C" int base_next(void);

namespace {
struct registry {
  std::map<std::string, int> entries;
  registry() {
    entries["begin"] = ++made();
  }
  ~registry() {
    std::printf("registry ends: %zu entries\n", entries.size());
  }
};
registry all;
thread_local std::vector<int> seen(3, 1);
struct disc : shape {
  double area() const override {
    return 3.0;
  }
};
} // namespace

extern "C" shape *fancy_square(double side) {
  counter<int>::n++;
  return new square(side);
}
extern "C" shape *fancy_disc(void) {
  return new disc;
}
extern "C" int fancy_note(const char *name) {
  all.entries[name]++;
  seen.push_back(2);
  return (int)(all.entries.size() * 10 + seen.size());
}
extern "C" void fancy_refuse(int code) {
  throw refused("refused by the plug-in", code);
}
/* Catches what the program throws through it. */
extern "C" int fancy_catch(void (*f)(int), int n) {
  try {
    f(n);
  } catch (const refused &e) {
    return e.code + base_next();
  }
  return -1;
}
extern "C" int fancy_made(void) {
  return 100 * made() + counter<int>::n;
}
