#!/bin/sh
# Debian's ParaView opens the frames of runs with every kind of body, and images of fields: counts, times, fields, radii and
# surfaces are compared with the exact tables, and the script beside the data makes its pictures.
set -u
export PYTHONDONTWRITEBYTECODE=1 # beside the sources
failures=0

if ! command -v pvpython >/dev/null 2>&1; then
    echo "skipped: no pvpython here (Debian: paraview, python3-paraview)"
    exit 77
fi

rm -rf paraview.work
mkdir paraview.work
cd paraview.work || exit 1
here=$TALUS_SOURCE_DIR/tests/paraview

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# make NAME ARGS...: a run with exact frames
make() {
    name=$1
    shift
    "$TALUS" run "$@" --out "$name" --frames "$kinds" --quiet >"$name.log" 2>&1 ||
        fail "talus run $*: $(cat "$name.log")"
}

kinds=vtp,csv
"$TALUS" list features | grep -q "not in this build.*libhdf5-dev" || kinds=vtp,csv,vtkhdf
make flow "$here/flow.json"
kinds=vtp,csv
make solids "$here/solids.json"
make boxes box-stack --set bodies=4 --until 0.3 --every 0.1
make planes settle-box --set bodies=60 --until 0.4 --every 0.1
make glass hourglass --set bodies=100 --until 0.6 --every 0.2

pvpython "$here/check.py" flow:-0.5,1.5,-1.25,0.75,1,3 solids boxes planes glass >check.log 2>&1 ||
    fail "check.py: $(cat check.log)"
grep '^[a-z]*: [0-9]* frames' check.log

# Images of fields: 1, 3, 6 and 9 components, cells without mass.
fields="-f solid -f velocity -f stress -f fabric --grid 3,4,5 --width 0.15 --box=-1:1,-1:1.5,0:2 --every 0"
for file in fields.csv fields.vti; do
    "$TALUS" measure planes $fields -o $file >measure.log 2>&1 || fail "talus measure: $(cat measure.log)"
done
pvpython "$here/images.py" fields.pvd fields.csv >images.log 2>&1 || fail "images.py: $(cat images.log)"
grep '^images: ' images.log

# What frames.talus keeps gives the same number of bodies at the same times.
"$TALUS" export flow --to vtp -o flow-view >export.log 2>&1 || fail "talus export: $(cat export.log)"
cmp -s flow/bodies.pvd flow-view/bodies.pvd || fail "export: other times than the run's"
[ -e flow-view/contacts.pvd ] && fail "export: contacts that frames.talus does not hold"

# ---- pictures: these need a display, if only in memory ----
display=${DISPLAY:-}
server=
if [ -z "$display" ] && command -v Xvfb >/dev/null 2>&1; then
    Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset 3>display >/dev/null 2>&1 &
    server=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        [ -s display ] && break
        sleep 0.5
    done
    [ -s display ] && display=:$(cat display)
fi

# picture DIR FILE ARGS...
picture() {
    dir=$1 file=$2
    shift 2
    DISPLAY=$display pvpython "$dir/show_in_paraview.py" -o "$file" --size 400x300 "$@" >show.log 2>&1 ||
        fail "show_in_paraview.py $*: $(cat show.log)"
}

if [ -n "$display" ]; then
    picture solids solids.png --time 0.1 --colour contact_count
    picture flow-view view.png
    picture planes chains.png --chains
    pvpython "$here/drawn.py" solids.png view.png chains.png >drawn.log 2>&1 || fail "$(cat drawn.log)"
    DISPLAY=$display pvpython glass/show_in_paraview.py --colour none >show.log 2>&1 &&
        fail "show_in_paraview.py: colours by a field that is not there"
    grep -q "bodies have no field 'none'; there are: " show.log || fail "no word on fields: $(cat show.log)"
else
    echo "no display and no Xvfb: no pictures"
    pvpython glass/show_in_paraview.py >show.log 2>&1 || grep -q "there is no display here" show.log ||
        fail "no word on the display: $(cat show.log)"
fi
[ -n "$server" ] && kill "$server"

[ $failures -eq 0 ] && echo "paraview: all checks passed"
exit $((failures > 0))
