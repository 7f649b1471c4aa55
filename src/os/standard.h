/* The standard descriptors, which a parent may have closed. */
#ifndef PEMS_OS_STANDARD_H
#define PEMS_OS_STANDARD_H

/* Opens those of 0, 1 and 2 that are closed, so that no other file comes to lie
   there, with which the program, or mpirun, would mistake it. They stay as good
   as closed: reading from the one and writing to the others fails. To be called
   before anything is opened. */
void standard_occupy(void);

#endif
