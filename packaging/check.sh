#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds, installs and tests the packages as people get them. It needs root, Debian
# with a mirror, and an hour, and so is no part of make check:
#
#   make check-packages             all steps, in this order; or STEPS='dist debian'
#
#   dist       make dist twice is bit for bit the same; make install DESTDIR=, and
#              make uninstall leaves nothing
#   debian     in a clean root with what debian/control requires: dpkg-buildpackage of
#              the archive; lintian finds nothing
#   root       in other clean roots: the Debian packages are installed, run and purged;
#              their autopkgtests
#   rpm        rpmbuild -ba in a clean root; rpmlint finds no error; the packages are
#              installed in another, run, and are removed
#   spack      the recipe's style and names; spack install of the archive, in a Spack of
#              its own
#   conda      rattler-build renders the recipe, builds the archive and tests the package;
#              what the recipe requires are empty packages, and the system's libraries
#   container  the image, by buildah, from a clean root
#   readme     in bare roots of Debian 12 and 13: a clone of the last commit, and the
#              commands of README.md: ./bootstrap demo and ./bootstrap check
#
#   BUILD   a build folder that is made (.)
#   OUT     for archives, packages, roots and logs (BUILD/packages)
#   README_SUITES, README_CHECK  of which Debian ("bookworm trixie"); what is given to
#           ./bootstrap check there (nothing: all)
#   MIRROR, SUITE  of Debian (http://deb.debian.org/debian bookworm)
#   SPACK, SPACK_PACKAGES  trees of github.com/spack/spack and spack-packages
#   DEB_BUILD_OPTIONS  (none: the build runs the unit tests; nocheck: it does not)
#   CCACHE_DIR  a cache for the builds, if ccache is to help
#
# Each step says what it did, and what it left out and why; a step that lacks a tool is
# skipped. All of that is OUT/summary, too, and what the tools said OUT/STEP.log. A clean
# root is a copy of one that debootstrap made; copies go when their step ends.
# Ends with "N passed, N failed, N skipped"; exit status 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-.}" && pwd) || exit 1
out=${OUT:-$build/packages}
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
version=$(sed -n 's/^AC_INIT(\[pems\], \[\([^]]*\)\].*/\1/p' "$top/configure.ac")
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
archive=$out/pems-$version.tar.xz
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
unset CC CXX FC CPPFLAGS CFLAGS CXXFLAGS LDFLAGS # pemscc would take them, too

# --- what steps share ---

# wrong TEXT...: the step has failed.
wrong() {
  echo "FAIL $*"
  exit 1
}

# did TEXT...: what was checked. left WHAT WHY: what was not. Both are told.
did() {
  echo "did $*" | tee -a "$out/$step.said"
}
left() {
  echo "not $1: $2" | tee -a "$out/$step.said"
}

# skip WHY: none of the step.
skip() {
  left "$step" "$*"
  exit 77
}

# need COMMAND...: the step is skipped without them.
need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || skip "no $tool"
  done
}

need_root() {
  [ "$(id -u)" -eq 0 ] || skip 'not root'
}

# made FILE BY: the step needs what an earlier one made.
made() {
  [ -e "$1" ] || skip "no $1: run the step $2 first"
}

# A root of Debian's without anything of pems: made once.
make_base() {
  need_root
  need debootstrap unshare
  mkdir -p "$out/apt/partial"
  base=$out/base.$suite
  [ ! -e "$base.made" ] || [ ! -d "$base" ] || return 0
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" "$mirror" || wrong 'debootstrap'
  cp /etc/resolv.conf /etc/hosts "$base/etc/"
  # How this machine reaches the mirror.
  grep -rhs '^Acquire::.*;$' /etc/apt/apt.conf /etc/apt/apt.conf.d \
    >"$base/etc/apt/apt.conf.d/90acquire" || true
  root=$base
  in_root apt-get -q update || wrong 'apt-get update'
  touch "$base.made"
}

