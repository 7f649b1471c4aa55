libpemsbase_la_SOURCES += \
  src/policy/policy.c \
  src/policy/policy.h \
  src/policy/policy_alternate.c \
  src/policy/policy_id.c

UNIT_TESTS += \
  tests/unit/policy/test_policy \
  tests/unit/policy/test_policy_alternate \
  tests/unit/policy/test_policy_id
EXTRA_DIST += src/policy/README.md
