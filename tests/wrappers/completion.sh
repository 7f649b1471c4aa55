#!/bin/sh
# Completion: options and their words as bash completes them; that zsh can read its
# file. Installed files are tested by package.sh.
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
_pems_complete "\${COMP_WORDS[0]}" "\${COMP_WORDS[COMP_CWORD]}" \
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

if command -v zsh >/dev/null; then
  expect "zsh reads its file" 0 -- zsh -n "$here/completion/_pems"
else
  echo "no zsh: its file was not read"
fi
conclude