# new_root: $root is a copy of it; drop_root removes the copy.
new_root() {
  make_base
  root=$out/root.$step
  rm -rf "$root"
  cp -a "$base" "$root" || wrong 'no copy of the root'
}
drop_root() {
  rm -rf "$root"
}

# mounted COMMAND...: here, with /proc, /sys and /dev in $root; nobody else sees these, and
# they go with the command. The root is a mount point, too: elsewhere unshare --mount fails.
mounted() {
  ROOT=$root APT=$out/apt CCACHE_DIR=${CCACHE_DIR:-} unshare --mount --fork sh -c '
    mount --bind "$ROOT" "$ROOT" && mount -t proc proc "$ROOT/proc" &&
      mount --rbind /dev "$ROOT/dev" && mount --rbind /sys "$ROOT/sys" &&
      mount --bind "$APT" "$ROOT/var/cache/apt/archives" || exit 1
    if [ -n "$CCACHE_DIR" ]; then
      mkdir -p "$ROOT/ccache" && mount --bind "$CCACHE_DIR" "$ROOT/ccache" || exit 1
    fi
    exec "$@"' sh "$@"
}

# in_root COMMAND...: in $root.
in_root() {
  mounted env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 CCACHE_DIR=/ccache DEBIAN_FRONTEND=noninteractive \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 chroot "$root" "$@"
}

# root_install PACKAGE...: Debian's, in $root.
root_install() {
  in_root apt-get -q -y --no-install-recommends install "$@" ||
    wrong "apt-get install $*"
}

# pip_install PACKAGE: of PyPI, into $out/venv.
pip_install() {
  [ -x "$out/venv/bin/python" ] || python3 -m venv "$out/venv" ||
    wrong 'no virtual environment'
  "$out/venv/bin/pip" install -q "$1" || wrong "pip install $1"
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
  did "make dist: twice the same $(wc -c <"$archive") bytes"
  rm -rf "$out/image"
  make -s -C "$build" install DESTDIR="$out/image" || wrong 'make install DESTDIR='
  files_of "$out/image" >"$out/installed"
  make -s -C "$build" uninstall DESTDIR="$out/image" || wrong 'make uninstall'
  files_of "$out/image" >"$out/left"
  [ ! -s "$out/left" ] || wrong "make uninstall left $(head -n 3 "$out/left")"
  did "make install DESTDIR=: $(wc -l <"$out/installed") files; make uninstall left none"
  rm -rf "$out/image"
}

