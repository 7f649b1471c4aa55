# SPDX-License-Identifier: BSD-3-Clause
# For a repository of Spack 1: spack_repo/NAME/packages/pems/package.py. The checksum of a
# release is a line of its announcement; `spack checksum pems` makes it.
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Pems(AutotoolsPackage):
    """Runs unmodified MPI programs on data far larger than memory: each rank is a
    virtual processor whose memory goes to disk while it waits."""

    homepage = "https://example.org/pems"
    url = "https://example.org/pems/pems-0.1.0.tar.xz"
    git = "https://example.org/pems.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("uring", default=True, description="The I/O driver uring")
    variant("lz4", default=True, description="Compression by lz4")
    variant("zstd", default=True, description="Compression by zstd")
    variant("zlib", default=True, description="Graphs compressed by gzip")
    variant("aio", default=True, description="The I/O driver aio")
    variant("hwy", default=True, description="Sorting by Highway")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("autoconf", type="build", when="@main")
    depends_on("automake", type="build", when="@main")
    depends_on("libtool", type="build", when="@main")
    depends_on("perl", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hwloc")
    depends_on("highway", when="+hwy")
    depends_on("libaio", when="+aio")
    depends_on("liburing", when="+uring")
    depends_on("lz4", when="+lz4")
    depends_on("xxhash@0.8:", type="build")
    depends_on("zstd", when="+zstd")
    depends_on("zlib-api", when="+zlib")
    conflicts("platform=darwin", msg="pems needs Linux")
    conflicts("platform=windows", msg="pems needs Linux")

    # pemscc calls the compiler that it was built with.
    filter_compiler_wrappers("pemscc", relative_root="bin")

    def configure_args(self):
        return [
            "MPICC=" + self.spec["mpi"].mpicc,
            *self.with_or_without("uring"),
            *self.with_or_without("aio"),
            *self.with_or_without("hwy"),
            *self.with_or_without("lz4"),
            *self.with_or_without("zstd"),
            *self.with_or_without("zlib"),
        ]
