/* Thread-local data of a program and of the libraries that it is linked with.
   A VP is a thread, so each has those that ld.so makes room for in every thread
   from its start: the originals'. Copies have none of their own. They lie at
   the upper end of the thread's stack, beside what the C library and others
   keep there. */
#ifndef PEMS_CONTEXT_IMAGE_THREAD_DATA_H
#define PEMS_CONTEXT_IMAGE_THREAD_DATA_H

#include "context/image/image.h"

#include <stddef.h>

/* Of less than that, what lies in whole pages stays with the thread's record.
 */
enum { THREAD_DATA_LARGE = 16 << 10 };

/* Bytes at the upper end of each thread's stack, whole pages, in which all such
   data of the process lie, with the C library's record of the thread; 0 if none
   are large that are the program's in f or its libraries'. */
size_t thread_data_span(const struct image_file *f);

/* Whole pages of the calling thread in which nothing but large data of the
   program (i = 0) or its i-th library lies; or nothing. */
struct image_part thread_data_pages(const struct image_file *f, int i);
/* All of its data, in pages of others, too; or nothing. */
struct image_part thread_data_block(const struct image_file *f, int i);
/* i is less than that. */
int thread_data_count(const struct image_file *f);

/* On a thread that has not run anything of the program yet. Gives the memory of
   such pages back: they are zero until thread_data_begin. */
void thread_data_drop(const struct image_file *f);
/* On a thread that will run img's program, before it does: what the data begin
   with, with addresses in originals changed to those of this copy. */
void thread_data_begin(const struct image *img);

#endif
