/* One line per kernel; kernels.c says in which order they are tried. */
#ifndef PEMS_EM_KERNEL_KERNELS_H
#define PEMS_EM_KERNEL_KERNELS_H

#include "em/kernel/kernel.h"

extern const struct kernel kernel_compiled;
extern const struct kernel kernel_digits;
extern const struct kernel kernel_pointer;
extern const struct kernel kernel_tree;
extern const struct kernel kernel_word;

#endif
