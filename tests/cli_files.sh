#!/bin/sh
# The files of a run: each one missing, changed, cut short or grown before a resume; links, pipes and other things
# where one of them would stand; the directory renamed, removed or replaced while the run goes on.
set -u
failures=0
rm -rf cli_files.work
mkdir cli_files.work
cd cli_files.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

# talus ARGS...: as TALUS, but a hang is a failure; the exit code is left in $code
talus() {
    timeout -k 1 60 "$TALUS" "$@" >said 2>err
    code=$?
    case $code in 124 | 137) fail "talus $*: hangs" ;; esac
}

# fresh COPY: a copy of the run `half`
fresh() { rm -rf "$1" && cp -R half "$1"; }
sums() { (cd "$1" && find . -type f ! -name run.lock -exec cksum {} + | LC_ALL=C sort); }
# shellcheck source=tests/support/run_files.sh
. "$TALUS_SOURCE_DIR/tests/support/run_files.sh"

# A scene with all that makes files: probes, joints, shapes that move, a wall.
cat >cart.json <<'SCENE'
{
    "step": 0.005, "until": 0.1,
    "bodies": [
        {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "cart", "shape": {"kind": "box", "half": [0.5, 0.2, 0.1]}, "mass": 20, "at": [0, 0, 1]},
        {"name": "bob", "radius": 0.1, "mass": 1, "at": [0.5, 0, 0.09]}
    ],
    "joints": [{"name": "rail", "type": "prismatic", "bodies": ["cart"], "at": [0, 0, 1], "axis": [1, 0, 0],
        "motor": {"type": "speed", "target": 1, "rate": 1}}],
    "probes": [{"name": "floor", "body": "floor"}]
}
SCENE
kinds=vtp,csv,lammps
"$TALUS" list features | grep -q 'not in this build.*libhdf5-dev' || kinds=$kinds,vtkhdf
options="--frames $kinds --every 0.02 --threads 1 --quiet"
talus run cart.json $options --out whole
[ $code -eq 0 ] || fail "whole: $(cat err)"
talus run cart.json $options --until 0.05 --out half
[ $code -eq 0 ] || fail "half: $(cat err)"
whole=$(fingerprint whole)
files=$(cd half && find . -type f ! -name 'checkpoint-*' ! -name 'run.*' | sed 's,^\./,,' | LC_ALL=C sort)
for name in steps.csv probes.csv joints.csv frames.talus frames.csv bodies.dump bodies.pvd walls.pvd show_in_paraview.py \
    frames/bodies-000002.vtp frames/walls-000000.vtp frames/bodies-000002.csv; do
    echo "$files" | grep -qx "$name" || fail "half/$name is not there, so it is not tried"
done

# Under a sanitizer one frame stands for the others of its kind: the same lines write, list and check them.
[ -z "${TALUS_SANITIZE:-}" ] || files=$(echo "$files" | grep -v '^frames/.*-00000[12]\.')

# refused FILE WHAT: a resume of `copy` is refused, names FILE and what became of it, and touches nothing
refused() {
    before=$(sums copy)
    talus run --resume copy --until 0.1 --quiet
    [ $code -eq 1 ] || fail "$1 $2: exit code $code"
    contains err "copy: files are not as the checkpoint at t = 0.05 s left them (--accept-changed-files goes on with what is there): "
    contains err "$1 ($2"
    [ "$(sums copy)" = "$before" ] || fail "$1 $2: the refused resume changed something"
}

# ---- untouched: it goes on, and ends as a run that was not stopped ----
fresh copy
talus run --resume copy --until 0.1 --quiet
[ $code -eq 0 ] && [ ! -s err ] || fail "untouched: $(cat err)"
[ "$(fingerprint copy)" = "$whole" ] || fail "untouched: other files"

