/* What the plug-ins and the program have in common. */
#ifndef SHAPE_H
#define SHAPE_H

#include <stdexcept>
#include <string>

struct shape {
  virtual ~shape() {
  }
  virtual double area() const = 0;
};

struct square : shape {
  double side;
  explicit square(double s) : side(s) {
  }
  double area() const override {
    return side * side;
  }
};

struct refused : std::runtime_error {
  int code;
  refused(const std::string &what, int c) : std::runtime_error(what), code(c) {
  }
};

/* One per process in a plain run, however many plug-ins have it. */
inline int &made() {
  static int n;
  return n;
}
template <typename T> struct counter {
  static int n;
};
template <typename T> int counter<T>::n;

#endif
