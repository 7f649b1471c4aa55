#define _GNU_SOURCE
#include "base/source.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- symbols --- */

struct file {
  const char *bytes;
  size_t n;
};

static int map_file(const char *path, struct file *f) {
  struct stat s;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  f->bytes = MAP_FAILED;
  if (fstat(fd, &s) == 0 && s.st_size > 0) {
    f->n = (size_t)s.st_size;
    f->bytes = mmap(NULL, f->n, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  return f->bytes == MAP_FAILED ? -1 : 0;
}

/* n bytes of the file at an offset, or NULL if it is too short. */
static const void *part(const struct file *f, uint64_t offset, uint64_t n) {
  return offset <= f->n && n <= f->n - offset ? f->bytes + offset : NULL;
}

static const Elf64_Shdr *sections(const struct file *f, int *n) {
  const Elf64_Ehdr *h = part(f, 0, sizeof(*h));
  if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
      h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_shentsize != sizeof(Elf64_Shdr)) {
    return NULL;
  }
  *n = h->e_shnum;
  return part(f, h->e_shoff, (uint64_t)*n * sizeof(Elf64_Shdr));
}

static int name_symbol(const struct file *f, const Elf64_Shdr *names,
                       const Elf64_Sym *symbol, uintptr_t address, char *out,
                       size_t size) {
  const char *all = part(f, names->sh_offset, names->sh_size);
  if (!all || symbol->st_name >= names->sh_size) {
    return -1;
  }
  const char *name = all + symbol->st_name;
  snprintf(out, size, "%.*s+0x%zx",
           (int)strnlen(name, names->sh_size - symbol->st_name), name,
           (size_t)(address - symbol->st_value));
  return 0;
}

static int find_in(const struct file *f, const Elf64_Shdr *section, int n,
                   const Elf64_Shdr *table, uintptr_t address, char *out,
                   size_t size) {
  const Elf64_Sym *symbol = part(f, table->sh_offset, table->sh_size);
  if (!symbol || table->sh_link >= (unsigned)n) {
    return -1;
  }
  for (size_t i = 0; i < table->sh_size / sizeof(*symbol); i++) {
    if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
        address - symbol[i].st_value < symbol[i].st_size) {
      return name_symbol(f, &section[table->sh_link], &symbol[i], address, out,
                         size);
    }
  }
  return -1;
}

int source_function(const char *path, uintptr_t address, char *out,
                    size_t size) {
  struct file f;
  int n, rc = -1;
  if (map_file(path, &f) != 0) {
    return -1;
  }
  const Elf64_Shdr *section = sections(&f, &n);
  for (int i = 0; section && i < n && rc != 0; i++) {
    if (section[i].sh_type == SHT_SYMTAB || section[i].sh_type == SHT_DYNSYM) {
      rc = find_in(&f, section, n, &section[i], address, out, size);
    }
  }
  munmap((void *)f.bytes, f.n);
  return rc;
}

/* --- lines --- */

/* What a command writes on its standard output. */
static int output_of(char *const argv[], char *out, size_t size) {
  int ends[2];
  pid_t pid;
  size_t n = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return -1;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  const int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  for (ssize_t got; !failed && n < size - 1 &&
                    (got = read(ends[0], out + n, size - 1 - n)) > 0;) {
    n += (size_t)got;
  }
  out[n] = '\0';
  close(ends[0]);
  if (!failed) {
    waitpid(pid, NULL, 0); /* fails where the program ignores SIGCHLD */
  }
  return failed || n == 0 ? -1 : 0;
}

/* "sort.c:12 (discriminator 2)", or "??:0". */
static int ask_addr2line(const char *path, uintptr_t address, char *out,
                         size_t size) {
  char number[32], said[512];
  snprintf(number, sizeof(number), "0x%zx", (size_t)address);
  char *const argv[] = {"addr2line", "-s", "-e", (char *)path, number, NULL};
  if (output_of(argv, said, sizeof(said)) != 0 || said[0] == '?') {
    return -1;
  }
  const size_t n = strcspn(said, " \n");
  if (n < 3 || said[n - 1] == '?' || memcmp(said + n - 2, ":0", 2) == 0) {
    return -1;
  }
  snprintf(out, size, "%.*s", (int)n, said);
  return 0;
}

const char *source_line(const char *path, uintptr_t address, char *out,
                        size_t size) {
  if (ask_addr2line(path, address, out, size) != 0 &&
      source_function(path, address, out, size) != 0) {
    snprintf(out, size, "address 0x%zx", (size_t)address);
  }
  return out;
}