# ---- from the checkpoint before, where the newest is damaged: what it knows is less, and holds ----
fresh copy
talus run --resume copy --until 0.08 --quiet
printf 'X' | dd of=copy/checkpoint-b.talus bs=1 seek=500 conv=notrunc 2>/dev/null
talus run --resume copy --until 0.1 --quiet
[ $code -eq 0 ] || fail "the checkpoint before: $(cat err)"
contains err "copy/checkpoint-b.talus: damaged"
[ "$(fingerprint copy)" = "$whole" ] || fail "the checkpoint before: other files"

# ---- each file in turn: missing, a byte changed, a byte too short ----
for file in $files; do
    fresh copy && rm "copy/$file"
    refused "$file" missing
    case $file in *.vtkhdf) continue ;; esac # below
    size=$(wc -c <"half/$file")
    if [ "$size" -gt 0 ]; then
        fresh copy
        byte=$(dd if="half/$file" bs=1 skip=$((size / 3)) count=1 2>/dev/null | od -An -tu1 | tr -d ' ')
        printf "\\$(printf %o $((byte ^ 1)))" | dd of="copy/$file" bs=1 seek=$((size / 3)) conv=notrunc 2>/dev/null
        refused "$file" changed
    fi
done
# to what the checkpoint knows and a byte less; the index of frames.talus and closing tags come after it
for file in steps.csv probes.csv joints.csv frames.csv bodies.dump frames/bodies-000001.vtp frames/bodies-000001.csv; do
    fresh copy
    size=$(wc -c <"half/$file")
    head -c $((size - 1)) "half/$file" >"copy/$file"
    refused "$file" "$((size - 1)) bytes of $size are left)"
    fresh copy
    : >"copy/$file"
    refused "$file" "0 bytes of $size are left)"
done
fresh copy && printf 'x' | dd of=copy/steps.csv bs=1 seek=$(($(wc -c <half/steps.csv) - 60)) conv=notrunc 2>/dev/null
refused steps.csv changed
# many at once: some are named, the others counted
fresh copy && rm -r copy/frames
refused frames/bodies-000000.csv missing
grep -q " and [0-9]* more$" err || fail "many missing: $(cat err)"

# ---- a file that HDF5 writes: what its frames say, wherever it stands ----
if [ -f half/bodies.vtkhdf ]; then
    size=$(wc -c <half/bodies.vtkhdf) found=0 n=0
    while [ $n -lt 20 ]; do
        fresh copy
        printf 'Q' | dd of=copy/bodies.vtkhdf bs=1 seek=$((size * n / 20 + n)) conv=notrunc 2>/dev/null
        n=$((n + 1))
        talus run --resume copy --until 0.1 --quiet
        if [ $code -eq 0 ]; then
            [ "$(fingerprint copy)" = "$whole" ] || fail "bodies.vtkhdf: byte $((size * n / 20 + n)) changed a run in silence"
        else
            contains err "bodies.vtkhdf (changed)"
            found=$((found + 1))
        fi
    done
    [ $found -gt 0 ] || fail "bodies.vtkhdf: none of 20 changes was found"
    fresh copy && head -c $((size / 2)) half/bodies.vtkhdf >copy/bodies.vtkhdf
    refused bodies.vtkhdf changed
fi

# ---- grown: what came after the checkpoint is cut off, whatever it says ----
fresh copy
for file in steps.csv probes.csv joints.csv frames.csv; do
    sed -n 2p "half/$file" >>"copy/$file" # of an earlier time
    printf '0.07,x' >>"copy/$file"
done
printf 'ITEM: TIME\n0.01\nITEM: TIMESTEP\n2\nITEM: NUMBER OF ATOMS\n0\n1\n2\n3\n4\n5\n' >>copy/bodies.dump
echo '<DataSet timestep="0.01" part="0" file="frames/bodies-000009.vtp"/>' >>copy/bodies.pvd
echo late >copy/frames/bodies-000003.vtp
printf 'torn' >>copy/frames.talus
talus run --resume copy --until 0.1 --quiet
[ $code -eq 0 ] || fail "grown: $(cat err)"
[ "$(fingerprint copy)" = "$whole" ] || fail "grown: other files"
fresh copy && echo more >>copy/frames/bodies-000000.vtp
refused frames/bodies-000000.vtp changed

