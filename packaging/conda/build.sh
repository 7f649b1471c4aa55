#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
set -e
[ -x configure ] || autoreconf -i
mkdir -p build-conda
cd build-conda
../configure --prefix="$PREFIX"
make -j "${CPU_COUNT:-2}"
make install
