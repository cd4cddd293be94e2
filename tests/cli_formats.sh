#!/bin/sh
# talus run --frames and talus export --to, for every kind of files that other programs read.
set -u
failures=0
rm -rf cli_formats.work
mkdir cli_formats.work
cd cli_formats.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

kinds="vtp lammps csv vtkhdf"
"$TALUS" list features >features || fail "talus list features"
if grep -q "not in this build.*libhdf5-dev" features; then
    kinds="vtp lammps csv"
    "$TALUS" run hourglass --out no --frames vtkhdf >out 2>err && fail "vtkhdf without HDF5"
    contains err "libhdf5-dev"
fi
list=$(echo $kinds | tr ' ' ,)
"$TALUS" run hourglass --set bodies=50 --until 0.3 --every 0.1 --out run --frames "$list" --quiet ||
    fail "talus run --frames $list"

# ---- the run's own frames ----
for file in bodies.pvd contacts.pvd chains.pvd shapes.pvd walls.pvd show_in_paraview.py bodies.dump \
    frames.csv frames/bodies-000003.vtp frames/contacts-000003.csv frames/walls-000000.vtp; do
    [ -s run/$file ] || fail "run/$file is missing"
done
[ -e run/frames/walls-000001.vtp ] && fail "walls that stand still are written twice"
[ "$(grep -c 'ITEM: TIMESTEP' run/bodies.dump)" = 4 ] || fail "bodies.dump: not 4 frames"
[ "$(wc -l <run/frames/bodies-000003.csv)" = 51 ] || fail "bodies-000003.csv: not 50 bodies"
[ "$(wc -l <run/frames.csv)" = 5 ] || fail "frames.csv: not 4 frames"

# ---- what frames.talus gives ----
for kind in $kinds; do
    "$TALUS" export run --to "$kind" -o "to-$kind" >out 2>err || fail "export --to $kind: $(cat err)"
    contains out "to-$kind: 4 frames as $kind"
    contains out "positions to 0.00037 m, velocities and forces to 0.2 %"
    contains out "talus run --frames $kind"
done
cmp -s run/bodies.pvd to-vtp/bodies.pvd || fail "export: other times than the run's"
[ -e to-vtp/contacts.pvd ] && fail "export: contacts that frames.talus does not hold"
[ -e to-csv/frames/contacts-000000.csv ] && fail "export: a table of contacts that are not there"
head -n 1 to-csv/frames/bodies-000000.csv >header
grep -q velocity_x header || fail "export: no velocities"
grep -q mass header && fail "export: masses, which frames.talus does not hold"

# Positions are those of the run to the precision that was told; the third column is y.
awk -F, 'NR == FNR { x[FNR] = $3; next } FNR > 1 { d = $3 - x[FNR]; if (d < 0) d = -d; if (d > m) m = d }
    END { exit !(m <= 0.00036622) }' run/frames/bodies-000003.csv to-csv/frames/bodies-000003.csv ||
    fail "export: positions are further off than was told"

"$TALUS" export run --to csv -o some --from 0.05 --until 0.25 --every 0.1 >out 2>err || fail "export --from"
contains out "some: 2 frames as csv"

# ---- a full disk: told, and the program ends by itself (HDF5 1.10 crashes at exit over a file that it could not close) ----
if [ -z "${TALUS_SANITIZE:-}" ]; then
    for kind in $kinds; do
        for limit in 100 400 1000; do # blocks of 512 or 1024 bytes
            rm -rf full
            (
                trap '' XFSZ
                ulimit -f $limit
                exec "$TALUS" run hourglass --set bodies=500 --until 5 --every 0.02 --frames $kind --out full --quiet \
                    --checkpoint-every 0
            ) 2>err
            code=$?
            [ $code -eq 1 ] || [ $code -eq 0 ] || fail "$kind on a full disk ($limit): exit code $code"
            [ $code -eq 0 ] || grep -Eq "cannot write|the disk may be full|cannot make" err || fail "$kind, $limit: $(cat err)"
        done
    done
fi

# ---- space that repeats itself, and a grain that crosses it within two steps ----
cat >gas.json <<'END'
{"params": {"speed": 80}, "step": 0.005, "until": 0.1, "period": {"x": [0, 1], "y": [-0.5, 0.5]},
 "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]},
            {"radius": 0.05, "count": 30, "fill": {"lo": [0, -0.5, 0], "hi": [1, 0.5, 0.9]}},
            {"radius": 0.05, "at": [0.5, 0, 1.2], "velocity": ["=speed", 10, 0]}]}
END
"$TALUS" run gas.json --every 0.1 --out gas --frames "$list" --quiet 2>err || fail "a fast grain ended the run: $(cat err)"
[ -s err ] && fail "a fast grain that is followed by halved steps: $(cat err)"
"$TALUS" run gas.json --set speed=1e5 --no-out --quiet >out 2>err || fail "a very fast grain ended the run: $(cat err)"
contains err "contacts of theirs may be missed"
"$TALUS" export gas --to lammps -o gas-lammps >out 2>err || fail "export of a periodic run: $(cat err)"
for file in gas/bodies.dump gas-lammps/bodies.dump; do
    contains $file "ITEM: BOX BOUNDS pp pp ff"
    grep -A 2 "BOX BOUNDS" $file | grep -qx -- "-0.5 0.5" || fail "$file: other sides than the period's"
done
contains gas/frames/bodies-000001.vtp 'Name="period_lo"'
contains gas/frames.csv ",0,-0.5,,1,0.5,"
"$TALUS" info gas >out || fail "info of a periodic run"
contains out "x from 0 to 1 m"
contains out "y from -0.5 to 0.5 m"

# ---- refusals ----
"$TALUS" export run --to vtp -o run >out 2>err && fail "export into the run's own directory"
contains err "is the run's own directory"
[ -s run/frames/contacts-000003.vtp ] || fail "exact frames were lost"
"$TALUS" export run --to vtk -o no >out 2>err
[ $? -eq 2 ] || fail "an unknown kind is wrong usage"
contains err "--to vtk: no such kind of files"
"$TALUS" export run --to vtp -o no --from 9 >out 2>err && fail "no frame in the range"
contains err "they go from 0 to 0.3 s"
[ -e no ] && fail "a refused export left something behind"

[ $failures -eq 0 ] && echo "cli_formats: passed"
[ $failures -eq 0 ]
