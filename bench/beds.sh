#!/bin/sh
# Products until the natural residual is 1e-3, 1e-6 and 1e-10 of that at zero impulses, on the settled
# beds of ../shared/beds, for the methods of docs/reference/solvers.md: beds.sh [FOLDER OF BEDS]
# TALUS names the program; default build/release/talus. Needs a build with HDF5.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
beds=${1:-$root/../shared/beds}
talus=${TALUS:-$root/build/release/talus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bed FILE MAX_ITERATIONS SOLVERS
bed() {
    [ -f "$beds/$1.hdf5" ] || {
        echo "beds: $beds/$1.hdf5 is not there" >&2
        exit 1
    }
    "$talus" solve "$beds/$1.hdf5" --law ccp --solver "$3" --tol 1e-10 --max-iter "$2" --trace "$work/trace.csv" \
        --quiet
    awk -F, -v bed="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            text = $0 # a solver with parameters is quoted, as it may hold commas
            n = 0
            while (match(text, /^("[^"]*"|[^,]*)(,|$)/)) {
                cell[++n] = substr(text, 1, RLENGTH)
                sub(/,$/, "", cell[n]); gsub(/"/, "", cell[n])
                if (RLENGTH == 0) break
                text = substr(text, RLENGTH + 1)
                if (text == "") break
            }
            s = cell[at["solver"]]
            if (!(s in seen)) { seen[s] = 1; order[++count] = s }
            r = cell[at["natural_relative"]] + 0
            last[s] = r
            for (k = 1; k <= 3; k++)
                if (r <= tol[k] && !((s, k) in done)) done[s, k] = cell[at["applies"]]
        }
        BEGIN { tol[1] = 1e-3; tol[2] = 1e-6; tol[3] = 1e-10
            printf "%-16s %-28s %8s %8s %8s %10s\n", bed, "solver", "1e-3", "1e-6", "1e-10", "end" }
        END { for (i = 1; i <= count; i++) { s = order[i]
            printf "%-16s %-28s %8s %8s %8s %10.1e\n", bed, s, (s, 1) in done ? done[s, 1] : "-",
                (s, 2) in done ? done[s, 2] : "-", (s, 3) in done ? done[s, 3] : "-", last[s] } }
    ' "$work/trace.csv"
}

smooth=apgd,lbfgs-fb,spg,mprgp,kucera,anderson,cpg,gpcg,gpminres,admm
bed bed1k_mu0 12000 "$smooth,gs,gs:omega=1.6,jacobi"
bed bed4k_mu0 8000 "$smooth,gs,gs:omega=1.6"
rough='apgd,apgd:metric=trace,lbfgs-fb'
bed bed1k_mu3 12000 "$rough,gs,gs:omega=1.5,spg,anderson,admm,mprgp,kucera"
bed bed4k_mu3 13000 "$rough,gs:omega=1.5"
bed bed1k_heavy_mu3 8000 "$rough,gs"

# apgd to 1e-3, then mprgp from there.
"$talus" solve "$beds/bed4k_mu0.hdf5" --solver apgd --tol 1e-3 --save "$work/begun.hdf5" --quiet
echo "bed4k_mu0, begun by apgd to 1e-3 (its products to be added), gone on with mprgp:"
"$talus" solve "$work/begun.hdf5" --warm --solver mprgp --tol 1e-6 2>/dev/null
"$talus" solve "$work/begun.hdf5" --warm --solver mprgp --tol 1e-10 2>/dev/null
