#!/bin/sh
# Ranks against threads on one machine: ranks.sh TALUS OUT [BODIES] [UNTIL] [CORES]
# Ranks that share one GPU against one rank: BACKEND=cuda ranks.sh TALUS OUT [BODIES] [UNTIL]
#
# Runs the scene `million` on CORES processors (16): as one rank of CORES threads, as CORES ranks of one thread that are
# threads of one process, as processes of mpirun where there is one, and in between. Then, for the weak scaling, CORES
# runs of one rank each at once, with as many bodies each as a rank had. On another backend than cpu: one, two and four ranks, as
# threads and as processes, whose share of the speed of one rank is in the last line. Prints a table; JSON of all runs is kept in OUT.
set -eu
talus=$1 out=$2 bodies=${3:-1000000} until=${4:-0.15} cores=${5:-16}
backend=${BACKEND:-cpu}
mkdir -p "$out"

get() { sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$1" | head -n 1; }

# report NAME: a row of the table
report() {
    json=$out/$1.json
    awk -v name="$1" -v wall="$(get "$json" wall_seconds)" -v solve="$(sed -n 's/^  solve *\([0-9.]*\) s.*/\1/p' "$out/$1.txt")" \
        -v detect="$(sed -n 's/^  detect *\([0-9.]*\) s.*/\1/p' "$out/$1.txt")" -v iterations="$(get "$json" iterations)" \
        -v steps="$(get "$json" steps)" -v contacts="$(get "$json" contacts)" -v hash="$(get "$json" hash)" \
        -v memory="$(get "$json" peak_memory_bytes)" 'BEGIN {
            printf "%-16s %8.1f %8.1f %8.1f %10d %12.3f %9d %8.0f  %s\n", name, wall, detect, solve, iterations,
                   1e3 * solve / iterations, contacts, memory / 1e6, hash }'
}

# ranks NAME RANKS THREADS, processes NAME RANKS THREADS: one run
ranks() {
    "$talus" run million --set "bodies=$bodies" --until "$until" --solver apgd --backend "$backend" --ranks "$2" --threads "$3" --no-out --json \
        >"$out/$1.json" 2>"$out/$1.txt" || { tail -n 3 "$out/$1.txt" && return 0; }
    report "$1"
}

processes() {
    mpirun --allow-run-as-root --bind-to core -n "$2" "$talus" run million --set "bodies=$bodies" --until "$until" --solver apgd \
        --backend "$backend" --threads "$3" --no-out --json >"$out/$1.json" 2>"$out/$1.txt" || { tail -n 3 "$out/$1.txt" && return 0; }
    report "$1"
}

printf '%s bodies, until %s s, backend %s\n' "$bodies" "$until" "$backend"
printf '%-16s %8s %8s %8s %10s %12s %9s %8s  %s\n' run 'wall, s' detect solve iterations 'ms/iteration' contacts MB hash
if [ "$backend" != cpu ]; then
    for n in 1 2 4; do ranks "${n}x1" $n 1; done
    if command -v mpirun >/dev/null 2>&1; then for n in 2 4; do processes "${n}x1-mpi" $n 1; done; fi
    for run in "$out"/*.json; do
        awk -v name="$(basename "$run" .json)" -v one="$(get "$out/1x1.json" wall_seconds)" -v wall="$(get "$run" wall_seconds)" \
            'BEGIN { if (wall > 0) printf "%s %.2f  ", name, one / wall }'
    done
    echo
    exit 0
fi
ranks "1x$cores" 1 "$cores"
ranks "2x$((cores / 2))" 2 $((cores / 2))
ranks "$((cores / 2))x2" $((cores / 2)) 2
ranks "${cores}x1" "$cores" 1
if command -v mpirun >/dev/null 2>&1; then processes "${cores}x1-mpi" "$cores" 1; fi

# Weak: as many runs of one rank at once as there were ranks.
each=$((bodies / cores)) k=0
while [ $k -lt "$cores" ]; do
    taskset -c $k "$talus" run million --set "bodies=$each" --until "$until" --solver apgd --threads 1 --no-out --json \
        >"$out/alone-$k.json" 2>"$out/alone-$k.txt" &
    k=$((k + 1))
done
wait
for k in 0 $((cores - 1)); do report "alone-$k"; done
