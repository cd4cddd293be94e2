#!/bin/sh
# Talus and its peers on one scene, judged by one evaluator, as one table.
#
#   bench/run.sh [--full] [--bodies N]... [--engines LIST] [--repeat K] [--curve] [--save]
#   bench/run.sh --boxes N
#
#   --full          4,000 and 16,000 spheres (default: 4,000)
#   --bodies N      this many instead; may be repeated
#   --engines LIST  of talus,ode,bullet,lammps (default: all that are found)
#   --repeat K      run every case K times and keep the one that took least CPU time (default 1)
#   --curve         cost against overlap as well: Talus and LAMMPS at several stiffnesses each
#   --save          write bench/results/DATE-MACHINE.md as well
#   --boxes N       instead a heap of N boxes: Talus with 6 and 8 sweeps a step beside Bullet with 10 and 50
#                   iterations (bench/peers/heap.sh, which has more options)
#
# Everything runs on one thread and is measured in CPU seconds of the stepping alone; compare ratios
# within one run. Progress goes to standard error, the table to standard output. What is measured
# and how each peer is set up: bench/peers/README.md.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
bin=$root/build/peers
work=$root/build/bench
rows=$work/rows # result lines, one for each row of the table
talus=${TALUS:-$root/build/release/talus}
export PEERS_BIN="$bin"

boxes='' sizes='' engines=talus,ode,bullet,lammps repeat=1 save=no curve=no

# A LAMMPS run expected to take longer than this (CPU seconds) is extrapolated instead.
lammps_budget=${LAMMPS_BUDGET:-1200}

say() { printf 'bench: %s\n' "$*" >&2; }

usage() {
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
    exit 2
}

positive_integer() { # positive_integer TEXT
    case $1 in '' | 0* | *[!0-9]*) usage ;; esac
}

parse_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --full) sizes='4000 16000' ;;
        --save) save=yes ;;
        --curve) curve=yes ;;
        --bodies | --boxes | --engines | --repeat)
            [ $# -ge 2 ] || usage
            [ "$1" = --engines ] || positive_integer "$2"
            case $1 in
            --bodies) sizes="$sizes $2" ;;
            --boxes) boxes=$2 ;;
            --engines) engines=$2 ;;
            --repeat) repeat=$2 ;;
            esac
            shift
            ;;
        *) usage ;;
        esac
        shift
    done
    sizes=${sizes:-4000}
}

wanted() { # wanted ENGINE
    case ",$engines," in *",$1,"*) return 0 ;; *) return 1 ;; esac
}

# ---- small tools --------------------------------------------------------------------------------

value() { # value KEY LINE: the first KEY=VALUE of a result line; empty when there is none
    printf '%s\n' "$2" | tr ' ' '\n' | sed -n "s/^$1=//p" | sed 1q
}

calc() { # calc EXPRESSION: awk's arithmetic
    awk "BEGIN { printf \"%.6g\", $1 }"
}

holds() { # holds CONDITION
    [ "$(calc "($1) ? 1 : 0")" = 1 ]
}

# ---- running one case ---------------------------------------------------------------------------

# measure_case POSITIONS COMMAND...: the command's result line and the evaluator's, as one. The
# command writes POSITIONS; of several repetitions (they differ in time only) the fastest counts.
measure_case() {
    positions=$1 best=''
    shift
    for attempt in $(seq "$repeat"); do
        line=$("$@") || {
            say "failed (attempt $attempt): $*"
            return 1
        }
        if [ -z "$best" ] || holds "$(value cpu_s "$line") < $(value cpu_s "$best")"; then
            best=$line
        fi
    done
    verdict=$("$bin/evaluate" "$bed" "$positions") || return 1
    printf '%s %s\n' "$best" "$verdict"
}

# A failed peer costs its row, not the table.
add_row() { # add_row NAME POSITIONS COMMAND...
    say "$1, $n spheres"
    shift
    measure_case "$@" >>"$rows" || true
}

