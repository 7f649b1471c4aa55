# shellcheck shell=sh
# For tests that draw what they do: the same from the same number.
# shellcheck disable=SC2034 # what is drawn is for who reads this

# draw_from N: what is drawn from now on follows from N, below 2^32.
draw_from() {
  state=$1
}

# roll N: $rolled is less than N.
roll() {
  state=$(((state * 1103515245 + 12345) % 4294967296))
  rolled=$((state / 65536 % $1))
}

# one_of WORD...: $word is one of them.
one_of() {
  roll $#
  shift "$rolled"
  word=$1
}
