#!/bin/sh
# Throws mutated requests at the real server: http.sh BUILD SECONDS
#   BUILD     a build folder with talus and tests/view_client, best with sanitizers (./dev build fuzz)
#   SECONDS   how long
# Fails if the server ends, if a good request in between is not answered, if an answer has bytes of a file
# beside or in the directory that is not to be served, or if a sanitizer has something to say at the end.
set -eu

build=$(cd "$1" && pwd -P)
seconds=$2
work=$build/fuzz/http
threads=4

say() { printf 'fuzz: %s\n' "$*" >&2; }

rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$build/talus" run box-stack --until 0.5 --every 0.01 --out run >log 2>&1
echo "CANARY beside" >canary.txt
echo "CANARY inside" >run/inside.txt
ln -s ../canary.txt run/link.txt
"$build/talus" view run >address 2>err &
server=$!
trap 'kill -KILL $server 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    if [ -s address ]; then break; fi
    sleep 0.1
done
port=$(sed 's/.*:\([0-9]*\).*/\1/' address)

status=0
clients=
for n in $(seq $threads); do
    "$build/tests/view_client" "$port" fuzz "$seconds" "$n" >"client-$n" 2>&1 &
    clients="$clients $!"
done
for client in $clients; do wait "$client" || status=1; done
cat client-* >&2
"$build/tests/view_client" "$port" routes run >&2 || status=1
if [ -e run/control ]; then
    say "a control was written though no run is at work"
    status=1
fi
kill -TERM $server || status=1
wait $server || status=1
trap - EXIT
if grep -E 'Sanitizer|runtime error' err >&2; then status=1; fi
if [ $status -eq 0 ]; then say "http: the server stood it"; else say "http: FAILED, see $work"; fi
exit $status
