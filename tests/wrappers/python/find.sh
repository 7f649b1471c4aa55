# shellcheck shell=sh
# For tests of Python: $python is the first interpreter that has a shared
# libpython. Where there is none, the test is skipped.
python=
for name in ${PEMS_TEST_PYTHON:-} /usr/bin/python3 python3; do
  [ -z "$python" ] && "$name" -c '
import os, sys, sysconfig
v = sysconfig.get_config_var
sys.exit(not os.path.exists(os.path.join(v("LIBDIR"), v("INSTSONAME"))) or
         not ".so" in v("INSTSONAME"))' 2>/dev/null && python=$name
done
if [ -z "$python" ]; then
  echo "no python3 with a shared libpython: install libpython3-dev: skipped"
  exit 77
fi
