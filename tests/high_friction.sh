#!/bin/sh
# Heaps with high friction under exact Coulomb friction, the default: steps meet their tolerance, nothing is driven into
# overlap, and the bits do not depend on ranks or threads. Steps that miss are explained.
set -eu

fail() {
    echo "high_friction: $*" >&2
    exit 1
}

run() { # run NAME OPTIONS...: the report of a run in NAME.json
    name=$1
    shift
    "$TALUS" run settle-box --set bodies=120 --until 0.5 --no-out --quiet --json "$@" \
        >"$name.json" 2>"$name.err" || fail "$name: $(cat "$name.err")"
}

number_of() { # number_of NAME KEY
    sed -n "s/.*\"$2\": *\"\{0,1\}\([0-9a-f.e+-]*\)\"\{0,1\}.*/\1/p" "$1.json" | tail -n 1
}

for mu in 1 3 10; do
    run "at-$mu" --set mu=$mu --threads 1
    [ "$(number_of "at-$mu" missed_steps)" = 0 ] || fail "mu $mu: steps missed their tolerance"
    largest=$(sed -n 's/^"max": *\([0-9.e+-]*\).*/\1/p' "at-$mu.json" | tail -n 1)
    awk "BEGIN { exit !($largest + 0 < 0.01) }" || fail "mu $mu: largest overlap $largest"
done

run threads --set mu=3 --threads 3
run ranks --set mu=3 --ranks 2 --threads 1
for other in threads ranks; do
    [ "$(number_of $other hash)" = "$(number_of at-3 hash)" ] || fail "other bits with $other"
done

# first order alone does not get there, and says why
run first-order --set mu=3 --solver apgd --threads 1
[ "$(number_of first-order missed_steps)" -gt 10 ] || fail "apgd settles mu 3: the plan is not needed"
grep -q 'friction coefficients up to 3' first-order.err || fail "no word on friction: $(cat first-order.err)"
run relaxed --set mu=3 --solver apgd --set law=ccp --threads 1
[ "$(number_of relaxed missed_steps)" = 0 ] || fail "the relaxation misses steps at mu 3"
! grep -q 'friction coefficients' relaxed.err || fail "the relaxation is warned of friction"

# up to 0.9 friction is not high: no word on it, and the plan of `auto` for lower friction
for mu in 0.9 0.901; do
    run "limit-$mu" --set mu=$mu --set solver.tolerance=1e-9 --solver apgd --threads 1
    [ "$(number_of "limit-$mu" missed_steps)" -gt 3 ] || fail "mu $mu: apgd reaches 1e-9"
    run "plan-$mu" --set mu=$mu --threads 1
done
! grep -q 'friction coefficients' limit-0.9.err || fail "a word on friction 0.9: $(cat limit-0.9.err)"
grep -q 'friction coefficients up to 0.901' limit-0.901.err || fail "no word on friction: $(cat limit-0.901.err)"
iterations=$(number_of plan-0.9 iterations)
[ "$iterations" -gt $((2 * $(number_of plan-0.901 iterations))) ] ||
    fail "above 0.9 auto has no plan of its own: $iterations and $(number_of plan-0.901 iterations) iterations"
