#!/bin/sh
# Completion: options and their words as bash and zsh complete them: all that --help
# tells of, for each command. Installed files are tested by package.sh.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
command -v bash >/dev/null || skip "no bash"

# completes LINE WORD...: what the last word of the line may become has each WORD.
completes() {
  line=$1
  shift
  cat >ask.bash <<END
source "$here/completion/pems.bash"
COMP_WORDS=($line)
COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
${PEMS_FUNCTION:-_pems_complete} "\${COMP_WORDS[0]}" "\${COMP_WORDS[COMP_CWORD]}" \
  "\${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "\${COMPREPLY[@]}"
END
  try bash ask.bash
  for word in "$@"; do
    grep -qx -e "$word" out || fail "$line: not completed to $word"
  done
}

completes 'pemsrun --pems-s' --pems-split= --pems-stats --pems-swapin=
completes 'pemsrun --pems-split=' even auto
completes 'pemsrun --pems-split=e' even
completes 'pemstop --o' --once
completes 'pemstop --d' --delay=
completes 'pemsinfo --m' --measure
completes 'pemsinfo --pl' --plan=
completes 'pemsinfo --ra' --ranks= --rate=
completes 'pems-sort --mem' --memory
completes 'pems-graph pa' pagerank
completes 'pems-graph sssp --par' --parents
mkdir scratch
completes 'pemsrun --pems-disk=scr' scratch
completes 'pemsinfo --pems-report=scr' scratch
: >numbers.txt
completes 'pems-sort num' numbers.txt

completes 'pemsinfo --' --D= --g= --version
PEMS_FUNCTION=_pems_compiler
export PEMS_FUNCTION
completes 'pemscc -show' -show -showme:
completes 'pemscc -showme:l' link libs libdirs
completes 'pemscxx -showme : inc' incdirs
unset PEMS_FUNCTION

# options_of COMMAND...: what --help tells of, word by word.
options_of() {
  "$@" --help | awk '/^ +-/ {
      sub(/^ +/, "")
      sub(/  .*/, "")
      gsub(/[,=:]/, " & ")
      n = split($0, word, " ")
      for (i = 1; i <= n; i++) if (word[i] ~ /^--?[A-Za-z0-9]/) print word[i]
    }' | sort -u
}

commands='pemsrun pemsinfo pemstop pems-sort pemscc pemscxx'
# Not every MPI has Fortran.
if command -v pemsfort >/dev/null; then
  commands="$commands pemsfort"
fi
for command in convert generate info sssp bfs pagerank mst astar; do
  commands="$commands pems-graph:$command"
done
for command in $commands; do
  words=$(echo "$command" | tr : ' ')
  # shellcheck disable=SC2086 # two words of pems-graph
  options_of $words >wanted
  [ "$(wc -l <wanted)" -ge 4 ] || fail "$command --help tells of few options"
  case $command in pemscc | pemscxx | pemsfort) PEMS_FUNCTION=_pems_compiler ;; esac
  # shellcheck disable=SC2046 # a list
  completes "$words -" $(sed 's/$/[=:]*/' wanted)
  unset PEMS_FUNCTION
done

# zsh with its own functions replaced by what prints their arguments.
if command -v zsh >/dev/null; then
  expect "zsh reads its file" 0 -- zsh -n "$here/completion/_pems"
  cat >ask.zsh <<'END'
_arguments() { print -l -- "$@" }
_describe() { print -l -- ${(P)4} }
_files() { }
words=(${(s.:.)1} -) service=${words[1]} CURRENT=$#words
complete_as() { source $1 }
complete_as $2
END
  for command in $commands; do
    # shellcheck disable=SC2046 # a list
    options_of $(echo "$command" | tr : ' ') >wanted
    try zsh ask.zsh "$command" "$here/completion/_pems"
    sed 's/\[.*//; s/[=:\\].*//' out | sort -u >has
    while read -r option; do
      grep -qx -e "$option" has || fail "zsh: $command: not completed to $option"
    done <wanted
  done
  try zsh ask.zsh pemsrun "$here/completion/_pems"
  grep -q '^--pems-split=\[.*\]:value:(even auto)$' out || fail "zsh: no words of a choice"
  grep -q '^--pems-disk=\[.*\]:value:_files -/$' out || fail "zsh: no folders"
else
  echo "no zsh: its file was not read"
fi
conclude
