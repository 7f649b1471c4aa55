pemsinfo_SOURCES += wrappers/plan/dry_run.c wrappers/plan/dry_run.h \
  wrappers/plan/fit.c wrappers/plan/fit.h wrappers/plan/forecast.c \
  wrappers/plan/forecast.h

UNIT_TESTS += \
  tests/unit/wrappers/plan/test_dry_run \
  tests/unit/wrappers/plan/test_fit \
  tests/unit/wrappers/plan/test_forecast
tests_unit_wrappers_plan_test_dry_run_SOURCES = \
  tests/unit/wrappers/plan/test_dry_run.c wrappers/plan/dry_run.c
tests_unit_wrappers_plan_test_fit_SOURCES = \
  tests/unit/wrappers/plan/test_fit.c wrappers/plan/fit.c
tests_unit_wrappers_plan_test_forecast_SOURCES = \
  tests/unit/wrappers/plan/test_forecast.c wrappers/plan/fit.c \
  wrappers/plan/forecast.c
EXTRA_DIST += wrappers/plan/README.md
