#!/bin/sh
# The rover of scenes/rover.json over its gravel: does anything get out of the tray, fly off or gain energy, and what
# does it cost? machines.sh [FOLDER]
#   ROCKS     20000; SETTLE  1 s before the motors start; DRIVE  5 s after it; STEP  0.0025 s
#   THREADS   0: one per processor; BACKEND  cpu
#   LIMIT     seconds of wall clock after which the run is stopped; called again with the same FOLDER it goes on. 540
#   TALUS     names the program; build/release/talus
# FOLDER holds the run (1 GB); a temporary one if left out. Tables go to standard output.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
rocks=${ROCKS:-20000} settle=${SETTLE:-1} drive=${DRIVE:-5} step=${STEP:-0.0025}
width=${WIDTH:-2.4} depth=${DEPTH:-0.3}
end=$(awk "BEGIN { print $settle + $drive }")
# a rock with its pores takes 1.25 of the ball of the mean radius, as the scene has it
length=$(awk "BEGIN { printf \"%.3f\", $rocks * 1.25 * 4 / 3 * 3.14159265 * 0.04 ^ 3 / ($width * $depth) }")
if [ $# -gt 0 ]; then
    out=$1
else
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi

status=0
began=$(date +%s)
if [ -f "$out/checkpoint-a.talus" ]; then
    set -- --resume "$out"
else
    set -- "$root/scenes/rover.json" --out "$out" --backend "${BACKEND:-cpu}" --frames csv --every 0.5 --set "rocks=$rocks" --set "h=$step" \
        --set "settle=$settle" --set "width=$width" --set "depth=$depth" --set "length=$length"
fi
timeout "${LIMIT:-540}" "$talus" run "$@" --until "$end" --threads "${THREADS:-0}" >"$out.log" 2>&1 || status=$?
case $status in 0 | 124 | 143) ;; *) cat "$out.log" >&2 && exit 1 ;; esac
ended=$(date +%s)
grep -E 'threads?, to t|^  (set-up|detect|build|solve|integrate|output|total) |steps to t|tolerance|wedged' "$out.log" || true
[ $status -eq 0 ] || echo "stopped after ${LIMIT:-540} s; the same call goes on from there"

