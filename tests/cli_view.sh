#!/bin/sh
# talus view: every answer and every refusal of the server, with tests/view/client.c as the client; a run
# that grows, is cut back and is replaced while it is served; a run that is paused and stopped.
set -u
failures=0
server=
large_server=
runner=
rm -rf cli_view.work
mkdir cli_view.work
cd cli_view.work || exit 1
client=$TALUS_BUILD_DIR/tests/view_client

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

# until COMMAND...: runs it until it succeeds, a minute at most
until_true() {
    for _ in $(seq 600); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    fail "waited a minute for: $*"
    return 1
}

# serve ARGS...: starts a server; $port is its port. What it says on standard error goes to server.err, which no other
# command writes, so that a failure shows it.
serve() {
    rm -f address
    "$TALUS" view "$@" >address 2>server.err &
    server=$!
    until_true test -s address || return 1
    grep -Eqx 'http://127\.0\.0\.1:[0-9]+/' address || fail "address: $(cat address)"
    port=$(sed 's/.*:\([0-9]*\).*/\1/' address)
}

# stop [SIGNAL]: ends it; it must end by itself, with code 0
stop() {
    kill -"${1:-TERM}" "$server"
    wait "$server"
    code=$?
    [ $code -eq 0 ] || fail "the server ended with code $code: $(cat server.err)"
    server=
}