# run_talus LABEL POSITIONS TOLERANCE ITERATIONS OPTIONS...: the default, or what OPTIONS make of it.
run_talus() {
    label=$1 final=$2 knob=$1,tol=$3gh,$4its tolerance=$3 iterations=$4 json=$work/talus-$n.json
    shift 4
    talus_case "$work/talus-$n" --set solver.tolerance="$tolerance" \
        --set solver.max_iterations="$iterations" --final-positions "$final" "$@" || return 1
    echo "engine=talus n=$n label=$label knob=$knob cpu_s=$(json_number cpu_seconds "$json")" \
        "steps=$(json_number steps "$json") sim_s=$(json_number time "$json")" \
        "rss_mb=$(calc "$(json_number peak_memory_bytes "$json") / 1048576")"
}

add_talus() { # add_talus LABEL TOLERANCE ITERATIONS OPTIONS...
    setting=$1
    shift
    add_row "talus $setting" "$work/talus-$n.txt" run_talus "$setting" "$work/talus-$n.txt" "$@"
}

# The default and the former one (rigid contacts, relaxed friction) at a loose tolerance: 0.4 g h, at
# most 30 sweeps a step.
bench_talus() {
    add_talus default 0.4 30
    add_talus relaxed 0.4 30 --set defaults=relaxed
    say "talus, one sweep, $n spheres"
    echo "engine=talus n=$n sweep_ns=$(talus_sweep_cost)" \
        "contacts_last=$(json_number contacts "$work/sweeps-50.json")" >>"$work/sweeps"
}

talus_case() { # talus_case STEM OPTIONS...: one thread, result in STEM.json, tables in STEM
    stem=$1
    shift
    "$talus" run "$root/scenes/settle-box.json" --set bodies="$n" \
        --set half_width="$(value half_width "$(sed 1q "$bed")")" \
        --set "bodies[grains].file=$bed" --threads 1 --out "$stem" --every 10 --quiet --json "$@" \
        >"$stem.json"
}

# ns per contact and sweep, by the difference between 50 and 10 sweeps a step, as for the peers.
talus_sweep_cost() {
    for sweeps in 10 50; do
        talus_case "$work/sweeps-$sweeps" --solver gs-coulomb --set solver.tolerance=0 \
            --set solver.max_iterations="$sweeps" || return 1
    done
    awk -F, -v few="$(json_number cpu_seconds "$work/sweeps-10.json")" \
        -v many="$(json_number cpu_seconds "$work/sweeps-50.json")" '
        FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "contacts") column = i; next }
        { sum += $column }
        END { printf "%.1f", 1e9 * (many - few) / (40 * sum / 2) }' \
        "$work/sweeps-10/steps.csv" "$work/sweeps-50/steps.csv"
}

json_number() { # json_number KEY FILE: good enough for the flat numbers of `talus run --json`
    tr ',{}' '[\n*]' <"$2" | sed -n "s/^[[:space:]]*\"$1\"[[:space:]]*:[[:space:]]*//p" | sed 1q
}

run_lammps() { # run_lammps POSITIONS MODULUS RAYLEIGH [LABEL]
    line=$("$root/bench/peers/lammps_box.sh" --bed "$bed" --out "$1" --modulus "$2" --rayleigh "$3") ||
        return 1
    echo "$line label=${4:-none}"
}

# ---- LAMMPS at the penetration of Talus ---------------------------------------------------------

# The modulus at which LAMMPS should show a given mean penetration: Hertz's E^(-2/3) through what was
# measured at 4,000 spheres and 5e9 Pa; the load grows with the depth of the bed, as n^(1/3). Not
# above 2e11, so that a first run always ends.
first_modulus() { # first_modulus PENETRATION
    modulus=$(calc "5e9 * (5.3e-4 / $1)^1.5 * ($n / 4000)^(1 / 3)")
    if holds "$modulus < 2e11"; then printf '%.3g\n' "$modulus"; else echo 2e11; fi
}

