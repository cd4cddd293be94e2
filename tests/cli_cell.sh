#!/bin/sh
# The scenes simple-shear and compression: cell.csv, the ledger of steps.csv, resuming, measuring by the frames'
# own periods, exports with a tilt.
set -u
failures=0
rm -rf cli_cell.work
mkdir cli_cell.work
cd cli_cell.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

shear="--set side=5 --set I=0.2 --set strain=0.6 --threads 1 --quiet"
"$TALUS" run simple-shear $shear --frames lammps --out whole >whole.log 2>&1 || fail "run: $(cat whole.log)"
"$TALUS" run simple-shear $shear --frames lammps --until 0.01 --out parts >parts.log 2>&1 || fail "part: $(cat parts.log)"
until=$(tail -n 1 whole/cell.csv | cut -d, -f1)
"$TALUS" run --resume parts --until "$until" --quiet >>parts.log 2>&1 || fail "resume: $(cat parts.log)"
cmp -s whole/cell.csv parts/cell.csv || fail "cell.csv differs after a resume"
cmp -s whole/frames.talus parts/frames.talus || fail "frames.talus differs after a resume"
grep -q '^ITEM: BOX BOUNDS xy xz yz pp pp pp' whole/bodies.dump || fail "the dump has no triclinic box"

# columns by name: the shear strain, sides against strains, the work in both tables, the ledger's balance
awk -F, '
    FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; table++; next }
    table == 1 {
        work[FNR] = $column["work"]
        last = $column["shear"]
        strain = $column["strain_y"]; side = $column["length_y"]
        if (!(0.05 * 1.11 * exp(strain) - side < 1e-9 && side - 0.05 * 1.11 * exp(strain) < 1e-9)) bad = 1
        if ($column["contact_stress_yy"] > 1e-9) bad = 2
    }
    table == 2 {
        if ($column["cell"] - work[FNR] != 0) bad = 3
        sum = $column["friction"] + $column["impact"] + $column["stabilisation"] + $column["stiffening"] + \
              $column["gravity_error"] + $column["cell"] + $column["exchange"]
        if ((sum - $column["kinetic_change"] - $column["elastic_change"]) ^ 2 > 1e-24) bad = 4
    }
    END { if (bad || last < 0.6 - 1e-9 || last > 0.6 + 1e-9) { print "rule", bad, "shear", last; exit 1 } }
' whole/cell.csv whole/steps.csv >awk.log || fail "tables: $(cat awk.log)"

# frames at two times have two heights; the box of `measure` follows them
"$TALUS" measure whole -f solid --at 0 >start.csv 2>measure.log || fail "measure: $(cat measure.log)"
"$TALUS" measure whole -f solid --source frames >end.csv 2>>measure.log || fail "measure: $(cat measure.log)"
cmp -s start.csv end.csv && fail "the box of measure does not follow the cell"

"$TALUS" run compression --set side=5 --threads 1 --quiet --out press >press.log 2>&1 || fail "press: $(cat press.log)"
"$TALUS" measure press -f contact_stress >stress.csv 2>>measure.log || fail "measure: $(cat measure.log)"
awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { x = -$column["contact_stress_xx"]; y = -$column["contact_stress_yy"]; z = -$column["contact_stress_zz"] }
    END { print x, y, z; exit !(x > 900 && x < 1100 && y > 900 && y < 1100 && z > 900 && z < 1100) }
' press/cell.csv >pressures.txt || fail "pressures: $(cat pressures.txt)"
tail -n 1 stress.csv | tr , ' ' | awk -v press="$(cat pressures.txt)" '
    { split(press, p, " "); for (k = 0; k < 3; k++) { s = -$(5 + 4 * k); if ((s / p[k + 1] - 1) ^ 2 > 1e-4) bad = 1 } }
    END { exit bad }' || fail "measured stress $(tail -n 1 stress.csv), of the cell $(cat pressures.txt)"

# more images than can be counted are refused
for field in "-f density" ""; do
    "$TALUS" measure press $field --box=-2000:2000,-2000:2000,-2000:2000 >out 2>error && fail "a box of very many periods: $(cat out)"
    grep -q 'images of each body' error || fail "a box of very many periods: $(cat error)"
done

# bodies that arrive move with the cell, and so do those of an earlier run, of its checkpoint or of an exact frame
cat >two.json <<'END'
{"gravity": [0, 0, 0], "step": 0.01, "until": 0.1, "every": 0.06, "solver": {"reference_speed": 0.1},
 "period": {"x": [0, 1], "y": [0, 1], "z": [0, 1]}, "cell": {"rate": {"xy": 1}},
 "bodies": [{"radius": 0.05, "mass": 1, "at": [0.3, 0.8, 0.5]}, {"radius": 0.05, "mass": 1, "at": [0.3, 0.2, 0.5]},
            {"radius": 0.05, "mass": 1, "at": [0.3, 0.9, 0.9], "time": 0.075}]}
