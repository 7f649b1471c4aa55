/* Sizes as people write them. */
#ifndef PEMS_CONFIG_SIZE_H
#define PEMS_CONFIG_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* "64M", "1.5G", "4096", "1GiB" (all powers of 1024) -> bytes. 0 or -1. */
int size_parse(const char *text, uint64_t *bytes);
/* 1536 MiB -> "1.5 GiB", 12 GiB -> "12.0 GiB". Returns buf; 16 bytes do. */
const char *size_format(uint64_t bytes, char *buf, size_t buf_size);

#endif
