#!/bin/sh
# A rank that crashes: the line says in which function and line, whatever is
# damaged, and the job ends by the signal.
. "$(dirname "$0")/lib.sh"

build tests/fault/wreck.c -g

# line NAME: the number of the line that a comment in the program marks, or of
# one of several.
line() {
  echo "($(grep -n "LINE $1 " "$here/tests/fault/wreck.c" | cut -d : -f 1 | paste -sd '|'))"
}

# crashes TITLE HOW FUNCTION PATTERN...: with 1 and 2 processes; the line of
# rank 2 names the function, with its line where addr2line is there.
crashes() {
  crash_title=$1
  how=$2
  place=", in $3 \\(wreck.c:$(line "$how")\\)"
  command -v addr2line >/dev/null || place=", in $3\\+0x"
  shift 3
  for processes in 1 2; do
    begin "$crash_title, $processes processes"
    run -n 4 --pems-procs=$processes --pems-context=16M "$program" "$how"
    expect_failure
    expect_line "rank 2: .*$1.*$place"
    expect_clean
    end
  done
}

crashes "a bad address" load solve 'Segmentation fault: at address 0x8'
crashes "a division by zero" divide divide 'Floating point exception'
crashes "abort" abort give_up 'aborted \(SIGABRT\)'
crashes "a bad address for a function of libc" libc measure 'Segmentation'
begin "a handle of another MPI is told to be one"
case $launcher in
hydra) handle="an address, as Open MPI's handles are" ;;
*) handle='a handle of MPICH' ;;
esac
run -n 4 --pems-context=16M "$program" foreign
expect_line "rank 2.*wreck.*$handle: build all of the program, libraries too, with"
end
crashes "a jump to nowhere" nowhere leap 'Segmentation'
crashes "a stack that overflows" stack dig 'stack overflow'
crashes "a heap that is wrecked" heap wreck '(Segmentation|Bus)'

# Without addr2line, or if it takes for ever, the symbol is told.
mkdir "$work/none" "$work/slow"
for tool in env mpirun; do
  path=$(command -v $tool) && ln -s "$path" "$work/none/$tool"
done
printf '#!/bin/sh\nexec sleep 1000\n' >"$work/slow/addr2line"
chmod +x "$work/slow/addr2line"
begin "no addr2line"
pemsrun=$(command -v "$pemsrun")
launch env "PATH=$work/none" "$pemsrun" -n 4 "--pems-disk=$disk" \
  --pems-context=16M "$program" load
finish
expect_line 'rank 2: Segmentation fault: .*, in solve\+0x'
expect_clean
end
begin "an addr2line that hangs"
launch env "PATH=$work/slow:$PATH" "$pemsrun" -n 4 "--pems-disk=$disk" \
  --pems-context=16M "$program" load
finish
expect_line 'rank 2: Segmentation fault: .*, in solve\+0x'
expect_clean
end
conclude