step_debian() {
  need_root
  need lintian
  made "$archive" dist
  new_root
  options=${DEB_BUILD_OPTIONS:-}
  root_install build-essential ${CCACHE_DIR:+ccache}
  mkdir "$root/build" && cp "$archive" "$root/build/pems_$version.orig.tar.xz" &&
    tar xf "$archive" -C "$root/build" || wrong 'no archive in the root'
  # shellcheck disable=SC2016 # $1 and $2 are those of that shell
  in_root sh -c 'cd /build/pems-* && apt-get -q -y --no-install-recommends build-dep ./ &&
    DEB_BUILD_OPTIONS=$1 dpkg-buildpackage -us -uc' sh \
    "parallel=$(nproc) $options" || wrong 'dpkg-buildpackage'
  rm -rf "$out/debian" "$root/build/pems-$version"
  cp -r "$root/build" "$out/debian" || wrong 'no packages'
  drop_root
  did "dpkg-buildpackage in a clean root of $suite: $(packages)"
  case " $options " in
    *' nocheck '*) left 'unit tests in the build' nocheck ;;
    *) did "unit tests in the build:$(sed -n 's/^# \([A-Z]*\):  *\([1-9].*\)/ \1 \2/p' \
      "$out/debian.log" | tr '\n' ',' | sed 's/,$//')" ;;
  esac
  # What only counts for who uploads to Debian's archive.
  archive_only=initial-upload-closes-no-bugs,no-debian-changes,debian-watch-file-is-missing
  lintian --allow-root --info --display-info --fail-on error,warning,info \
    --suppress-tags $archive_only "$out"/debian/*.changes || wrong 'lintian'
  did "$(lintian --version | head -n 1): no error, warning or info"
  left "lintian's $archive_only" "they are for uploads to Debian's archive"
}

# The names of the Debian packages that were built.
packages() {
  for deb in "$out"/debian/*.deb; do
    basename "${deb%%_*}"
  done | grep -v dbgsym | sort | tr '\n' ' '
}

# purge: pems is removed from the root, and nothing of it is left.
purge() {
  # shellcheck disable=SC2046 # a list
  in_root apt-get -q -y purge $(packages) || wrong 'apt-get purge'
  find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*pems*' >"$out/left"
  [ ! -s "$out/left" ] || wrong "purging left $(head -n 3 "$out/left")"
}

step_root() {
  need_root
  need autopkgtest
  made "$out/debian" debian
  new_root
  mkdir "$root/debs"
  find "$out/debian" -name '*.deb' ! -name '*dbgsym*' -exec cp {} "$root/debs/" \;
  in_root sh -c 'apt-get -q -y --no-install-recommends install /debs/*.deb' ||
    wrong 'the packages are not installed'
  for command in pemsrun pemsinfo pemstop pems-sort pems-graph; do
    in_root $command --version || wrong "$command --version"
  done
  purge
  drop_root
  did "installed without recommended packages, five commands run, purged: nothing left"
  new_root
  # Its tests install what they depend on, from the packages given.
  rm -rf "$out/autopkgtest"
  mounted autopkgtest --output-dir "$out/autopkgtest" "$out"/debian/*.deb \
    "$out"/debian/*.dsc -- chroot "$root" || wrong 'autopkgtest'
  drop_root
  did "autopkgtest in a clean root: $(cut -d ' ' -f 1 "$out/autopkgtest/summary" | tr '\n' ' ')"
}

# In a clean root; names of packages are Fedora's there, so that they come from what
# debian/control requires. Flags are Debian's: its rpm has none but -O2.
build_rpms() {
  new_root
  root_install build-essential rpm ${CCACHE_DIR:+ccache}
  mkdir -p "$root/build" "$root/rpm/SOURCES"
  cp "$archive" "$root/rpm/SOURCES/" && tar xf "$archive" -C "$root/build" ||
    wrong 'no archive in the root'
  in_root sh -c 'cd /build/pems-* &&
    apt-get -q -y --no-install-recommends build-dep ./ && cp packaging/pems.spec /rpm/ &&
    eval "$(DEB_BUILD_MAINT_OPTIONS="hardening=+all optimize=-lto" dpkg-buildflags \
      --export=sh)" &&
    rpmbuild -ba --nodeps --define "_topdir /rpm" --define "_builddir /build" \
      /rpm/pems.spec' || wrong 'rpmbuild'
  rm -rf "$out/rpm"
  cp -r "$root/rpm" "$out/rpm" || wrong 'no packages'
  drop_root
}

step_rpm() {
  need_root
  made "$archive" dist
  build_rpms
  did "rpmbuild in a clean root of $suite:" \
    "$(find "$out/rpm" -name '*.rpm' -printf '%f\n' | sort | tr '\n' ' ')"
  left 'BuildRequires' "names of Fedora's packages; Debian's libraries were there instead"
  if command -v rpmlint >/dev/null; then
    rpmlint -c "$top/packaging/rpmlint.toml" "$top/packaging/pems.spec" \
      "$out"/rpm/SRPMS/*.rpm "$out"/rpm/RPMS/*/*.rpm || wrong 'rpmlint'
    did "rpmlint $(rpmlint --version): no error"
  else
    left rpmlint 'it is not installed (PyPI has it)'
  fi
  install_rpms
}

