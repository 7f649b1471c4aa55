#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds, installs and tests the packages as people get them. It needs root, Debian
# with a mirror, and half an hour, and so is no part of make check:
#
#   make check-packages             all steps, in this order; or STEPS='dist debian'
#
#   dist       make dist twice is bit for bit the same; make install DESTDIR=, and
#              make uninstall leaves nothing
#   debian     dpkg-buildpackage of the archive; lintian finds nothing
#   root       a clean root by debootstrap: the Debian packages are installed there,
#              their autopkgtests run, and they are removed
#   rpm        rpmbuild -ba; rpmlint finds nothing; the packages are installed in the
#              clean root, run, and are removed
#   spack      spack install of the archive, in a Spack of its own
#   conda      rattler-build renders the recipe; its script builds the archive, and the
#              commands that it tests run
#   container  the image, by buildah, from the clean root
#
#   BUILD   a build folder that is made (.)
#   OUT     for archives, packages, roots and logs (BUILD/packages)
#   MIRROR, SUITE  of Debian (http://deb.debian.org/debian bookworm)
#   SPACK, SPACK_PACKAGES  trees of github.com/spack/spack and spack-packages
#   DEB_BUILD_OPTIONS  (nocheck: unit tests are those of make check)
#
# What a step says is OUT/STEP.log. A step that lacks a tool is skipped, and says so.
# Ends with "N passed, N failed, N skipped"; exit status 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-.}" && pwd) || exit 1
out=${OUT:-$build/packages}
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
version=$(sed -n 's/^AC_INIT(\[pems\], \[\([^]]*\)\].*/\1/p' "$top/configure.ac")
archive=$out/pems-$version.tar.xz
root=$out/root
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)

# --- what steps share ---

# wrong TEXT...: the step has failed.
wrong() {
  echo "FAIL $*"
  exit 1
}

# need COMMAND...: the step is skipped without them.
need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || {
      echo "SKIP no $tool"
      exit 77
    }
  done
}

need_root() {
  [ "$(id -u)" -eq 0 ] || {
    echo 'SKIP not root'
    exit 77
  }
}

# made FILE BY: the step needs what an earlier one made.
made() {
  [ -e "$1" ] || {
    echo "SKIP no $1: run the step $2 first"
    exit 77
  }
}

# in_root COMMAND...: in the clean root, with /proc and /dev.
in_root() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    unshare --mount --fork sh -c 'root=$1; shift
      mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
        exec chroot "$root" "$@"' sh "$root" "$@"
}

# files_of FOLDER: what is there, but folders.
files_of() {
  find "$1" ! -type d -printf '%P\n' | sort
}

# --- steps ---

step_dist() {
  need make sha256sum
  for time in 1 2; do
    make -s -C "$build" dist || wrong 'make dist'
    sha256sum <"$build/pems-$version.tar.xz" >"$out/sum.$time"
    mv "$build/pems-$version.tar.xz" "$archive"
  done
  cmp "$out/sum.1" "$out/sum.2" || wrong 'make dist made two different archives'
  rm -rf "$out/image"
  make -s -C "$build" install DESTDIR="$out/image" || wrong 'make install DESTDIR='
  files_of "$out/image" >"$out/installed"
  echo "$(wc -l <"$out/installed") files are installed"
  make -s -C "$build" uninstall DESTDIR="$out/image" || wrong 'make uninstall'
  files_of "$out/image" >"$out/left"
  [ ! -s "$out/left" ] || wrong "make uninstall left $(head -n 3 "$out/left")"
  rm -rf "$out/image"
}

