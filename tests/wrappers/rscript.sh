#!/bin/sh
# R under pemsrun: each rank is an interpreter of its own. Skipped without an
# Rscript that has a shared libR; what needs Rmpi, without it.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

command -v Rscript >/dev/null || skip "Rscript was not found: install r-base-core"
library=$(Rscript -e 'cat(file.path(R.home("lib"), "libR.so"))')
[ -r "$library" ] || skip "R has no shared library: $library"

# run RANKS ARGUMENTS...: standard output in out, and the status.
run() {
  ranks=$1
  shift
  limited pemsrun -n "$ranks" --pems-context=256M "$@" >out 2>err
}
# same NAME RANKS: each line of `wanted` came from so many ranks, and no other.
same() {
  while IFS= read -r line; do
    [ "$(grep -cxF -- "$line" out)" -eq "$2" ] ||
      fail "$1: not $2 times '$line': $(head -n 5 out) $(head -n 5 err)"
  done <wanted
  [ "$(wc -l <out)" -eq $(($2 * $(wc -l <wanted))) ] || fail "$1: $(cat out)"
}

cat >basic.R <<'R'
# In one piece: between two, another rank may write.
say <- function(...) cat(paste0(paste(c(...), collapse = " "), "\n"))
say("arguments", commandArgs(trailingOnly = TRUE))
say("model", coef(lm(dist ~ speed, cars)))
say("home", R.home(), nzchar(Sys.getenv("R_SHARE_DIR")))
big <- seq_len(1e6)
say("sum", sum(big), length(grep("7", as.character(1:1000))))
f <- function(n) if (n == 0) 0 else 1 + f(n - 1)
say("deep", f(500))
say("caught", tryCatch(stop("it"), error = conditionMessage))
R
Rscript basic.R one "two words" >wanted || fail "plain: $(cat wanted)"
run 3 Rscript basic.R one "two words" || fail "basic: $(head -n 5 err)"
same basic 3

# As scripts begin, and with options.
{ echo "#!$(command -v Rscript)"; cat basic.R; } >script.R
chmod +x script.R
run 2 ./script.R one "two words" || fail "script: $(head -n 5 err)"
same script 2
searched='cat(paste0(paste(search(), collapse = " "), "\n"))'
given='cat(paste0(commandArgs(TRUE), "\n"))'
Rscript --vanilla --default-packages=utils -e "$searched" -e "$given" x >wanted
run 2 Rscript --vanilla --default-packages=utils -e "$searched" -e "$given" x ||
  fail "options: $(head -n 5 err)"
same options 2

run 2 Rscript -e 'quit(status = 3)'
[ $? -eq 3 ] || fail "status: $(head -n 5 err)"
run 2 Rscript -e 'stop("no more")'
[ $? -eq 1 ] || fail "an error: $(head -n 5 err)"
grep -q 'no more' err || fail "an error is not told: $(cat err)"
run 2 Rscript nowhere.R
[ $? -ne 0 ] || fail "a script that is not there"
run 2 Rscript --verbose basic.R
[ $? -eq 2 ] || fail "an option that is not heeded"
[ "$(grep -c '^pems: an option of Rscript' err)" -eq 1 ] || fail "$(cat err)"

# Debian's is for its own Open MPI: with another each process is alone.
limited ${MPIRUN:-mpirun} -n 2 Rscript -e 'library(Rmpi)
cat("ranks", mpi.comm.size(0), "\n"); invisible(mpi.finalize())' >out 2>&1
if grep -q 'ranks 2' out; then
  cat >sums.R <<'R'
library(Rmpi)
invisible(mpi.comm.dup(0, 1))
rank <- mpi.comm.rank(1)
x <- rep(rank + 0, 200000)
for (i in 1:5) x <- mpi.allreduce(x, type = 2, op = "sum", comm = 1) / 3
cat(sprintf("rank %d of %d has %g %g\n", rank, mpi.comm.size(1), x[1], sum(x)))
invisible(mpi.finalize())
R
  for how in --pems-k=2 "--pems-procs=2 --pems-k=1"; do
    # shellcheck disable=SC2086 # options are words
    PEMS_TEST_EVICT_ALWAYS=1 run 3 $how Rscript sums.R ||
      fail "Rmpi ($how): $(head -n 5 err)"
    for rank in 0 1 2; do
      grep -qx "rank $rank of 3 has 1 200000" out || fail "Rmpi ($how): $(cat out)"
    done
  done
  cat >spawn.R <<'R'
library(Rmpi)
invisible(mpi.comm.dup(0, 1))
tryCatch(mpi.comm.spawn(Sys.which("Rscript"), "sums.R", 1L, intercomm = 2),
         error = function(e) cat("refused\n"))
invisible(mpi.finalize())
R
  run 1 Rscript spawn.R || fail "spawning R: $(head -n 5 err)"
  grep -qx refused out || fail "spawning R: $(cat out)"
  [ "$(grep -c '^pems: MPI_Comm_spawn: .*Rscript: another program' err)" -eq 1 ] ||
    fail "spawning R: $(cat err)"
else
  echo "no Rmpi for this MPI: left out"
fi
conclude