# In a clean root, with the libraries that Debian's packages would bring.
install_rpms() {
  new_root
  root_install rpm gcc g++ gfortran libopenmpi-dev openmpi-bin libaio-dev \
    libhwloc-dev liburing-dev libhwy1 liblz4-1 libzstd1 zlib1g pkg-config
  mkdir -p "$root/rpms"
  find "$out/rpm/RPMS" -name '*.rpm' ! -name '*debug*' -exec cp {} "$root/rpms/" \;
  in_root sh -c 'rpm -i --nodeps /rpms/*.rpm && ldconfig /usr/lib64 /usr/lib &&
    pemsinfo --version && pems-sort --version' || wrong 'rpm -i'
  cp "$top/debian/tests/hello" "$top/debian/tests/em" "$root/rpms/"
  in_root sh -c 'export PKG_CONFIG_PATH=/usr/lib64/pkgconfig
    sh /rpms/hello && sh /rpms/em' || wrong 'the tests of debian/tests'
  in_root sh -c 'rpm -e --nodeps pems pems-libs pems-devel && rm -rf /rpms' ||
    wrong 'rpm -e'
  find "$root/usr" -name '*pems*' >"$out/left"
  [ ! -s "$out/left" ] || wrong "rpm -e left $(head -n 3 "$out/left")"
  drop_root
  did 'installed in a clean root of Debian, the tests of debian/tests run, removed: nothing left'
}

# Before Spack 1, classes of build systems come with Spack, packages' names have no
# module, and compilers are no packages.
spack_is_old() {
  case $("$SPACK/bin/spack" --version) in 0.*) return 0 ;; esac
  return 1
}

# The recipe, and a version that is the archive, in a repository of our own.
spack_repository() {
  repository=$out/spack/spack_repo/ours
  mkdir -p "$repository/packages/pems"
  printf 'repo:\n  namespace: ours\n' >"$repository/repo.yaml"
  sum=$(sha256sum <"$archive")
  sed "s|^    version(\"main\".*|&\n    version(\"$version\", sha256=\"${sum%% *}\", \
url=\"file://$archive\")|" "$top/packaging/spack/package.py" \
    >"$repository/packages/pems/package.py"
  if spack_is_old; then
    sed -i '/^from spack_repo\.builtin\./d' "$repository/packages/pems/package.py"
    left "Spack 1" "this is $("$SPACK/bin/spack" --version): the recipe without its import of Spack 1's AutotoolsPackage"
  else
    echo '  api: v2.0' >>"$repository/repo.yaml"
  fi
}

# What Debian has is not built by Spack.
spack_externals() {
  echo 'packages:'
  for each in openmpi:libopenmpi-dev hwloc:libhwloc-dev libaio:libaio-dev \
    highway:libhwy-dev liburing:liburing-dev lz4:liblz4-dev zstd:libzstd-dev zlib:zlib1g-dev \
    xxhash:libxxhash-dev perl:perl pkgconf:pkg-config gmake:make; do
    there=$(dpkg-query -W -f '${Version}' "${each#*:}" | sed 's/^[0-9]*://; s/[-+~].*//')
    printf '  %s:\n    buildable: false\n    externals:\n' "${each%:*}"
    printf '    - spec: "%s@%s"\n      prefix: /usr\n' "${each%:*}" "$there"
  done
  gcc_version=$(gcc -dumpfullversion)
  spack_is_old || cat <<END # the compiler is a package, too
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
END
  cat <<END
  all:
    providers:
      mpi: [openmpi]
      zlib-api: [zlib]
END
}

spack_compilers() {
  cat <<END
compilers:
- compiler:
    spec: gcc@=$(gcc -dumpfullversion)
    operating_system: $(spack arch --operating-system)
    target: $(uname -m)
    modules: []
    paths: {cc: /usr/bin/gcc, cxx: /usr/bin/g++, f77: /usr/bin/gfortran, fc: /usr/bin/gfortran}
END
}

# spack of $SPACK, with what is in our scope, and nothing of this user's.
spack() {
  "$SPACK/bin/spack" -C "$out/spack/scope" "$@"
}