cleanup() {
    for process in $server $large_server $runner; do kill -KILL "$process" 2>/dev/null; done
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

ask() { "$client" "$port" "$@"; }
# says KEY VALUE: whether /api/status has it
says() { ask status 2>/dev/null | grep -qx "\"$1\": $2[,}]*"; }
# must KEY VALUE
must() { says "$1" "$2" || fail "status has no $1 $2: $(ask status)"; }
identity() { ask status | sed -n 's/^"identity": \([0-9]*\).*/\1/p'; }

"$TALUS" run box-stack --until 0.1 --every 0.01 --out run >log 2>&1 || fail "run: $(cat log)"

# ---- what cannot be served ----
if ! "$TALUS" list features | grep -A1 civetweb >feature; then fail "list features has no civetweb"; fi
if grep -q "not in this build" feature; then
    "$TALUS" view run >out 2>err
    [ $? -eq 1 ] || fail "a build without a server serves"
    contains err "this build has no server"
    contains err "talus export run -o FILE.html"
    [ $failures -eq 0 ] && echo "cli_view: this build has no server, and says so"
    exit $failures
fi
mkdir empty
# refused TEXT ARGS...
refused() {
    text=$1
    shift
    timeout 60 "$TALUS" view "$@" >out 2>err
    [ $? -eq 124 ] && fail "view $*: serves"
    contains err "$text"
    [ -s out ] && fail "view $*: wrote to standard output"
}
refused "nowhere: No such file or directory" nowhere
refused "empty/frames.talus: No such file or directory" empty
refused "\`talus run SCENE --out DIR\` writes" empty
refused "run/steps.csv: is not a Talus frames file" run/steps.csv
refused "expected a number up to 65535" run --port 65536
# frames.talus, run.json and steps.csv are read as themselves or not at all
echo "CANARY of a file beside" >canary.txt
mkdir linked
ln -s ../run/frames.talus linked/frames.talus
refused "linked/frames.talus: is not a regular file" linked
mkdir fifo
mkfifo fifo/frames.talus
refused "fifo/frames.talus: is not a regular file" fifo

# ---- many who ask for much and do not read it; meanwhile, another server ----
mkdir large
cp run/frames.talus large/frames.talus
truncate -s 40M large/frames.talus
serve large
must frames 11
must complete false
ask greedy >greedy.log 2>&1 &
greedy=$!
large_server=$server
mv server.err large_server.err

# ---- answers and refusals ----
echo "CANARY of a file inside" >run/inside.txt
ln -s ../canary.txt run/link.txt
serve run
contains server.err "Ctrl-C"
ask slow >slow.log 2>&1 &
slow=$!
ask bodies >bodies.log 2>&1 &
bodies=$!
for group in "routes run" "ranges run" refusals loopback; do
    # shellcheck disable=SC2086 # a word and its argument
    ask $group || fail "$group"
done
wait $slow || fail "slow: $(cat slow.log)"
wait $bodies || fail "bodies: $(cat bodies.log)"
wait $greedy || fail "greedy: $(cat greedy.log)"
cat slow.log greedy.log
ask crowd || fail "crowd"
kill "$large_server"
wait "$large_server" || fail "the server of a large file ended with code $?: $(cat large_server.err)"
large_server=
must state '"finished"'
must complete true
must control false
[ -e run/control ] && fail "a refused control was written"
taken=$port
refused "cannot listen on 127.0.0.1:$taken" run --port "$taken"
: >held
"$client" "$port" hold >held &
holder=$!
until_true grep -q holding held
stop INT
kill $holder
wait $holder 2>/dev/null
serve run --port "$taken"
[ "$port" = "$taken" ] || fail "--port $taken: got $port"
stop

# ---- a browser is given the address and nothing else ----
mkdir bin
printf '#!/bin/sh\necho "$# $*" >>%s/opened\n' "$(pwd)" >bin/xdg-open
chmod +x bin/xdg-open
PATH=$(pwd)/bin:$PATH serve run --open
until_true test -s opened
[ "$(cat opened)" = "1 $(cat address)" ] || fail "the browser was given $(cat opened)"
# Its process does not stay behind as a zombie.
no_child() { [ -z "$(cat /proc/"$server"/task/"$server"/children)" ]; }
[ -r /proc/"$server"/task/"$server"/children ] && until_true no_child
contains server.err "run is there to look at"
grep -q 'xdg-open' server.err && fail "a browser that opened is reported: $(cat server.err)"
stop
printf '#!/bin/sh\nexit 3\n' >bin/xdg-open
PATH=$(pwd)/bin:$PATH serve run --open
until_true grep -q "^talus: xdg-open could not open a browser; the address is $(cat address)" server.err
stop

# ---- links inside ----
cp -r run inner
rm inner/steps.csv inner/run.json
ln -s ../canary.txt inner/steps.csv
ln -s ../run/run.json inner/run.json
ln -s ../canary.txt inner/ranks.csv
ln -s ../canary.txt inner/fields.csv
serve inner
must step 10
must title '"Box stack"'
ask get /api/steps >steps
contains steps '"total": 0'
grep -q CANARY steps && fail "a link was followed"
must ranks 0
ask get /data/ranks.csv >ranks && fail "a link to ranks was followed"
rm inner/ranks.csv
printf 'time,step,rank,first,last\n0,0,1,1,256\n' >inner/ranks.csv
must ranks 38
ask get /data/ranks.csv >ranks
cmp -s ranks inner/ranks.csv || fail "ranks.csv came as $(cat ranks)"
must fields 0
must fields_changed 0
ask get /data/fields.csv >fields && fail "a link to fields was followed"
rm inner/fields.csv
"$TALUS" measure run -f solid -o inner/fields.csv >measure.log 2>&1 || fail "measure: $(cat measure.log)"
must fields "$(wc -c <inner/fields.csv | tr -d ' ')"
ask get /data/fields.csv >fields
cmp -s fields inner/fields.csv || fail "fields.csv came as $(cat fields)"
mv inner/frames.talus inner/frames.away
ln -s frames.away inner/frames.talus
must frames 0
ask get /data/frames.talus >/dev/null && fail "a link to frames was followed"
stop

# ---- a file alone, and one of a directory ----
cp run/frames.talus alone.talus
serve alone.talus
must frames 11
must state '"finished"'
must title '"Box stack"'
ask get /api/steps >steps
contains steps '"total": 0'
stop
serve run/frames.talus
must frames 11
ask get /api/steps >steps
contains steps '"total": 10'
stop

# ---- frames that grow, are cut back, are replaced ----
size=$(wc -c <run/frames.talus)
half=$((size / 2 + 3))
mkdir live
head -c $half run/frames.talus >live/frames.talus
head -n 6 run/steps.csv >live/steps.csv
printf '0.06,6,' >>live/steps.csv
serve live
first=$(identity)
must state '"died"'
must complete false
says frames 11 && fail "frames that are not there yet"
ask get /api/steps >steps
contains steps '"total": 5'
tail -c +$((half + 1)) run/frames.talus >>live/frames.talus
must frames 11
must complete true
tail -n +7 run/steps.csv | tail -c +8 >>live/steps.csv
[ "$(identity)" = "$first" ] || fail "a file that grows is no other file"
head -c $half run/frames.talus >shorter
cat shorter >live/frames.talus
[ "$(identity)" = "$first" ] && fail "a file that was cut back was not noticed"
second=$(identity)
"$TALUS" run box-stack --until 0.1 --every 0.02 --out other >log 2>&1 || fail "run: $(cat log)"
cat other/frames.talus >live/frames.talus
[ "$(identity)" = "$second" ] && fail "a file that was written anew was not noticed"
third=$(identity)
cp run/frames.talus live/next
mv live/next live/frames.talus
[ "$(identity)" = "$third" ] && fail "a file that was replaced was not noticed"
rm -r live
must frames 0
cp -r run live
must frames 11
must state '"finished"'
stop

# ---- frames of the first version, whose heads have no figures: they get them on the way ----
cp "$TALUS_SOURCE_DIR/tests/frames/version-1.talus" old.talus
serve old.talus
must frames 3
ask get '/data/head?from=0' >head
grep -aqF '"drawn": "solid", "levels": [[' head || fail "the head of an old file has no figures"
grep -aqF '"drawn"' old.talus && fail "old.talus is not of the first version"
stop
"$TALUS" export old.talus -o old.html >out 2>&1 || fail "export of an old file: $(cat out)"
contains out "3 of 3 frames"
"$TALUS" render old.talus --size 80x60 --plain -o old.png >out 2>&1 || fail "a still of an old file: $(cat out)"

# ---- a run at work ----
"$TALUS" run box-stack --until 1e6 --every 0.01 --out work >log 2>&1 &
runner=$!
until_true test -s work/run.json
serve work
until_true says state '"running"'
must control true
until_true sh -c '! grep -q "\"step\": 0," work/run.json'
ask control pause >/dev/null || fail "pause"
until_true says state '"paused"'
ask control run >/dev/null || fail "run"
until_true says state '"running"'
ask control stop >/dev/null || fail "stop"
wait $runner
[ $? -eq 143 ] || fail "a run that was told to stop ends with code 143"
runner=
must state '"stopped"'
must control false
ask control pause >out 2>&1 && fail "a run that has ended was paused"
contains out "409: no run is at work"
stop

[ $failures -eq 0 ] && echo "cli_view: passed"
[ $failures -eq 0 ]
