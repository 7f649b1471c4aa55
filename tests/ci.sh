#!/bin/sh
# The workflow of a forge has the flavours that ./bootstrap check knows, and calls
# .ci/run for each; linters find nothing, where they are installed.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
workflow=.github/workflows/check.yml
cd "$top" || exit 1
[ -f $workflow ] || {
  echo "SKIP $name: no $workflow: this is an archive"
  exit 77
}

sed -n "s/^flavours='\(.*\)'$/\1/p" bootstrap | tr ' ' '\n' | sort >"$work/known"
sed -n '/^ *flavour:$/,/^ *steps:/s/^ *- \([a-z0-9]*\).*/\1/p' $workflow |
  sort >"$work/listed"
[ "$(wc -l <"$work/known")" -ge 5 ] || fail "no flavours in bootstrap"
# "all" has these two.
printf '%s\n' clang mpich | sort - "$work/listed" >"$work/run"
cmp -s "$work/known" "$work/run" || fail "flavours of bootstrap and of $workflow \
differ: $(sort "$work/known" "$work/run" | uniq -u | tr '\n' ' ')"
for flavour in $(grep -vx -e all -e abi -e '.*5' "$work/known"); do
  grep -q "^check-$flavour:" Makefile.am || fail "no make check-$flavour"
done
grep -q 'run: \.ci/run "\$FLAVOUR"$' $workflow || fail "$workflow: no .ci/run"
grep -q 'exec ./bootstrap check "\$@"$' .ci/run || fail ".ci/run: no bootstrap"
for words in 'check what' 'check all more'; do
  # shellcheck disable=SC2086 # words
  ./bootstrap $words >"$work/out" 2>&1 && fail "./bootstrap $words is accepted"
  grep -q 'unexpected argument' "$work/out" || fail "./bootstrap $words: no reason"
done

if command -v yamllint >/dev/null; then
  yamllint -d '{extends: default, rules: {line-length: {max: 90}}}' $workflow ||
    fail "yamllint"
else
  echo "yamllint is not there: $workflow was not read"
fi
if command -v actionlint >/dev/null; then
  actionlint $workflow || fail "actionlint"
else
  echo "actionlint is not there: $workflow was not checked"
fi
exit $status
