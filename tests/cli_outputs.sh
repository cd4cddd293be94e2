#!/bin/sh
# Every command that takes the path of an output: a link stays and what it leads to is replaced, a pipe and a device
# are written through and stay. All nodes are made here, in a folder of the test's own.
set -u
failures=0
rm -rf cli_outputs.work
mkdir cli_outputs.work
cd cli_outputs.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

"$TALUS" run hourglass --set bodies=20 --until 0.05 --every 0.02 --out run --quiet || fail "run"
"$TALUS" extract settle-box --set bodies=8 --at 0.1 -o box.talus >/dev/null || fail "extract"

nodes=yes
mknod probe c 1 3 2>/dev/null && : 2>/dev/null >probe || nodes=no
[ $nodes = yes ] || echo "no nodes can be made and opened here: devices are left out"

# What two files of one kind have in common: the length, or of tables with measured seconds the lines.
amount() { case $1 in *.csv) wc -l <"$1" ;; *) wc -c <"$1" ;; esac; }

# output NAME ARGS...: `talus ARGS NAME`, onto a file, a link to one, a link to nothing, a pipe and a device
output() {
    name=$1
    stem=${name%.*}
    end=${name#"$stem"}
    shift
    "$TALUS" "$@" "plain$end" >said 2>&1 || fail "talus $*: $(cat said)"
    [ -s "plain$end" ] || fail "talus $*: nothing was written"
    echo old >"target$end"
    ln -s "target$end" "link$end"
    ln -s "later$end" "bare$end"
    for there in link bare; do
        "$TALUS" "$@" "$there$end" >said 2>&1 || fail "talus $* on a link: $(cat said)"
        [ -h "$there$end" ] || fail "talus $*: the link is gone"
    done
    for got in target later; do
        [ -f "$got$end" ] && [ ! -h "$got$end" ] || fail "talus $*: $got is no file"
        [ "$(amount "$got$end")" -eq "$(amount "plain$end")" ] || fail "talus $*: $got is another file"
    done
    mkfifo "pipe$end"
    cat "pipe$end" >"read$end" &
    reader=$!
    if "$TALUS" "$@" "pipe$end" >said 2>&1 && [ -p "pipe$end" ]; then
        wait $reader
    else
        fail "talus $* on a pipe: $(cat said)"
        kill $reader
    fi
    [ -p "pipe$end" ] || fail "talus $*: the pipe is gone"
    [ "$(amount "read$end")" -eq "$(amount "plain$end")" ] || fail "talus $*: another file came out of the pipe"
    if [ $nodes = yes ]; then
        mknod "node$end" c 1 3
        "$TALUS" "$@" "node$end" >said 2>&1 || fail "talus $* on a device: $(cat said)"
        [ -c "node$end" ] || fail "talus $*: the device is gone"
    fi
    rm -f "pipe$end" "node$end"
    left=$(ls | grep -E "tmp|XXXX|frames-")
    [ -z "$left" ] || fail "talus $*: left $left"
    rm -f "plain$end" "target$end" "link$end" "bare$end" "later$end" "read$end"
}

output a.talus extract settle-box --set bodies=8 --at 0.1 -o
"$TALUS" list features | grep -q 'not in this build.*libhdf5-dev' ||
    output a.hdf5 extract settle-box --set defaults=relaxed --set bodies=8 --at 0.1 -o
output a.png render run --size 40x30 -o
output a.html export run -o
output b.html export run --from 0.01 -o
output a.csv solve box.talus --solver gs --max-iter 20 --tol 0 --quiet --trace
output b.talus solve box.talus --solver gs --quiet --save
output a.txt run settle-box --set bodies=8 --until 0.02 --no-out --quiet --final-positions

# In the folder of a report, the same: its files are named by the user's path.
mkdir report && echo old >kept.html && ln -s ../kept.html report/report.html
"$TALUS" solve box.talus --solver gs --quiet --report report >said 2>&1 || fail "--report: $(cat said)"
[ -h report/report.html ] && grep -q talus kept.html || fail "--report: the link to another page is gone"

# Files of other programs: what stands where one of them would is refused.
for there in bodies.dump frames.csv bodies.pvd; do
    rm -rf other && mkdir other && echo old >victim && ln -s ../victim "other/$there"
    case $there in *.dump) kind=lammps ;; *.csv) kind=csv ;; *) kind=vtp ;; esac
    "$TALUS" export run --to $kind -o other >said 2>&1 && fail "export --to $kind followed a link"
    grep -qF "other/$there: is a symbolic link, expected a regular file or none" said || fail "export --to: $(cat said)"
    [ -h "other/$there" ] && [ "$(cat victim)" = old ] || fail "export --to $kind: the link or its file is gone"
done

[ $failures -eq 0 ] && echo "cli_outputs: passed"
[ $failures -eq 0 ]