END
kinetic() { awk -F, -v row="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kinetic") at = i } NR == row + 1 { printf "%.6f", $at }' "$1"; }
"$TALUS" run two.json --frames exact --out two --threads 1 --quiet || fail "two"
[ "$(kinetic two/steps.csv 7) $(kinetic two/steps.csv 10)" = "0.090000 0.170000" ] || fail "arrival: $(kinetic two/steps.csv 7) $(kinetic two/steps.csv 10)"
for from in two@0.06 two; do
    "$TALUS" run two.json --set bodies='[]' --from $from --out next --threads 1 --quiet 2>error || fail "from $from: $(cat error)"
    grep -q 'has a tilt of' error || fail "from $from: no warning"
    case $from in two) expected=0.170000 ;; *) expected=0.090000 ;; esac
    [ "$(kinetic next/steps.csv 1)" = $expected ] || fail "from $from: $(kinetic next/steps.csv 1)"
done

# several ranks have the files of one, also after a resume with another number, as threads and as processes
"$TALUS" run simple-shear $shear --frames lammps --ranks 3 --until 0.01 --out ranks >ranks.log 2>&1 || fail "ranks: $(cat ranks.log)"
"$TALUS" run --resume ranks --ranks 2 --threads 1 --until "$until" --quiet >>ranks.log 2>&1 || fail "resume: $(cat ranks.log)"
folders=ranks
if [ -n "$TALUS_MPIEXEC" ]; then
    # shellcheck source=tests/support/mpi_env.sh
    . "$TALUS_SOURCE_DIR/tests/support/mpi_env.sh"
    "$TALUS_MPIEXEC" -n 2 "$TALUS" run simple-shear $shear --frames lammps --until 0.01 --out processes >processes.log 2>&1 ||
        fail "processes: $(cat processes.log)"
    "$TALUS_MPIEXEC" -n 3 "$TALUS" run --resume processes --threads 1 --until "$until" --quiet >>processes.log 2>&1 ||
        fail "resume: $(cat processes.log)"
    folders="ranks processes"
fi
for folder in $folders; do
    for file in cell.csv frames.talus bodies.dump; do
        cmp -s whole/$file $folder/$file || fail "$folder: another $file"
    done
done
cp -r press again
more=$(tail -n 1 press/cell.csv | cut -d, -f1 | awk '{ print $1 * 1.05 }')
"$TALUS" run --resume press --threads 1 --until "$more" --quiet 2>error || fail "press: $(cat error)"
"$TALUS" run --resume again --ranks 2 --threads 1 --until "$more" --quiet 2>error || fail "press on ranks: $(cat error)"
cmp -s press/cell.csv again/cell.csv || fail "press on ranks: another cell.csv"
for ranks in 1 2; do
    "$TALUS" run simple-shear --set side=5 --set strain=0.1 --set bodies='[]' --from again --ranks $ranks --threads 1 \
        --out from$ranks --quiet 2>error || fail "from press on $ranks ranks: $(cat error)"
done
cmp -s from1/cell.csv from2/cell.csv || fail "from press on ranks: another cell.csv"

# bodies of an earlier run that do not move are refused in a cell that deforms, and can be left behind
cat >walls.json <<'END'
{"step": 0.005, "until": 0.2, "bodies": [{"shape": {"kind": "box", "half": [0.3, 0.3, 0.05]}, "at": [0, 0, 0], "fixed": true},
    {"radius": 0.05, "mass": 1, "at": [0, 0, 0.2]}]}
END
cat >inside.json <<'END'
{"gravity": [0, 0, 0], "step": 0.001, "until": 0.01, "solver": {"reference_speed": 0.1}, "cell": {"rate": {"xx": -0.1}},
 "period": {"x": [-3, 3], "y": [-3, 3], "z": [-1, 3]}, "bodies": []}
END
"$TALUS" run walls.json --frames exact --every 0.1 --out walls --threads 1 --quiet || fail "walls"
for from in '"run": "walls"' '"run": "walls", "time": 0.15'; do
    "$TALUS" run inside.json --set "from={$from}" --no-out --quiet 2>error && fail "walls in a cell: $from"
    grep -q 'not move with a cell that deforms' error || fail "$(cat error)"
    "$TALUS" run inside.json --set "from={$from, \"fixed\": false}" --no-out --quiet || fail "walls left behind: $from"
done

[ $failures -eq 0 ] && echo "ok"
exit $((failures > 0))