# One secant step on log E against log penetration; Hertz's slope when there is one point only.
next_modulus() { # next_modulus TARGET E PEN [E_BEFORE PEN_BEFORE]
    slope=-0.6667
    if [ $# -eq 5 ]; then
        slope=$(calc "log($3 / $5) / log($2 / $4)")
        holds "$slope < -0.5 && $slope > -0.85" || slope=-0.6667 # too close together to tell
    fi
    printf '%.3g\n' "$(calc "$2 * exp(log($1 / $3) / $slope)")"
}

# Explicit steps: dt and hence cost go as sqrt(E).
extrapolated_row() { # extrapolated_row LINE E_NEW RAYLEIGH TARGET LABEL
    cpu=$(calc "$(value cpu_s "$1") * sqrt($2 / $modulus)")
    steps=$(calc "int($(value steps "$1") * sqrt($2 / $modulus))")
    echo "engine=lammps n=$n label=$5 knob=E=$2,dt=$3TR,extrapolated cpu_s=$cpu steps=$steps" \
        "sim_s=$(value sim_s "$1") rss_mb=$(value rss_mb "$1") pen_mean=$4 pen_max=-" \
        "height=$(value height "$1") mean_z=$(value mean_z "$1") lost=$(value lost "$1")"
}

# match_lammps RAYLEIGH TARGET LABEL: appends the row at the stiffness that gives TARGET, the mean
# penetration of Talus's row LABEL, within 5 %, starting from $modulus and leaving there what it found.
match_lammps() {
    before=''
    for try in 1 2 3 4; do
        say "lammps at the overlap of $3, $n spheres, E $modulus, dt $1 of the Rayleigh time (try $try)"
        line=$(measure_case "$work/lammps-$n.txt" run_lammps "$work/lammps-$n.txt" \
            "$modulus" "$1" "$3") || return 0
        pen=$(value pen_mean "$line")
        if holds "$pen < 1.05 * $2 && $2 < 1.05 * $pen"; then break; fi
        if [ "$try" = 4 ]; then # the table must not pass it off as equal penetration
            line=$(printf '%s\n' "$line" | sed 's/ knob=[^ ]*/&,unmatched/')
            break
        fi
        # shellcheck disable=SC2086 # $before is two words or none
        next=$(next_modulus "$2" "$modulus" "$pen" $before)
        if holds "$(value cpu_s "$line") * sqrt($next / $modulus) > $lammps_budget"; then
            line=$(extrapolated_row "$line" "$next" "$1" "$2" "$3")
            break
        fi
        before="$modulus $pen" modulus=$next
    done
    printf '%s\n' "$line" >>"$rows"
}

# The larger step first: it finds the modulus at half the cost; of the former default that step alone.
lammps_at() { # lammps_at LABEL RAYLEIGH...
    label=$1
    shift
    target=$(value pen_mean "$(grep "^engine=talus n=$n label=$label " "$rows" || true)")
    [ -n "$target" ] || return 0
    if holds "$target <= 0"; then
        say "talus $label shows no penetration at all: no stiffness matches, lammps left out"
        return 0
    fi
    modulus=$(first_modulus "$target")
    for rayleigh in "$@"; do match_lammps "$rayleigh" "$target" "$label"; done
}

# Without Talus there is nothing to match, and a modulus of 5e9 stands in.
bench_lammps() {
    if grep -q "^engine=talus n=$n " "$rows"; then
        lammps_at default 0.3 0.15
        lammps_at relaxed 0.3
        return
    fi
    for rayleigh in 0.3 0.15; do
        add_row "lammps, dt $rayleigh of the Rayleigh time" "$work/lammps-$n.txt" \
            run_lammps "$work/lammps-$n.txt" 5e9 "$rayleigh"
    done
}

# ---- cost against overlap -----------------------------------------------------------------------

# Talus at 0.1 g h, where stiffness and not the error of the solve sets the overlap, and LAMMPS at the
# larger step, each at a series of stiffnesses.
bench_curve() {
    rows=$work/curve
    for compliance in 1e-2 3e-3 1e-3 1e-4; do
        add_talus "compliance=$compliance" 0.1 1000 --set compliance="$compliance"
    done
    add_talus relaxed 0.1 1000 --set defaults=relaxed
    for modulus in 5e9 1.5e10 5e10 1.5e11; do
        add_row "lammps, E $modulus" "$work/lammps-$n.txt" run_lammps "$work/lammps-$n.txt" \
            "$modulus" 0.3 curve
    done
    rows=$work/rows
}

# ---- all cases ----------------------------------------------------------------------------------

build_peers() {
    generator=''
    if [ ! -f "$bin/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator='-G Ninja'; fi
    # shellcheck disable=SC2086 # two words or none
    { cmake -S "$root/bench/peers" -B "$bin" $generator && cmake --build "$bin"; } \
        >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        exit 1
    }
}

bench_size() { # bench_size N
    n=$1 bed=$work/bed-$1.txt
    "$bin/make_bed" "$n" >"$bed"
    if wanted talus; then
        if [ -x "$talus" ]; then
            bench_talus
        else
            say "no ${talus#"$root"/}: peers only"
        fi
    fi
    for engine in ode bullet; do
        wanted "$engine" || continue
        if [ -x "$bin/${engine}_box" ]; then
            add_row "$engine" "$work/$engine-$n.txt" "$bin/${engine}_box" --bed "$bed" \
                --out "$work/$engine-$n.txt" --iterations 50 --sweep-cost
        else
            say "no $engine here (Debian: lib$engine-dev)"
        fi
    done
    if wanted lammps; then
        if command -v lmp >/dev/null; then bench_lammps; else say "no lmp here (Debian: lammps)"; fi
    fi
    if [ "$curve" = yes ] && wanted talus && wanted lammps; then bench_curve; fi
}

# ---- the table ----------------------------------------------------------------------------------

print_table() {
    awk '
    function per_second(row) { return cell[row, "cpu_s"] / cell[row, "sim_s"] }
    {
        for (i = 1; i <= NF; i++) {
            at = index($i, "=")
            if (!((NR, substr($i, 1, at - 1)) in cell))
                cell[NR, substr($i, 1, at - 1)] = substr($i, at + 1)
        }
        if (cell[NR, "engine"] == "talus") talus[cell[NR, "n"], cell[NR, "label"]] = NR
    }
    # The cost of a row over that of a row of Talus; LAMMPS has that of equal penetration only.
    function over(row, label,   at) {
        at = talus[cell[row, "n"], label]
        if (!at || (cell[row, "engine"] == "lammps" && cell[row, "label"] != label)) return "-"
        return sprintf("%.2f", per_second(row) / per_second(at))
    }
    END {
        printf "%-7s %-36s %7s %9s %9s %9s %9s %8s %8s %5s %8s %10s %10s\n", "engine", "knob", "N", \
            "CPU s/s", "ms/step", "mean pen", "max pen", "height", "mean z", "lost", "RSS MB", \
            "to default", "to relaxed"
        for (row = 1; row <= NR; row++) {
            printf "%-7s %-36s %7d %9.3f %9.3f %9.2e %9s %8.4f %8.4f %5d %8.1f %10s %10s\n", \
                cell[row, "engine"], cell[row, "knob"], cell[row, "n"], per_second(row), \
                1e3 * cell[row, "cpu_s"] / cell[row, "steps"], cell[row, "pen_mean"], \
                cell[row, "pen_max"] == "-" ? "-" : sprintf("%.2e", cell[row, "pen_max"]), \
                cell[row, "height"], cell[row, "mean_z"], cell[row, "lost"], \
                cell[row, "rss_mb"], over(row, "default"), over(row, "relaxed")
        }
    }' "$rows"
}

# Of each row of Talus, LAMMPS's cost at the same mean penetration: log-log between the two of its runs
# that are nearest (beyond its runs, along the last two).
print_curve() {
    [ -s "$work/curve" ] || return 0
    printf '\n%s\n' "Cost against overlap: LAMMPS (dt 0.3 of the Rayleigh time) at the mean penetration of Talus"
    grep -h -e '^engine=talus ' -e ' label=curve ' "$rows" "$work/curve" | awk '
    function of(key,   i) {
        for (i = 1; i <= NF; i++) if (index($i, key "=") == 1) return substr($i, length(key) + 2)
    }
    {
        if (of("engine") == "lammps") {
            n = of("n"); k = ++runs[n]
            x[n, k] = log(of("pen_mean")); y[n, k] = log(of("cpu_s") / of("sim_s"))
            printf "%-7s %-36s %7d %9.3f %9.2e %8.4f\n", "lammps", of("knob"), n, \
                of("cpu_s") / of("sim_s"), of("pen_mean"), of("mean_z")
        } else {
            line[++lines] = $0; size[lines] = of("n"); pen[lines] = of("pen_mean")
            cost[lines] = of("cpu_s") / of("sim_s"); knob[lines] = of("knob"); z[lines] = of("mean_z")
        }
    }
    BEGIN { printf "%-7s %-36s %7s %9s %9s %8s %9s %9s\n", "engine", "knob", "N", "CPU s/s", \
        "mean pen", "mean z", "LAMMPS", "over it" }
    END {
        for (i = 1; i <= lines; i++) {
            n = size[i]
            if (runs[n] < 2) continue
            for (k = 1; k < runs[n] - 1 && log(pen[i]) < x[n, k + 1]; k++) ;
            there = y[n, k] + (log(pen[i]) - x[n, k]) * (y[n, k + 1] - y[n, k]) / (x[n, k + 1] - x[n, k])
            printf "%-7s %-36s %7d %9.3f %9.2e %8.4f %9.3f %9.2f\n", "talus", knob[i], n, cost[i], \
                pen[i], z[i], exp(there), exp(there) / cost[i]
        }
    }'
}

print_sweeps() {
    printf '\n%s\n' "One Gauss-Seidel sweep, ns per contact (steps with 50 less steps with 10)"
    while read -r line; do
        cost=$(value sweep_ns "$line")
        [ -n "$cost" ] || continue
        printf '%-7s %7s %9s   (%s contacts)\n' "$(value engine "$line")" "$(value n "$line")" \
            "$cost" "$(value contacts_last "$line")"
    done <<END
$(cat "$work/sweeps" "$rows")
END
}

print_legend() {
    cat <<'END'

CPU s/s: CPU seconds per simulated second, one thread. Penetration over the radius, over overlapping
contacts. Height: 95th percentile of the tops, m; mean z: mean height of the centres, m. To default,
to relaxed: CPU s/s over that of Talus under its default (exact friction, compliant contacts) and under
"defaults": "relaxed" (rigid contacts, relaxed friction). TR: Rayleigh time.
END
    if grep -q '^engine=talus' "$rows"; then
        cat <<'END'
LAMMPS runs at the stiffness that gives the mean penetration of one of the two within 5 %, unless marked:
extrapolated, not run at that stiffness, cost scaled as sqrt(E); unmatched, not within 5 % after four runs.
END
    else
        echo "No Talus in this run, so LAMMPS has no penetration to match: E = 5e9 Pa."
    fi
}

print_report() {
    print_table
    print_sweeps
    print_curve
    print_legend
}

# ---- saving -------------------------------------------------------------------------------------

machine() {
    model=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | sed 1q)
    echo "${model:-unknown CPU}, $(nproc) cores"
}

