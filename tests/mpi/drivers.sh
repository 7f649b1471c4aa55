# Sourced: which drivers there are, and how to spread choices over runs.
# shellcheck shell=sh

known=$("${PEMSINFO:-pemsinfo}" | sed -n '/^drivers/,/^$/s/^  \([a-z]*\) .*/\1/p')
drivers=
for driver in unix aio uring mmap mem; do
  case " $(echo "$known" | tr '\n' ' ')" in
  *" $driver "*) drivers="$drivers $driver" ;;
  *) echo "SKIP ${0##*/} with --pems-io=$driver: not built (see pemsinfo)" ;;
  esac
done

# nth N WORDS...: the N-th word, counted from 0 and round again.
nth() {
  skip=$(($1 % ($# - 1) + 1))
  shift $skip
  echo "$1"
}
