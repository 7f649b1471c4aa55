/* A filter of HDF5, opened by libhdf5: each byte is changed by a key, and how
   often it has been called is its own business. */
#include <H5PLextern.h>
#include <hdf5.h>

enum { FILTER = 300, KEY = 0x5a };

int filter_calls;

static size_t change(unsigned flags, size_t nvalues, const unsigned *values,
                     size_t n, size_t *size, void **buffer) {
  unsigned char *at = *buffer;
  (void)flags, (void)nvalues, (void)values, (void)size;
  filter_calls++;
  for (size_t i = 0; i < n; i++) {
    at[i] ^= KEY;
  }
  return n;
}

static const H5Z_class2_t class = {H5Z_CLASS_T_VERS, FILTER, 1,    1,
                                   "pems_test",      NULL,   NULL, change};

H5PL_type_t H5PLget_plugin_type(void) {
  return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void) {
  return &class;
}
