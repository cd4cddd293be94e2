#!/bin/sh
# No batch of the silo arrives where grains are: wide and narrow, smooth and rough, rigid and compliant.
set -u
failures=0
run() {
    "$TALUS" run silo "$@" --no-out --quiet --threads 1 >out 2>err || { echo "FAILED: silo $*: $(cat err)"; failures=1; }
    grep 'arrive where others are' err && { echo "FAILED: silo $*"; failures=1; }
}
run --set bodies=240 --set mu=0
run --set bodies=240 --set mu=1 --set law=coulomb --set compliance=6e-3 --set elastic_overlap=0.02
run --set batch=30 --set silo=0.35
[ $failures -eq 0 ] && echo "ok       no batch overlaps on arrival"
exit $failures
