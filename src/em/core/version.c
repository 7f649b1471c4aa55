#include <pems/version.h>

int pems_version_number(void) {
  return PEMS_VERSION_NUMBER;
}
