#!/bin/sh
# pemstop on several hosts: it shows the whole job from the host of pemsrun and
# from the others, names processes that do not answer, and says when the job has
# ended. Quick.
. "$(dirname "$0")/lib.sh"
pemstop=${PEMSTOP:-pemstop}
command -v "$pemstop" >/dev/null || skip "$pemstop was not found: build pems first"

"$pemscc" -o "$work/wait" "$here/tests/wrappers/wait_for_file.c" || exit 1
few=--pems-memory=200M

on_hosts 3
said=$work/said

# looks NODE ARGUMENT...: pemstop there, once.
looks() {
  node=$1
  shift
  hosts_on "$node" "$pemstop" --once --delay=0.2 "$@" >"$said" 2>&1
}

looks_like() {
  pattern=$1
  shift
  looks "$@"
  grep -Eq -e "$pattern" "$said"
}

# shows PATTERN NODE ARGUMENT...: sooner or later it prints such a line.
shows() {
  until_seconds 200 looks_like "$@" || {
    fault "pemstop on $2 never shows '$1'"
    sed 's/^/    pemstop: /' "$said"
  }
}

# also PATTERN: what was shown last has this line, too.
also() {
  grep -Eq -e "$1" "$said" || {
    fault "pemstop does not show '$1'"
    sed 's/^/    pemstop: /' "$said"
  }
}

begin "one process on each host"
start_hosts -n 6 $few "$work/wait" "$work/go1" running
await running
for node in nodeA nodeB nodeC; do
  shows 'computing 1, .*for others 5; done 0' $node
  also '^wait: 6 ranks in 3 processes on 3 hosts, '
  also '^ +0 nodeA +[0-9]+ +2 '
  also '^ +2 nodeC +[0-9]+ +2 '
done
looks nodeC --list
touch "$work/go1"
finish
expect_status 0
expect_silence
expect_hosts_clean 5
end

begin "several processes on a host"
start_hosts -n 12 --procs=6 $few "$work/wait" "$work/go2" running
await running
shows 'for others 11; done 0' nodeB
also '^wait: 12 ranks in 6 processes on 3 hosts'
for node in nodeA nodeB nodeC; do
  also "^ +$node +2 +4 " # two processes, four ranks
done
hosts_on nodeC "$pemstop" --list >"$said" 2>&1
[ "$(grep -c ' 12 .*wait$' "$said")" -eq 1 ] ||
  fault "the two processes of a host are listed as: $(cat "$said")"
pid=$(hosts_running nodeB wait | tail -n 1)
shows 'on 3 hosts' nodeB "$pid"
end

begin "a process that is stopped does not answer"
kill -STOP "$pid"
shows "^no answer from process [0-9] on nodeB, pid $pid\$" nodeA
also "^ +[0-9] nodeB +$pid does not answer"
also '^wait: 12 ranks in 6 processes on 3 hosts'
looks nodeC
also "^no answer from process [0-9] on nodeB"
kill -CONT "$pid"
shows 'for others 11; done 0' nodeC
if grep -q 'no answer' "$said"; then
  fault "it is still said not to answer"
fi
touch "$work/go2"
finish
expect_status 0
expect_silence
expect_hosts_clean 5
end

# Who is not told the cookie learns nothing: another word, and none at all.
begin "other questions"
start_hosts -n 6 $few "$work/wait" "$work/go3" running
await running
pid=$(hosts_running nodeB wait | head -n 1)
places=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^PEMS_LIFELINE=//p')
port=$(echo "$places" | cut -d, -f2)
for word in "$(echo "$places" | cut -d, -f1 | tr 0-9a-f 1-9a-f0) ?" '?' 'GET /'; do
  # shellcheck disable=SC2016 # for perl
  hosts_on nodeB perl -e '
    use IO::Socket::INET;
    my $s = IO::Socket::INET->new(PeerAddr => "10.77.0.1", PeerPort => $ARGV[0])
      or die "no connection";
    print $s "$ARGV[1]\n";
    alarm 60;
    print <$s>;' "$port" "$word" >"$said" 2>&1 || fault "not turned away"
  [ ! -s "$said" ] || fault "'$word' is answered: $(cat "$said")"
done
shows 'for others 5; done 0' nodeB # pemsrun has not minded
touch "$work/go3"
finish
expect_status 0
expect_silence
expect_hosts_clean 5
end

begin "a job that has ended"
looks nodeB
grep -q '^pems: pemstop: 0 jobs here' "$said" || fault "it says: $(cat "$said")"
end
conclude
