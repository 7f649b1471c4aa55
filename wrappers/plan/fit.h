/* How a quantity grows with another, from a few measured points: pemsinfo
   --plan runs a program with small inputs and predicts a large one. Pure
   functions. */
#ifndef PEMS_WRAPPERS_PLAN_FIT_H
#define PEMS_WRAPPERS_PLAN_FIT_H

#include <stddef.h>

/* a + b t(x), a and b not negative. */
enum fit_form {
  FIT_CONSTANT, /* a */
  FIT_INVERSE,  /* t = 1 / x */
  FIT_LINEAR,   /* t = x */
  FIT_LOG,      /* t = x log2 x */
  FIT_SQUARE,   /* t = x^2 */
  FIT_POWER,    /* t = x^power, of times only */
  FIT_FORMS,
};

enum { FIT_POINTS = 8 }; /* at most, of times */

struct fit {
  enum fit_form form;
  double a, b;
  double off; /* the most that a point is off, as a part of it */
  double power;
};

/* The first form, as they are ordered here, that comes within 2 % of all n
   points (x positive, y not negative), a constant within 0.5 %; if none does,
   the one that comes nearest. Two points lie on many a curve: there 15 % do.
   With no point it is 0. */
struct fit fit_growth(const double *x, const double *y, int n);
/* The same for seconds, x ascending: what else the machine does adds some to
   each point, so that steeper forms come nearer by chance. Here 10 % do for any
   n, of forms up to a line. What is steeper goes on from the last point by a
   power of x, beside what the first two points say that it takes for nothing:
   one halfway between those of the flattest step and of the last. A step that
   is steeper once is that of a cache which the data outgrow there; how much of
   it is still to come nobody knows. A power less than 1 is that from the first
   point to the last. */
struct fit fit_time(const double *x, const double *y, int n);
/* A form that is known. */
struct fit fit_form(enum fit_form form, const double *x, const double *y,
                    int n);
double fit_at(const struct fit *f, double x);
/* "a + b x", "constant", ... */
const char *fit_text(const struct fit *f);

#endif
