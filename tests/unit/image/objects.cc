// A program with what C++ adds: static objects, inline and template variables
// (which GNU would make unique in the process), exceptions.
extern "C" {
#define private private_
#include "image_test.h"
#undef private
}
#include <stdexcept>
#include <string>
#include <vector>

static objects *facts;

struct counted {
  std::vector<std::string> texts;
  counted() : texts(3, std::string(100, 'x')) {
    texts[0] = "a text too long to be kept within the string itself";
    alive++;
  }
  ~counted() {
    if (facts)
      ++*facts->destroyed;
  }
  static int alive;
};
int counted::alive;

static counted first;
inline int inline_variable = 11;
template <class T> struct holder {
  static int value;
};
template <class T> int holder<T>::value = 12;

static const counted &on_first_use() {
  static counted c;
  return c;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  facts = reinterpret_cast<objects *>(argv[1]);
  on_first_use();
  facts->constructed = counted::alive;
  facts->inline_variable = &inline_variable;
  facts->template_static = &holder<int>::value;
  facts->text = first.texts[0].c_str();
  try {
    (void)first.texts.at(1000);
  } catch (const std::out_of_range &) {
    facts->caught = 1;
  }
  return MAIN_RETURNS;
}