# ---- told to, it goes on with what there is, and says so; from then on that is how it should be ----
for file in $files; do
    case $file in frames/*-00000[12].* | frames/contacts* | frames/chains* | frames/shapes*) continue ;; esac
    fresh copy && rm "copy/$file"
    talus run --resume copy --until 0.08 --quiet --accept-changed-files
    [ $code -eq 0 ] || fail "accept without $file: $(cat err)"
    contains err "talus: warning: copy: not as its checkpoint at t = 0.05 s left them: $file (missing)"
    [ "$(cd copy && ls frames/bodies-00000[0-4].vtp frames/walls-000000.vtp 2>/dev/null | wc -l)" -ge 5 ] ||
        fail "accept without $file: $(ls copy/frames)"
    talus run --resume copy --until 0.1 --quiet
    [ $code -eq 0 ] && [ ! -s err ] || fail "again without $file: $(cat err)"
done
fresh copy && sed -i '3s/,/,7/' copy/steps.csv
talus run --resume copy --until 0.1 --quiet --accept-changed-files
[ $code -eq 0 ] || fail "accept a changed row: $(cat err)"
sed -n 3p copy/steps.csv | grep -q ',7' || fail "accept a changed row: it is another one"

# ---- also where no other checkpoint comes to be due: in the shortened steps at a run's end, and at the end itself ----
for until in 0.052 0.05; do
    talus run cart.json $options --until $until --out ended
    for file in $files; do
        rm -rf copy && cp -R ended copy && rm "copy/$file"
        talus run --resume copy --quiet --accept-changed-files
        [ $code -eq 0 ] || fail "accept without $file, ended at $until: $(cat err)"
        talus run --resume copy --quiet
        [ $code -eq 0 ] || fail "again without $file, ended at $until: $(cat err)"
        talus run --resume copy --until 0.1 --quiet
        [ $code -eq 0 ] || fail "to a later end without $file, ended at $until: $(cat err)"
        talus info copy
        [ $code -eq 0 ] || fail "info without $file, ended at $until: $(cat err)"
    done
    # a moved end is the run's from then on
    rm -rf copy && cp -R ended copy
    talus run --resume copy --until 0.053 --quiet
    talus run --resume copy --quiet
    [ "$(tail -n 1 copy/steps.csv | cut -d, -f1)" = 0.052999999999999999 ] ||
        fail "moved from $until to 0.053, resumed: ends at $(tail -n 1 copy/steps.csv | cut -d, -f1)"
done
"$TALUS" run --resume ended --until 1000 --quiet >said 2>err &
process=$!
for moment in $(seq 100); do
    [ "$(wc -l <ended/steps.csv)" -gt 100 ] && break
    sleep 0.1
done
kill -KILL $process
wait $process 2>/dev/null
timeout -s TERM 2 "$TALUS" run --resume ended --quiet >said 2>err
contains err "stopped by SIGTERM"
rm -rf ended

# ---- killed: rows and frames after the last checkpoint are written again ----
"$TALUS" run cart.json $options --until 1000 --checkpoint-every 0.2 --out killed >said 2>err &
process=$!
await '[ -f killed/checkpoint-b.talus ]'
sleep 0.1
kill -KILL $process
wait $process 2>/dev/null
until=$(awk -F, 'END { printf "%.3f", $1 + 0.05 }' killed/steps.csv)
talus run --resume killed --until "$until" --quiet
[ $code -eq 0 ] && [ ! -s err ] || fail "killed: $(cat err)"
talus run cart.json $options --until "$until" --out never-killed
[ "$(fingerprint killed)" = "$(fingerprint never-killed)" ] || fail "killed: other files"
rm -rf killed never-killed

# ---- checkpoints of the version before ----
fresh copy
for file in copy/checkpoint-?.talus; do
    printf '\001' | dd of="$file" bs=1 seek=8 conv=notrunc 2>/dev/null
done
talus run --resume copy --quiet
[ $code -eq 1 ] || fail "an older checkpoint: exit code $code"
contains err "has format version 1, this program reads version 2"

# ---- what is no file of ours: a pipe is not waited for, a link not followed, a device not opened ----
# strange KIND NAME: a new run and a resume where that stands for the file
strange() {
    for way in new resume; do
        rm -rf odd
        if [ $way = new ]; then mkdir odd; else cp -R half odd; fi
        rm -rf "odd/$2"
        echo precious >victim
        case $1 in
        pipe) mkfifo "odd/$2" ;;
        link) ln -s ../victim "odd/$2" ;;
        folder) mkdir "odd/$2" ;;
        esac
        if [ $way = new ]; then talus run cart.json $options --out odd; else talus run --resume odd --until 0.1 --quiet; fi
        [ $code -eq 1 ] || fail "$1 for $2, $way: exit code $code: $(cat err)"
        case $1 in
        pipe) contains err "odd/$2: is a named pipe, expected a regular file or none" ;;
        link) contains err "odd/$2: is a symbolic link, expected a regular file or none" ;;
        folder) contains err "odd/$2: is a directory, expected a regular file or none" ;;
        esac
        case $1 in
        pipe) [ -p "odd/$2" ] || fail "$2, $way: the pipe is gone" ;;
        link) [ -h "odd/$2" ] || fail "$2, $way: the link is gone" ;;
        esac
        [ "$(cat victim)" = precious ] || fail "$1 for $2, $way: what it leads to was written"
    done
}
for name in steps.csv probes.csv joints.csv ranks.csv frames.talus checkpoint-a.talus checkpoint-b.talus run.lock run.json control; do
    strange pipe $name
    strange link $name
done
strange folder steps.csv
for name in bodies.dump bodies.pvd frames.csv frames/bodies-000000.vtp show_in_paraview.py; do
    for way in pipe link; do
        rm -rf odd && mkdir -p odd/frames
        echo precious >victim
        if [ $way = pipe ]; then mkfifo "odd/$name"; else ln -s "$PWD/victim" "odd/$name"; fi
        talus run cart.json $options --out odd
        [ $code -eq 1 ] || fail "$way for $name: exit code $code"
        contains err "odd/$name: is a"
        [ -p "odd/$name" ] || [ -h "odd/$name" ] || fail "$way for $name: it is gone"
        [ "$(cat victim)" = precious ] || fail "$way for $name was followed"
    done
done
rm -rf odd elsewhere && mkdir odd elsewhere && ln -s ../elsewhere odd/frames
talus run cart.json $options --out odd
[ $code -eq 1 ] && [ -z "$(ls elsewhere)" ] || fail "a link for frames/ was followed: $(ls elsewhere)"
contains err "odd/frames: is a symbolic link, expected a directory"
mkfifo pipe.json
talus run pipe.json --no-out
[ $code -eq 1 ] || fail "a pipe for a scene: exit code $code"
talus info pipe.json
contains err "pipe.json: is not a regular file"

# ---- the directory itself may be named by a link: the user gave it ----
rm -rf far near && mkdir far && ln -s far near
talus run cart.json $options --out near
[ $code -eq 0 ] && [ -f far/steps.csv ] && [ -h near ] || fail "--out by a link: $(cat err)"

# ---- a directory that nothing can be written to, where not even root's rights help ----
if [ "$(id -u)" -ne 0 ]; then
    rm -rf locked && mkdir locked && chmod 555 locked
    talus run cart.json $options --out locked
    [ $code -eq 1 ] || fail "a read-only directory: exit code $code"
    contains err "locked/run.lock: cannot open: Permission denied"
    fresh copy && chmod -R a-w copy
    talus run --resume copy --until 0.1 --quiet
    [ $code -eq 1 ] || fail "a read-only run was resumed"
    chmod -R u+w copy locked
else
    echo "root may write everywhere: read-only directories are left out"
fi

# ---- the directory in mid-run ----
# during COMMANDS: a run with the options $live into `live` for ever, COMMANDS after its first checkpoint; it must end by itself.
# still COMMANDS: the run does not see them one by one.
during() {
    rm -rf live moved other
    mkdir other
    "$TALUS" run cart.json $live --until 100000 --checkpoint-every 0.1 --out live >said 2>err &
    process=$!
    await '[ -f live/checkpoint-a.talus ]'
    eval "$1"
    await '! kill -0 $process 2>/dev/null'
    if kill -0 $process 2>/dev/null; then
        fail "$1: the run goes on"
        kill -KILL $process
    fi
    wait $process 2>/dev/null
    code=$?
    [ $code -eq 1 ] || fail "$1: exit code $code: $(cat err)"
}

still() {
    kill -STOP $process
    eval "$1"
    kill -CONT $process
}

live="--every 0.02 --threads 1 --quiet" # with tables and frames.talus alone
during 'mv live moved'
contains err "talus: live: the directory was renamed while it was being written to"
[ -e live ] && fail "a new directory was made: $(ls live)"
# a removal takes many system calls: which file the run misses first is a matter of the moment
removed="talus: live(/[a-z0-9./-]*)?: .*(removed|No such file|nothing leads to the directory)"
during 'while ! rm -rf live 2>/dev/null; do :; done'
grep -Eq "$removed" err || fail "removed: $(cat err)"

live=$options
during 'mv live moved'
contains err "talus: live: the directory was renamed while it was being written to"
contains err "was saved: talus run --resume $(pwd -P)/moved"
[ -e live ] && fail "a new directory was made: $(ls live)"
grep -q '"state": "failed"' moved/run.json || grep -q '"state":"failed"' moved/run.json || fail "run.json: $(cat moved/run.json)"
# nothing is lost: it goes on from where it stopped
saved=$(sed -n 's/.*the state at t = \([^ ]*\) s was saved.*/\1/p' err)
until=$(awk -v t="$saved" 'BEGIN { printf "%.3f", t + 0.05 }')
talus run --resume moved --until "$until" --quiet
[ $code -eq 0 ] && [ ! -s err ] || fail "resume after a rename: $(cat err)"
awk -F, -v t="$saved" 'NR > 1 && $2 != ++n { exit 1 } END { if ($1 < t) exit 1 }' moved/steps.csv ||
    fail "rows are missing after a rename"