spack_scope() {
  mkdir -p "$out/spack/scope"
  spack_externals >"$out/spack/scope/packages.yaml"
  if spack_is_old; then
    printf 'repos:\n- %s\n' "$repository"
  else
    printf 'repos:\n  ours: %s\n' "$repository"
    [ -z "${SPACK_PACKAGES:-}" ] ||
      echo "  builtin: $SPACK_PACKAGES/repos/spack_repo/builtin"
  fi >"$out/spack/scope/repos.yaml"
  {
    printf 'config:\n  install_tree:\n    root: %s/spack/tree\n' "$out"
    printf '  build_stage: %s/spack/stage\n' "$out"
    [ -z "${CCACHE_DIR:-}" ] || echo '  ccache: true'
  } >"$out/spack/scope/config.yaml"
  ! spack_is_old || spack_compilers >"$out/spack/scope/compilers.yaml"
}

# What can be said of the recipe without Spack.
spack_lint() {
  [ -d "${SPACK_PACKAGES:-}/repos" ] || {
    left "the recipe's style and names" \
      'SPACK_PACKAGES names no tree of github.com/spack/spack-packages'
    return 0
  }
  pip_install ruff
  "$out/venv/bin/ruff" check --no-fix --config "$SPACK_PACKAGES/pyproject.toml" \
    "$top/packaging/spack/package.py" || wrong 'ruff check'
  "$out/venv/bin/ruff" format --check --config "$SPACK_PACKAGES/pyproject.toml" \
    "$top/packaging/spack/package.py" || wrong 'ruff format'
  python3 "$top/packaging/spack/lint.py" "$top" "$SPACK_PACKAGES" >"$out/spack.names" || {
    cat "$out/spack.names"
    wrong 'the recipe'
  }
  did "$("$out/venv/bin/ruff" --version) with Spack's settings; names of" \
    "$(cat "$out/spack.names") are Spack's and configure's"
}

step_spack() {
  need python3
  made "$archive" dist
  spack_lint
  [ -x "${SPACK:-}/bin/spack" ] || {
    left 'spack install' 'SPACK names no tree of github.com/spack/spack'
    return 0
  }
  SPACK_USER_CONFIG_PATH=$out/spack/config SPACK_USER_CACHE_PATH=$out/spack/cache
  SPACK_DISABLE_LOCAL_CONFIG=1
  # Its solver, which it would fetch from where may not be reached.
  pip_install clingo
  SPACK_PYTHON=$out/venv/bin/python
  export SPACK_USER_CONFIG_PATH SPACK_USER_CACHE_PATH SPACK_DISABLE_LOCAL_CONFIG SPACK_PYTHON
  rm -rf "$out/spack"
  spack_repository
  spack_scope
  spack install --no-cache -j "$(nproc)" "pems@$version" || wrong 'spack install'
  prefix=$(spack location -i "pems@$version") || wrong 'spack location'
  "$prefix/bin/pemsinfo" --version || wrong 'pemsinfo of Spack'
  PATH=$prefix/bin:$PATH sh "$top/debian/tests/hello" || wrong 'debian/tests/hello'
  did "Spack $(spack --version): spack install with Debian's libraries, debian/tests/hello"
}

# As rattler-build reads the recipe. Prints the commands that it tests.
conda_recipe() {
  pip_install 'py-rattler-build>=0.73,<1'
  "$out/venv/bin/python" "$top/packaging/conda/lint.py" "$top" >"$out/conda.tests" || {
    cat "$out/conda.tests"
    wrong 'the recipe'
  }
  did "py-rattler-build $("$out/venv/bin/pip" show py-rattler-build | sed -n 's/^Version: //p'):" \
    'the recipe is rendered'
}

# Channels of conda may not be reached: what the recipe requires is then Debian's, behind
# packages that are empty.
step_conda() {
  need python3
  made "$archive" dist
  conda_recipe
  rm -rf "$out/conda"
  mkdir "$out/conda" && tar xf "$archive" -C "$out/conda" || wrong 'no archive'
  "$out/venv/bin/python" "$top/packaging/conda/build.py" "$out/conda/pems-$version" \
    "$out/conda" || wrong 'rattler-build'
  did "rattler-build built and tested $(cd "$out/conda/made/linux-64" && echo *.conda):" \
    "$(wc -l <"$out/conda.tests") commands of the recipe"
  left "conda's compilers and libraries" \
    "its channels were not to be had: empty packages stand for them, Debian's are used"
}

