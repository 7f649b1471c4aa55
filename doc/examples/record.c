/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/record.h>: which records can be sorted by a key. */
#include <pems/record.h>
#include <stdio.h>

int main(void) {
  struct pems_error error;
  struct pems_record record = {
      .size = 100, .key = PEMS_KEY_U64, .key_offset = 4};
  if (pems_record_check(&record, &error) == 0) {
    printf("%d bytes of key\n", (int)pems_record_key_bytes(&record));
  }
  record.key_offset = 96; /* the key would end beyond the record */
  printf("%d\n", pems_record_check(&record, &error)); /* EINVAL */
  return 0;
}
