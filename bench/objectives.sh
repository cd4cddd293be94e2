#!/bin/sh
# The least value of one quadratic program by methods that share nothing: objectives on the problems of
# ../shared/problems with polygonal cones, as a table: objectives.sh [FOLDER OF PROBLEMS]
#   SECTION   polygon:3 by default; square, polygon:M
#   TOL       residual asked for, over that of zero impulses; 1e-10
#   BUDGET    seconds of each solve at most; 10
#   MOST      relative spread above which the script fails; 1e-7
#   SOLVERS   those compared; the first one's objective is printed, of the others what they differ by
#   TALUS     names the program; build/release/talus
# Where a solver does not get to TOL its column ends in *. Needs a build with HDF5, and PETSc for tao-*.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
problems=${1:-$root/../shared/problems/problems}
talus=${TALUS:-$root/build/release/talus}
solvers=${SOLVERS:-ipm-chol,ipm-aug,tao-blmvm,tao-tron,tao-gpcg,tao-bqpip,apgd,lbfgs-fb}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$talus" solve "$problems"/*.hdf5 --section "${SECTION:-polygon:3}" --solver "$solvers" --tol "${TOL:-1e-10}" \
    --max-iter 1000000 --budget "${BUDGET:-10}" --threads 1 --json --quiet >"$work/results.json"

awk -v most="${MOST:-1e-7}" '
    function size(x) { return x < 0 ? -x : x }
    function text(line) { sub(/^[^:]*: */, "", line); gsub(/[",\]}]/, "", line); return line }
    function head(    k, names, rule) {
        for (k = 1; k <= count; k++) { names = names " " solver[k] " |"; rule = rule "---|" }
        print "| problem | contacts |" names " spread |"
        print "|---|---|" rule "---|"
    }
    function finish(    k, low, high, largest, spread, row) {
        if (!count) return
        if (!problems) head()
        low = high = value[1]
        for (k = 1; k <= count; k++) {
            if (value[k] < low) low = value[k]
            if (value[k] > high) high = value[k]
            if (size(value[k]) > largest) largest = size(value[k])
        }
        spread = largest > 0 ? (high - low) / largest : 0
        row = sprintf("| %s | %d | %.10g%s |", name, contacts, value[1], mark[1])
        for (k = 2; k <= count; k++)
            row = row sprintf(" %.0e%s |", largest > 0 ? size(value[k] - value[1]) / largest : 0, mark[k])
        print row sprintf(" %.1e |", spread)
        problems++
        if (!(spread <= most)) beyond++
        if (spread > worst) worst = spread
        count = 0
    }
    /^"name": / { finish(); name = text($0) }
    /^"contacts": [0-9]/ { contacts = text($0) }
    /^"solver": / { solver[++count] = text($0) }
    /^"outcome": / { mark[count] = text($0) == "converged" ? "" : "*" }
    /^"objective": / { value[count] = text($0) + 0 }
    END {
        finish()
        printf "\n%d problems, largest spread %.1e; %d above %g\n", problems, worst, beyond, most
        exit problems == 0 || beyond > 0
    }
' "$work/results.json"
