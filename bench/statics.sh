#!/bin/sh
# What should stand still, for a minute of 5 ms steps, and the thickness at which an arch falls: statics.sh
# About ten minutes of one core. BENCH names the program; default build/release/talus_bench_statics, which
# `cmake --build build/release --target talus_bench_statics` makes. DEFAULTS=relaxed gives rigid contacts under ccp, else
# contacts are the default's. docs/explanation/statics.md explains the lines.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
bench=${BENCH:-$root/build/release/talus_bench_statics}
[ -x "$bench" ] || {
    echo "statics: $bench is not there; BENCH names another" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run LABEL SCENE SECONDS SIZE SETTINGS...
run() {
    label=$1 scene=$2
    shift 2
    case $scene in */*) ;; *) scene=$root/scenes/$scene.json ;; esac
    printf '%-34s ' "$label"
    seconds=$1 size=$2
    shift 2
    "$bench" "$scene" "$seconds" "$size" "defaults=${DEFAULTS:-exact}" "$@"
}

# Twenty boxes, or other shapes as high, turned so that no number is round.
cat >"$work/turned.json" <<'END'
{
    "title": "Turned stack",
    "params": {"a": 0.23},
    "step": 0.005,
    "solver": {"tolerance": 1e-5},
    "materials": {"wood": {"friction": 0.5, "density": 700}},
    "shapes": {
        "box": {"kind": "box", "half": ["=a", "=a", "=a"]},
        "hull": {"kind": "hull", "points": [
            ["=-a", "=-a", "=-a"], ["=a", "=-a", "=-a"], ["=-a", "=a", "=-a"], ["=a", "=a", "=-a"],
            ["=-a", "=-a", "=a"], ["=a", "=-a", "=a"], ["=-a", "=a", "=a"], ["=a", "=a", "=a"]]},
        "cylinder": {"kind": "cylinder", "radius": "=a", "half_height": "=a"}
    },
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "stack", "shape": "box", "orientation": {"axis": [0, 0, 1], "degrees": 17}, "at": [
END
seq 1 2 39 | sed 's/.*/            [0, 0, "=&*a"],/' >>"$work/turned.json"
echo '        ]}]}' >>"$work/turned.json"

run "20 boxes, 1e-4" box-stack 60 0.5 bodies=20 h=0.005 solver.tolerance=1e-4
run "20 turned boxes, 1e-5" "$work/turned.json" 60 0.46
run "20 turned hulls, 1e-5" "$work/turned.json" 10 0.46 "bodies[stack].shape=hull"
run "20 turned cylinders, 1e-5" "$work/turned.json" 10 0.46 "bodies[stack].shape=cylinder"
run "wall of 125 bricks, 1e-5" brick-wall 60 0.065 strike=1000 solver.tolerance=1e-5
run "1000 on 1, 1e-5" heavy-stack 60 0.5 pairs=1
run "5 times 1000 on 1, 1e-5" heavy-stack 60 0.5
run "card house, 1e-5" card-house 60 0.001
for mu in 0.30 0.305 0.31; do
    run "card house, mu $mu" card-house 0.5 0.001 mu=$mu
done
run "arch 0.12, 1e-5" arch 60 0.12
for t in 0.09 0.1065 0.107 0.1071 0.10717 0.10722 0.1073 0.11; do
    run "arch $t" arch 2 $t t=$t
done
