libpemsem_la_SOURCES += \
  src/em/tfp/tfp.c \
  src/em/tfp/tfp.h \
  src/em/tfp/tfp_bulk.c \
  src/em/tfp/tfp_order.c \
  src/em/tfp/tfp_visit.c \
  src/em/tfp/tfp_window.c

UNIT_TESTS += \
  tests/unit/em/tfp/test_tfp \
  tests/unit/em/tfp/test_tfp_shortage
EXTRA_DIST += src/em/tfp/README.md
