#include "config.h"
#include "pems.h"

__attribute__((visibility("default"))) const char *pems_api_version(void) {
  return PACKAGE_VERSION;
}
