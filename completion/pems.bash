# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# bash completion of the commands of pems. Options are read from what the command
# itself prints with --help, so that there is one list of them.

# _pems_options COMMAND: its options, those with an operand ending with "=" or ":".
_pems_options() {
  # shellcheck disable=SC2086 # a command of pems-graph is two words
  $1 --help 2>/dev/null |
    sed -n 's/^  *\(-.*\)/\1/p' | sed 's/  .*//; s/, /\n/g' |
    grep -oE -e '^--?[A-Za-z0-9][A-Za-z-]*[=:]?' | sort -u
}

# The words that an option's help lists, separated by |: "even|auto".
_pems_words() {
  "$1" --help 2>/dev/null | sed -n "s/^  *$2=\\([a-z|]*|[a-z|]*\\).*/\\1/p" |
    head -n 1 | tr '|' ' '
}

_pems_complete() {
  local command=$1 word=$2 option value
  COMPREPLY=()
  # "--pems-split=au" comes as three words where = separates words.
  if [[ $word == --*=* ]]; then
    option=${word%%=*} value=${word#*=}
  elif [[ $word == = && $3 == --* ]]; then
    option=$3 value=
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]} value=$word
  fi
  if [[ -n $option ]]; then
    case $option in
      *-disk | *-report | *-directory)
        mapfile -t COMPREPLY < <(compgen -d -- "$value") ;;
      *)
        mapfile -t COMPREPLY < <(compgen -W "$(_pems_words "$command" \
          "$option")" -- "$value")
        [[ ${#COMPREPLY[@]} -gt 0 ]] ||
          mapfile -t COMPREPLY < <(compgen -f -- "$value") ;;
    esac
    return
  fi
  # pems-graph COMMAND: the commands, then the options of each.
  if [[ $command == *pems-graph ]]; then
    if [[ $COMP_CWORD -eq 1 ]]; then
      mapfile -t COMPREPLY < <(compgen -W "--help --version $("$command" --help \
        2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')" -- "$word")
      return
    fi
    command="$command ${COMP_WORDS[1]}"
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_pems_options "$command")" -- "$word")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
      compopt -o nospace 2>/dev/null
    fi
  elif [[ $command == *pemstop ]]; then
    mapfile -t COMPREPLY < <(compgen -A hostname -W "$(pemstop --list 2>/dev/null |
      awk 'NR > 1 { print $1 }')" -- "$word")
  elif [[ $command == *pemsrun ]]; then
    mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

# What is added to the compiler's options; all others, and files, are completed as
# words of the shell are.
_pems_compiler() {
  local command=$1 word=$2
  COMPREPLY=()
  # "-showme:co" comes as three words where : separates words.
  if [[ $word == -showme:* || ${COMP_WORDS[COMP_CWORD - 1]} == : || $word == : ]]; then
    word=${word##*:}
    mapfile -t COMPREPLY < <(compgen -W "$("$command" --help 2>/dev/null |
      grep -oE '\([a-z]+\)' | tr -d '()')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_pems_options "$command")" -- "$word")
  fi
}

complete -o filenames -F _pems_complete pemsrun pemsinfo pemstop pems-sort \
  pems-graph
complete -o default -o bashdefault -F _pems_compiler pemscc pemscxx pemsfort
