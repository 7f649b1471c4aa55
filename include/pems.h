/* What a program can ask of pems itself. Programs need not include this: pems
   runs unmodified MPI programs. */
#ifndef PEMS_H
#define PEMS_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the pems library that the program runs on, as "1.2.3": a
   static string. Thread-safe, allowed at any time. */
const char *pems_version(void);

#ifdef __cplusplus
}
#endif

#endif
