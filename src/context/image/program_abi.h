/* What a pemscc program and libpems.so know of each other. Part of every
   program: a change of anything here needs a new PEMS_PROGRAM_ABI. */
#ifndef PEMS_CONTEXT_IMAGE_PROGRAM_ABI_H
#define PEMS_CONTEXT_IMAGE_PROGRAM_ABI_H

#define PEMS_PROGRAM_ABI 2

/* The ELF note of every program: owner "pems", type 1, a 32-bit
   PEMS_PROGRAM_ABI. */
#define PEMS_NOTE_OWNER "pems"
#define PEMS_NOTE_TYPE 1

#define PEMS_IMAGE_MAGIC "pemsprg"

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* One copy's life, in its own writable data; zero until it is loaded. */
struct pems_image_state {
  uint32_t loaded;   /* 1 once a copy was handed out by image_load */
  uint32_t has_fini; /* DT_FINI is still to run */
  size_t fini_left;  /* entries of DT_FINI_ARRAY still to run */
};

/* Exported by every program as `pems_image`. */
struct pems_image {
  char magic[8]; /* PEMS_IMAGE_MAGIC */
  uint32_t abi;  /* PEMS_PROGRAM_ABI */
  uint32_t size; /* of this struct */
  int (*main)(int argc, char **argv, char **envp);
  void *dso_handle; /* names this copy to __cxa_finalize */
  struct pems_image_state *state;
  void (*begin)(char **envp); /* private libc state; before constructors */
  void (*flush)(void);        /* private stdio */
  const char *interpreter;    /* keeps .interp through --gc-sections */
};
#endif

#endif