awk -F, -v settle="$settle" -v rocks="$rocks" -v wall=$((ended - began)) '
    function size(x) { return x < 0 ? -x : x }
    FNR == 1 { file++; for (i = 1; i <= NF; i++) at[file, $i] = i; next }
    file == 1 { # joints.csv: work of the motors, by the mean of the speeds before and after a step
        name = $(at[1, "joint"]); speed = ($(at[1, "speed"]) + last[name]) / 2; last[name] = $(at[1, "speed"])
        e = $(at[1, "error"]) + 0
        if (e > open) open = e
        if ($(at[1, "time"]) <= settle + 1e-9) next
        effort = $(at[1, "effort"])
        work += $(at[1, "time"]) / $(at[1, "step"]) * effort * speed
        if (size(effort) > most) most = size(effort)
        next
    }
    {
        steps++; end = $(at[2, "time"])
        late = end > settle + 1e-9
        c = $(at[2, "contacts"]); contacts += c; if (c > contacts_most) contacts_most = c
        n[late]++; iterations[late] += $(at[2, "iterations"]); missed[late] += $(at[2, "missed"])
        p = $(at[2, "penetration_max"]) + 0; if (p > deep[late]) deep[late] = p
        mean[late] += $(at[2, "penetration_mean"])
        r = $(at[2, "residual_rms"]) + 0; if (r > worst[late]) worst[late] = r
        k = $(at[2, "kinetic"]) + 0; if (k > kinetic[late]) kinetic[late] = k
        seconds[late] += $(at[2, "detect_seconds"]) + $(at[2, "build_seconds"]) + $(at[2, "solve_seconds"]) + \
            $(at[2, "integrate_seconds"])
        off[late] += size($(at[2, "imbalance"]))
        if (!late) next
        dk += $(at[2, "kinetic_change"]); dv += $(at[2, "potential_change"]); de += $(at[2, "elastic_change"])
        friction += $(at[2, "friction"]); normal += $(at[2, "impact"]) + $(at[2, "gravity_error"])
        undo += $(at[2, "stabilisation"]); stiffening += $(at[2, "stiffening"]); spin += $(at[2, "spin"])
        joints += $(at[2, "joints"]) + $(at[2, "projection"]); driven += $(at[2, "driven"])
    }
    function phase(late) {
        printf "| %s | %d | %.3f | %.0f | %d | %.1e | %.4f | %.3f | %.0f |\n", late ? "drive" : "settle", n[late],
            seconds[late] / n[late], iterations[late] / n[late], missed[late], worst[late], mean[late] / n[late],
            deep[late], kinetic[late]
    }
    function row(name, value) { printf "| %s | %.2f | %.3f %% |\n", name, value, 100 * value / work }
    END {
        printf "\n%d rocks, to t = %g s: %.0f s in steps, %d s of wall clock in this call; contacts %.0f on average, %d at " \
            "most\n\n", rocks, end, seconds[0] + seconds[1], wall, contacts / steps, contacts_most
        print "| phase | steps | s a step | iterations | missed | residual m/s | mean overlap / radius | largest | kinetic J |"
        print "|---|---|---|---|---|---|---|---|---|"
        if (n[0]) phase(0)
        if (!n[1]) exit
        phase(1)
        printf "\nlargest joint error %.1e m; largest effort of a motor %.1f N m\n", open, most
        print "\n| energy of the drive | J | of the motors work |\n|---|---|---|"
        row("motors: effort x mean speed x h", work)
        row("kinetic, change", dk)
        row("potential, change", dv)
        row("elastic, change", de)
        row("friction", friction)
        row("normal contact: impact + gravity_error", normal)
        row("undoing overlap: stabilisation", undo)
        row("hardening of compliant contacts: stiffening", stiffening)
        row("rotation: spin", spin)
        row("gate: driven", driven)
        row("joints + projection less motors", joints - work)
        row("left over: motors + gate + friction + normal + overlap + hardening - changes",
            work + driven + friction + normal + undo + stiffening - dk - dv - de)
        printf "| ledger: sum of abs(imbalance) | %.2e | %.1e %% |\n", off[1], 100 * off[1] / work
    }' "$out/joints.csv" "$out/steps.csv"

awk -F, -v width="$width" -v depth="$depth" -v length_="$length" -v settle="$settle" -v R=0.16 '
    FNR == 1 {
        for (i = 1; i <= NF; i++) at[$i] = i
        match(FILENAME, /[0-9]+\.csv/)
        time = 0.5 * substr(FILENAME, RSTART, RLENGTH - 4); next
    }
    $(at["fixed"]) == 1 { next }
    {
        x = $(at["position_x"]); y = $(at["position_y"]); z = $(at["position_z"])
        v = sqrt($(at["velocity_x"]) ^ 2 + $(at["velocity_y"]) ^ 2 + $(at["velocity_z"]) ^ 2)
        late = time > settle + 1e-9
        rock = $(at["tag"]) == 1
        seen++
        if (z < 0) below++
        if (y < -width / 2 || y > width / 2 || x > length_ || x < -3) outside++
        if (x < 0 && x > -3 && z < depth) inside++
        if (rock && x < 0) platform[time]++
        if (v > fast[late, rock]) fast[late, rock] = v
    }
    $(at["body_id"]) == 6 { if (!started && time >= settle - 1e-9) { started = 1; x0 = x; t0 = time } x1 = x; y1 = y; z1 = z; t1 = time }
    END {
        printf "\nof %d places of bodies, every 0.5 s: below the floor %d, outside of the tray %d, in the platform %d; rocks " \
            "on the platform at the end %d\n", seen, below, outside, inside, platform[t1]
        printf "largest speed, m/s: rocks %.2f while they settle, %.2f in the drive; the rover %.2f\n", fast[0, 1], fast[1, 1],
            fast[1, 0]
        if (t1 > t0)
            printf "the rover went %.2f m in %.2f s, from x = %.2f to %.2f; the chassis is at y = %.3f, z = %.3f\n", x1 - x0,
                t1 - t0, x0, x1, y1, z1
    }' "$out"/frames/bodies-*.csv
