#!/bin/sh
# Memory of a bed of spheres for each body, as counted by name of its arrays: what a solve in single precision needs, not
# twice of it. Bytes are counted, not measured, so that the figures are the same on every machine; small arrays hold up
# to half as much again (docs/explanation/architecture.md, Memory).
set -u
failures=0
bodies=6000

limit() { # limit SOLVER BYTES
    "$TALUS" run million --set bodies=$bodies --solver "$1" --until 0.03 --threads 2 --no-out --profile --json --quiet >out 2>err || {
        echo "FAILED: $1: $(cat err)"
        failures=$((failures + 1))
        return
    }
    peak=$(sed -n 's/.*"memory_peak": *\([0-9]*\).*/\1/p' out)
    each=$((${peak:-999999999} / bodies))
    echo "$1: $each bytes a body, at most $2"
    [ "$each" -le "$2" ] || {
        echo "FAILED: $1: $each bytes a body, expected at most $2"
        failures=$((failures + 1))
    }
}

limit apgd 1900
limit gs 2100
limit lbfgs-fb 3000

[ $failures -eq 0 ] && echo "cli_bytes: passed"
[ $failures -eq 0 ]
