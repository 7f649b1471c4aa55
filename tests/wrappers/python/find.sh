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

# mpi4py_lacks [MODULE...]: true if this Python has no mpi4py for this MPI, or none of
# these; $lack says which. Debian's is for Open MPI only; that of PyPI is for all
# (PEMS_TEST_PYTHON, of a virtual environment that has it).
mpi4py_lacks() {
  lack=
  for module in mpi4py "$@"; do
    "$python" -c "import $module" 2>/dev/null ||
      lack="no $module for $python: install python3-$module"
  done
  if [ -z "$lack" ]; then
    said=$(limited "${MPIRUN:-mpirun}" -n 2 "$python" -c '
from mpi4py import MPI
print("ranks", MPI.COMM_WORLD.size)' 2>&1)
    case $said in
    *'ranks 2'*) ;;
    *) lack="mpi4py is not for this MPI: $(echo "$said" | head -n 1)" ;;
    esac
  fi
  [ -n "$lack" ]
}
