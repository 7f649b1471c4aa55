#!/bin/sh
# Links a unit test in the place of libtool, which takes ten times as long as the
# linker does: each of the tree's own libraries, NAME.la, is its archive and what
# that needs. Called as libtool is.
set -eu
while :; do
  case $1 in
  --*) shift ;;
  *) break ;;
  esac
done
# An argument goes from the front to the end, as the linker is to see it.
left=$#
while [ $left -gt 0 ]; do
  case $1 in
  *.la)
    dependency_libs=$(sed -n "s/^dependency_libs='\(.*\)'\$/\1/p" "$1")
    folder=$(dirname "$1")
    # shellcheck disable=SC2086 # words
    set -- "$@" "$folder/.libs/$(basename "$1" .la).a" $dependency_libs
    ;;
  *) set -- "$@" "$1" ;;
  esac
  shift
  left=$((left - 1))
done
exec "$@"