step_debian() {
  need dpkg-buildpackage dh lintian
  made "$archive" dist
  rm -rf "$out/debian"
  mkdir "$out/debian" && cd "$out/debian" || exit 1
  cp "$archive" "pems_$version.orig.tar.xz"
  tar xf "$archive" && cd "pems-$version" || exit 1
  DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS:-nocheck}" \
    dpkg-buildpackage -us -uc || wrong 'dpkg-buildpackage'
  cd ..
  lintian --allow-root --info --display-info --fail-on error,warning,info \
    ./*.changes || wrong 'lintian'
}

# A root of Debian's without anything of pems. It keeps for the next time.
make_root() {
  if [ ! -e "$root/made" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" || wrong 'debootstrap'
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    # How this machine reaches the mirror.
    grep -rhs '^Acquire::' /etc/apt/apt.conf /etc/apt/apt.conf.d \
      >"$root/etc/apt/apt.conf.d/90acquire" || true
    in_root apt-get -q update || wrong 'apt-get update'
    touch "$root/made"
  fi
}

# purge: pems is removed from the root, and nothing of it is left.
purge() {
  in_root sh -c 'apt-get -q -y purge "*pems*"' || wrong 'apt-get purge'
  find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*pems*' >"$out/left"
  [ ! -s "$out/left" ] || wrong "purging left $(head -n 3 "$out/left")"
}

step_root() {
  need_root
  need debootstrap autopkgtest unshare
  set -- "$out"/debian/*.deb
  made "$1" debian
  make_root
  mkdir -p "$root/debs"
  cp "$out"/debian/*.deb "$root/debs/"
  rm -f "$root"/debs/*dbgsym*
  in_root sh -c 'apt-get -q -y --no-install-recommends install /debs/*.deb' ||
    wrong 'the packages are not installed'
  for command in pemsrun pemsinfo pemstop pems-sort pems-graph; do
    in_root $command --version || wrong "$command --version"
  done
  # Its tests install what they depend on, from the packages given.
  autopkgtest --output-dir "$out/autopkgtest.$$" "$out"/debian/*_*.deb \
    "$out"/debian/*.dsc -- chroot "$root" || wrong 'autopkgtest'
  purge
  rm -rf "$root/debs"
}

step_rpm() {
  need rpmbuild
  made "$archive" dist
  rm -rf "$out/rpm"
  mkdir -p "$out/rpm/SOURCES"
  cp "$archive" "$out/rpm/SOURCES/"
  # The names of packages are those of Fedora: here they come from Debian's.
  rpmbuild -ba --nodeps --define "_topdir $out/rpm" "$top/packaging/pems.spec" ||
    wrong 'rpmbuild'
  if command -v rpmlint >/dev/null; then
    rpmlint -c "$top/packaging/rpmlint.toml" "$top/packaging/pems.spec" \
      "$out"/rpm/SRPMS/*.rpm "$out"/rpm/RPMS/*/*.rpm || wrong 'rpmlint'
  else
    echo 'no rpmlint (PyPI has it): not linted'
  fi
  [ -e "$root/made" ] || {
    echo 'no clean root: the packages were built, but not installed'
    return 0
  }
  need_root
  install_rpms
}

# In the clean root, with the libraries that Debian's packages would bring.
install_rpms() {
  in_root apt-get -q -y --no-install-recommends install rpm gcc g++ gfortran \
    libopenmpi-dev openmpi-bin libaio-dev libhwloc-dev liburing-dev pkg-config ||
    wrong 'apt-get install'
  mkdir -p "$root/rpms"
  cp "$out"/rpm/RPMS/*/*.rpm "$root/rpms/"
  in_root sh -c 'rpm -i --nodeps /rpms/*.rpm && ldconfig /usr/lib64 /usr/lib &&
    pemsinfo --version && pems-sort --version' || wrong 'rpm -i'
  cp "$top/debian/tests/hello" "$top/debian/tests/em" "$root/rpms/"
  in_root sh -c 'sh /rpms/hello && sh /rpms/em' || wrong 'the tests of debian/tests'
  in_root sh -c 'rpm -e --nodeps pems pems-libs pems-devel && rm -rf /rpms' ||
    wrong 'rpm -e'
  find "$root/usr" -name '*pems*' >"$out/left"
  [ ! -s "$out/left" ] || wrong "rpm -e left $(head -n 3 "$out/left")"
}

# The recipe, and a version that is the archive, in a repository of our own.
spack_repository() {
  mkdir -p "$out/spack/spack_repo/ours/packages/pems"
  printf 'repo:\n  namespace: ours\n  api: v2.0\n' >"$out/spack/spack_repo/ours/repo.yaml"
  sum=$(sha256sum <"$archive")
  sed "s|^    version(\"main\".*|&\n    version(\"$version\", sha256=\"${sum%% *}\", \
url=\"file://$archive\")|" "$top/packaging/spack/package.py" \
    >"$out/spack/spack_repo/ours/packages/pems/package.py"
}

# What Debian has is not built by Spack.
spack_externals() {
  echo 'packages:'
  for each in openmpi:libopenmpi-dev hwloc:libhwloc-dev libaio:libaio-dev \
    liburing:liburing-dev lz4:liblz4-dev zstd:libzstd-dev zlib:zlib1g-dev \
    xxhash:libxxhash-dev perl:perl pkgconf:pkg-config gmake:make; do
    there=$(dpkg-query -W -f '${Version}' "${each#*:}" | sed 's/^[0-9]*://; s/[-+~].*//')
    printf '  %s:\n    buildable: false\n    externals:\n' "${each%:*}"
    printf '    - spec: "%s@%s"\n      prefix: /usr\n' "${each%:*}" "$there"
  done
  # The compiler is a package, too.
  gcc_version=$(gcc -dumpfullversion)
  cat <<END
  gcc:
    buildable: false
    externals:
    - spec: "gcc@$gcc_version languages='c,c++,fortran'"
      prefix: /usr
      extra_attributes:
        compilers:
          c: /usr/bin/gcc
          cxx: /usr/bin/g++
          fortran: /usr/bin/gfortran
  all:
    providers:
      mpi: [openmpi]
      zlib-api: [zlib]
END
}