# Registries of images may not be reached: a clean root is Debian's image.
container_base() {
  new_root
  from=$(buildah from scratch) || wrong 'buildah from'
  tar cf "$out/root.tar" -C "$root" .
  drop_root
  buildah add -q "$from" "$out/root.tar" / || wrong 'buildah add'
  rm -f "$out/root.tar"
  buildah commit -q --rm "$from" docker.io/library/debian:12 || wrong 'buildah commit'
  left "Debian's image" 'debootstrap made the one that ours is from'
}

step_container() {
  need_root
  need buildah
  made "$archive" dist
  buildah() {
    command buildah --storage-driver vfs --root "$out/buildah" --runroot "$out/buildah.run" "$@"
  }
  container_base
  rm -rf "$out/context"
  mkdir "$out/context"
  tar xf "$archive" -C "$out/context"
  buildah bud --pull-never --isolation chroot --network host -t pems \
    -f "$top/packaging/Containerfile" "$out/context/pems-$version" || wrong 'buildah bud'
  image=$(buildah from --pull-never localhost/pems) || wrong 'buildah from pems'
  buildah add -q "$image" "$top/debian/tests/hello" /hello || wrong 'buildah add'
  buildah run --isolation chroot "$image" sh /hello || wrong 'a program in the container'
  buildah rm -a >/dev/null
  did "$(command buildah --version): built; debian/tests/hello runs in it"
  rm -rf "$out/context" "$out/buildah" "$out/buildah.run"
}

# As a new user has them: in a root without anything.
step_readme() {
  need_root
  need git
  git -C "$top" rev-parse -q --verify HEAD || skip 'no checkout: this is an archive'
  for suite in ${README_SUITES:-bookworm trixie}; do
    new_root
    root_install ca-certificates ${CCACHE_DIR:+ccache}
    # How this machine reaches PyPI.
    find /usr/local/share/ca-certificates /etc/pip.conf -type f \
      -exec cp --parents {} "$root" \;
    in_root update-ca-certificates || wrong 'update-ca-certificates'
    git clone -q "file://$top" "$root/pems" || wrong 'no clone in the root'
    in_root sh -c 'cd /pems && exec ./bootstrap demo' || wrong "$suite: ./bootstrap demo"
    did "./bootstrap demo on $suite"
    # shellcheck disable=SC2016,SC2086 # that shell's; words
    in_root sh -c 'cd /pems && exec ./bootstrap check "$@"' sh ${README_CHECK:-} ||
      wrong "$suite: ./bootstrap check ${README_CHECK:-}"
    did "./bootstrap check ${README_CHECK:-} on $suite"
    drop_root
  done
}

# --- all of them ---

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- dist debian root rpm spack conda container readme
for step; do
  case $step in
    dist | debian | root | rpm | spack | conda | container | readme) ;;
    *)
      sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done

# say TEXT: here, and in the summary.
say() {
  echo "$*" | tee -a "$out/summary"
}

: >"$out/summary"
say "pems $version, commit $(git -C "$top" rev-parse --short HEAD 2>/dev/null || echo '?')," \
  "$(date -u '+%Y-%m-%d %H:%M') UTC"
for step; do
  began=$(date +%s)
  : >"$out/$step.said"
  (step_"$step") >"$out/$step.log" 2>&1
  case $? in
    0) passed=$((passed + 1)) word=PASS ;;
    77) skipped=$((skipped + 1)) word=SKIP ;;
    *) failed=$((failed + 1)) word=FAIL ;;
  esac
  say "$word $step ($(($(date +%s) - began)) s)$(
    [ $word != FAIL ] || printf ': %s' "$(tail -n 1 "$out/$step.log" | cut -c 1-200)")"
  sed 's/^/  /' "$out/$step.said" | tee -a "$out/summary"
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
