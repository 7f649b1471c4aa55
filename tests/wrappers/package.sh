#!/bin/sh
# What packagers see: the same -h and -V of all commands, an archive without what
# was built, and pkg-config files of a tree that can be moved.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
unset PEMS_CC PEMS_CXX PEMS_FC CC CXX FC
built=${top_builddir:-$here/build}

for command in pemscc pemscxx pemsfort pemsrun pemsinfo pemstop pems-graph \
  pems-sort; do
  command -v $command >/dev/null || continue
  for option in -h --help; do
    expect "$command $option" 0 "^usage: $command" -- $command $option
    [ ! -s err ] || fail "$command $option: something on stderr"
  done
  expect "$command -V" 0 "^$command \(pems\) [0-9]" -- $command -V
  case $command in
    pemscc | pemscxx | pemsfort) ;; # the compiler's
    *) expect "$command --version" 0 "^$command \(pems\) [0-9]" -- \
      $command --version ;;
  esac
done

if [ -f "$built/Makefile" ]; then
  try make -s -C "$built" distdir distdir="$work/pems"
  [ $status -eq 0 ] || fail "make distdir"
  find pems -name '*.Po' -o -name '*.Plo' -o -name '*.o' -o -name '*.lo' -o \
    -name .libs -o -name .dirstamp >built
  [ ! -s built ] || fail "the archive has $(wc -l <built) files that were built: \
$(head -n 1 built)"
  for file in apps/psrs.c wrappers/graph/pems_graph_sssp.c tests/mpi/p2p.c tests/style.sh; do
    [ -f "pems/$file" ] || fail "the archive has no $file"
  done
  # All that is kept is in the archive, but what a forge is for.
  if git -C "$here" rev-parse HEAD >/dev/null 2>&1; then
    git -C "$here" ls-files >kept
    [ "$(wc -l <kept)" -ge 1000 ] || fail "git lists few files"
    while read -r file; do
      case $file in
        .git*) ;;
        *) [ -e "pems/$file" ] || ! [ -e "$here/$file" ] || echo "$file" ;;
      esac
    done <kept >lost
    [ ! -s lost ] || fail "the archive lacks $(tr '\n' ' ' <lost)"
  fi

  # The same sources make the same archive.
  if [ "${PEMS_TEST_LONG:-}" = 1 ]; then
    for time in 1 2; do
      try make -s -C "$built" dist
      [ $status -eq 0 ] || fail "make dist"
      cat "$built"/pems-*.tar.xz | sha256sum >sum.$time
      rm -f "$built"/pems-*.tar.xz
    done
    cmp -s sum.1 sum.2 || fail "make dist made two different archives"
    try make -s -C "$built" install DESTDIR="$work/image"
    [ $status -eq 0 ] || fail "make install DESTDIR="
    find image -path '*completions/pemsrun' | grep -q . ||
      fail "no completion was installed"
    try make -s -C "$built" uninstall DESTDIR="$work/image"
    find image ! -type d >left
    [ ! -s left ] || fail "make uninstall left $(head -n 1 left)"
  fi

  # Programs for interpreters are looked for beside the command first.
  dirs=$(sed -n 's/^\(bindir\|libdir\) = //p' "$built/Makefile" | tr '\n' ' ')
  if [ "$dirs" = '${exec_prefix}/bin ${exec_prefix}/lib ' ] &&
    command -v python3 >/dev/null; then
    mkdir -p moved/bin moved/lib/pems
    cp "$(command -v pemsrun)" moved/bin/
    echo 'echo "moved: $*"' >moved/lib/pems/pems-python
    chmod +x moved/lib/pems/pems-python
    expect "a tree that was moved has pems-python" 0 \
      "$work/moved/lib/pems/pems-python" -- moved/bin/pemsrun --pems-show -n 2 python3 x.py
  fi
  # What holds the folders to install in is made again for others.
  try make -n -C "$built" -W paths.stamp libpems.la pemsrun
  for made in libpems.la pemsrun wrappers/interpreter/pemsrun-interpreter; do
    grep -q -e "-o $made" out || fail "$made is kept for another prefix"
  done

  if command -v pkg-config >/dev/null; then
    for package in pems pems-em pems-cgm; do
      mkdir -p old/lib/pkgconfig
      cp "$built/wrappers/$package.pc" old/lib/pkgconfig/
      PKG_CONFIG_PATH=$work/old/lib/pkgconfig
      export PKG_CONFIG_PATH
      expect "$package moves" 0 "-L$work/old/lib( |\$)" -- \
        pkg-config --define-prefix --libs $package
      expect "$package moves" 0 "-I$work/old/include( |\$)" -- \
        pkg-config --define-prefix --cflags $package
      lacks "$package: nothing of the old place" "$built" \
        pkg-config --define-prefix --libs --cflags $package
    done
  fi
fi
conclude