versions() {
    for package in ode bullet; do
        printf '%s %s, ' "$package" "$(pkg-config --modversion "$package" 2>/dev/null || echo none)"
    done
    echo "lammps $(lmp -h 2>/dev/null | sed -n 's/.*Simulator - //p' || true)"
}

# No host name and no path: the file is for readers elsewhere.
save_report() {
    slug=$(machine | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9\n' '-')
    file=$root/bench/results/$(date -u +%Y-%m-%d)-$slug.md
    mkdir -p "$root/bench/results"
    {
        echo "# settle-box, $(date -u +%Y-%m-%d)"
        echo
        echo "Machine: $(machine). Peers: $(versions)."
        echo "Talus: $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo 'not committed')."
        echo
        echo '```'
        print_report
        echo '```'
    } >"$file"
    say "saved bench/results/${file##*/}"
}

bench_boxes() {
    sh "$root/bench/peers/heap.sh" --boxes "$boxes" --iterations 10 --budget 6
    sh "$root/bench/peers/heap.sh" --boxes "$boxes" --iterations 50 --budget 8
}

parse_options "$@"
if [ -n "$boxes" ]; then
    bench_boxes
    exit
fi
mkdir -p "$work"
build_peers
for list in rows curve sweeps; do : >"$work/$list"; done
for size in $sizes; do bench_size "$size"; done
print_report
if [ "$save" = yes ]; then save_report; fi
