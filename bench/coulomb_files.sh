#!/bin/sh
# Two builds on the problems of ../shared/problems under exact Coulomb friction, by turns: coulomb_files.sh BEFORE [FOLDER]
#   BEFORE    the other build's program, talus
#   FOLDER    with problems/*.hdf5 and extra2d/*.hdf5; ../shared/problems by default
#   TALUS     this build's program; build/release/talus
#   TOL       residual asked for, over that of zero impulses; 1e-8
#   ROUNDS    runs of each build on each problem, by turns; of the times the least counts; 5
# Prints a table and fails if `talus verify` rejects a solution of this build. Solver: auto, one thread, from zero
# impulses. A product of a direct method is a multiplication, or a factorisation with its solution.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
before=$1
problems=${2:-$root/../shared/problems}
after=${TALUS:-$root/build/release/talus}
tol=${TOL:-1e-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

solve() { # WHICH TALUS PROBLEM: appends a row of the solve's figures
    "$2" solve "$3" --law coulomb --tol "$tol" --max-iter 100000 --threads 1 --json --quiet --save "$work/$1.talus" |
        awk -F': ' -v which="$1" '
            { value = $2; gsub(/[",}\]]/, "", value) }
            /^"contacts": [0-9]/ { contacts = value }
            /^"(ran|outcome|iterations|applies|seconds|natural_relative)":/ { key = $1; gsub(/"/, "", key); v[key] = value }
            END { print which, contacts, v["ran"], v["outcome"], v["iterations"], v["applies"], v["seconds"], v["natural_relative"] }
        ' >>"$work/rows"
}

verdict() { # WHICH PROBLEM: the verifier of this build on the solution just saved
    if "$after" verify "$2" "$work/$1.talus" --law coulomb --tol "$tol" >"$work/verified" 2>&1; then
        echo yes
    else
        echo no
    fi
}

row() { # PROBLEM
    : >"$work/rows"
    round=0
    while [ "$round" -lt "${ROUNDS:-5}" ]; do
        solve before "$before" "$1"
        solve after "$after" "$1"
        round=$((round + 1))
    done
    name=$(basename "$1" .hdf5)
    awk -v name="$name" -v old="$(verdict before "$1")" -v new="$(verdict after "$1")" '
        { iterations[$1] = $5; products[$1] = $6; ran[$1] = $3; relative[$1] = $8; contacts = $2
          if (!($1 in least) || $7 < least[$1]) least[$1] = $7 }
        END { printf "| %s | %d | %s, %s | %d, %d | %d, %d | %.1e, %.1e | %s, %s | %.2f | %.2f |\n", name, contacts,
                     ran["before"], ran["after"], iterations["before"], iterations["after"], products["before"],
                     products["after"], relative["before"], relative["after"], old, new,
                     1e3 * least["after"], least["after"] / least["before"] }
    ' "$work/rows"
}

echo "| problem | contacts | last solver | iterations | products | residual over that of zero impulses | verified | ms, after | time, after over before |"
echo "|---|---|---|---|---|---|---|---|---|"
for problem in "$problems"/problems/*.hdf5 "$problems"/extra2d/*.hdf5; do
    row "$problem"
done | tee "$work/table"

awk -F'|' '
    { split($6, p, ","); split($8, ok, ","); before += p[1]; after += p[2]; total++; ms += $9; old_ms += $9 / $10
      if (ok[1] ~ /yes/) were++
      if (ok[2] ~ /yes/) are++ }
    END { printf "\n%d problems; verified before %d, after %d; products %d and %d; time of all, after over before, %.2f\n",
                 total, were, are, before, after, ms / old_ms
          exit total == 0 || are < total }
' "$work/table"