during 'still "mv live moved; mkdir live"'
contains err "talus: live: the directory was renamed, and another put in its place, while it was being written to"
[ -z "$(ls live)" ] || fail "the run wrote to another directory: $(ls live)"

during 'still "mv live moved; ln -s other live"'
contains err "while it was being written to"
[ -z "$(ls other)" ] || fail "the run wrote through a link: $(ls other)"

during 'while ! rm -rf live 2>/dev/null; do :; done'
grep -Eq "$removed" err || fail "removed: $(cat err)"

during 'rm live/steps.csv'
contains err "talus: live/steps.csv: was removed while it was being written"
talus run --resume live --quiet
contains err "steps.csv (missing)"

during 'cp live/probes.csv kept; mv kept live/probes.csv'
contains err "talus: live/probes.csv: was replaced by another file while it was being written"

during 'mv live/frames live/aside'
grep -Eq "talus: live/frames.*(renamed|No such file)" err || fail "frames/ renamed: $(cat err)"

during ': >live/bodies.dump'
contains err "someone else changed it while it was being written"

# ---- a pause does not hide it ----
rm -rf live moved
"$TALUS" run cart.json $options --until 100000 --out live >said 2>err &
process=$!
await '[ -s live/steps.csv ]'
echo pause >live/word && mv live/word live/control
await 'grep -q paused live/run.json'
mv live moved
wait $process
code=$?
[ $code -eq 1 ] || fail "renamed in a pause: exit code $code: $(cat err)"
contains err "talus: live: the directory was renamed while it was being written to"

[ $failures -eq 0 ] && echo "cli_files: passed"
[ $failures -eq 0 ]