step_spack() {
  need python3
  made "$archive" dist
  [ -x "${SPACK:-}/bin/spack" ] || {
    echo 'SKIP SPACK names no tree of Spack'
    exit 77
  }
  # What it knows of this user is left alone.
  SPACK_USER_CONFIG_PATH=$out/spack/config SPACK_USER_CACHE_PATH=$out/spack/cache
  SPACK_DISABLE_LOCAL_CONFIG=1
  export SPACK_USER_CONFIG_PATH SPACK_USER_CACHE_PATH SPACK_DISABLE_LOCAL_CONFIG
  rm -rf "$out/spack"
  spack_repository
  mkdir -p "$out/spack/scope"
  spack_externals >"$out/spack/scope/packages.yaml"
  {
    printf 'repos:\n  ours: %s/spack/spack_repo/ours\n' "$out"
    [ -z "${SPACK_PACKAGES:-}" ] ||
      echo "  builtin: $SPACK_PACKAGES/repos/spack_repo/builtin"
  } >"$out/spack/scope/repos.yaml"
  printf 'config:\n  install_tree:\n    root: %s/spack/tree\n  build_stage: %s/spack/stage\n' \
    "$out" "$out" >"$out/spack/scope/config.yaml"
  spack() {
    "$SPACK/bin/spack" -C "$out/spack/scope" "$@"
  }
  spack spec "pems@$version" || wrong 'spack spec'
  spack install --no-cache -j "$(nproc)" "pems@$version" || wrong 'spack install'
  prefix=$(spack location -i "pems@$version") || wrong 'spack location'
  "$prefix/bin/pemsinfo" --version || wrong 'pemsinfo of Spack'
}

# Channels of conda may not be reached: what the recipe requires is then Debian's, and
# build.sh is run by hand.
step_conda() {
  need python3
  made "$archive" dist
  venv=$out/conda-venv
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" ||
    wrong 'no virtual environment'
  "$venv/bin/pip" install -q 'py-rattler-build>=0.73,<1' || wrong 'no py-rattler-build'
  "$venv/bin/python" "$top/packaging/conda/lint.py" "$top" >"$out/conda.tests" || {
    cat "$out/conda.tests"
    wrong 'the recipe'
  }
  rm -rf "$out/conda"
  mkdir "$out/conda" && cd "$out/conda" && tar xf "$archive" || exit 1
  cd "pems-$version" || exit 1
  PREFIX=$out/conda/prefix CPU_COUNT=$(nproc) sh packaging/conda/build.sh ||
    wrong 'build.sh'
  while read -r words; do
    # shellcheck disable=SC2086 # a command and its option
    PATH=$out/conda/prefix/bin:$PATH $words || wrong "$words"
  done <"$out/conda.tests"
}

step_container() {
  need_root
  need buildah
  made "$root/made" root
  # Registries of images may not be reached: the clean root is Debian's image.
  buildah() {
    command buildah --storage-driver vfs --root "$out/buildah" --runroot "$out/buildah.run" "$@"
  }
  rm -rf "$out/context"
  mkdir "$out/context"
  tar xf "$archive" -C "$out/context"
  from=$(buildah from scratch) || wrong 'buildah from'
  tar cf "$out/root.tar" -C "$root" --exclude=./proc/* --exclude=./dev/* --exclude=./made .
  buildah add -q "$from" "$out/root.tar" / || wrong 'buildah add'
  buildah commit -q "$from" docker.io/library/debian:12 || wrong 'buildah commit'
  buildah bud --pull-never --isolation chroot --network host -t pems \
    -f "$top/packaging/Containerfile" "$out/context/pems-$version" || wrong 'buildah bud'
  made=$(buildah from --pull-never localhost/pems) || wrong 'buildah from pems'
  buildah add -q "$made" "$top/debian/tests/hello" /hello || wrong 'buildah add'
  buildah run --isolation chroot "$made" sh /hello || wrong 'a program in the container'
  buildah rm -a >/dev/null
  rm -f "$out/root.tar"
}

# --- all of them ---

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- dist debian root rpm spack conda container
for step; do
  case $step in
    dist | debian | root | rpm | spack | conda | container) ;;
    *)
      sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done
for step; do
  began=$(date +%s)
  (step_"$step") >"$out/$step.log" 2>&1
  case $? in
    0) passed=$((passed + 1)) word=PASS ;;
    77) skipped=$((skipped + 1)) word=SKIP ;;
    *) failed=$((failed + 1)) word=FAIL ;;
  esac
  echo "$word $step ($(($(date +%s) - began)) s)$(
    [ $word = PASS ] || printf ': %s' "$(tail -n 1 "$out/$step.log" | cut -c 1-200)")"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
