#!/bin/sh
# talus bench default: parts at a small size, cases by name, figures that are stored and taken up again, tables.
set -u
failures=0
rm -rf cli_bench_default.work
mkdir cli_bench_default.work
cd cli_bench_default.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }
# figure CASE NAME: the stored value
figure() { awk -F, -v c="$1" -v f="$2" '$1 == c && $8 == f { print $9 }' out/cases.csv; }
# holds EXPRESSION: of numbers, for awk
holds() { awk "BEGIN { exit !($1) }" || fail "$1"; }

bench() { "$TALUS" bench default --quick --threads 2 --out out "$@" >table 2>err; }

bench lift/struck || true
contains err "no case 'lift/struck'"
[ -e out/cases.csv ] && fail "a wrong name ran something"

# a box that is struck stays down under Coulomb's law, and flies under the relaxation, at any step
bench lift || fail "lift: $(cat err)"
for h in 5ms 1ms 0.2ms; do
    holds "$(figure lift/struck-box/$h/default lift) < 1e-4"
    holds "$(figure lift/thrown-box/$h/rigid-coulomb lift) < 1e-4"
    holds "$(figure lift/thrown-box/$h/rigid-ccp lift) > 0.1"
done
holds "$(figure lift/hopper/4ms/default largest) < 0.1"
contains table "Lift over the size"
contains out/tables.md "| start | default |"

# Minutes under a sanitizer, and code that other tests run there.
beds() {
    # every setting of a sheared bed reaches its tolerances, and the default's overlap is small
    bench shear || fail "shear: $(cat err)"
    for n in 100 150 200; do
        for setting in default rigid-ccp rigid-coulomb; do
            holds "$(figure shear/$n/$setting 'products 1e-02') > 0"
            holds "$(figure shear/$n/$setting 'products 1e-03') > $(figure shear/$n/$setting 'products 1e-02')"
        done
        holds "$(figure shear/$n/default 'overlap 1e-02') < 1e-3"
        holds "$(figure shear/$n/default 'overlap 1e-02') > 10 * $(figure shear/$n/rigid-ccp 'overlap 1e-02')"
    done
    contains table "A sheared bed: products per step"

    # every bulk answer has a figure under each setting, and rigid contacts without friction are alike under both laws
    bench bulk || fail "bulk: $(cat err)"
    for name in repose drum hopper packing-mu0 packing-mu0.3 packing-mu1 janssen arch card-house wall rover; do
        for setting in default rigid-ccp rigid-coulomb; do
            [ -n "$(figure bulk/$name/1/$setting seconds)" ] || fail "no figures of bulk/$name/1/$setting"
        done
    done
    [ "$(figure bulk/packing-mu0/1/rigid-ccp fraction)" = "$(figure bulk/packing-mu0/1/rigid-coulomb fraction)" ] ||
        fail "a frictionless packing differs between laws"
    holds "$(figure bulk/packing-mu0/1/compliance-1e-3 'mean overlap') < 0.5 * $(figure bulk/packing-mu0/1/compliance-1e-2 'mean overlap')"
    # loose spheres do not count: with friction two contacts hold a sphere, without it four
    holds "$(figure bulk/packing-mu0/1/default rattlers) > 0.1"
    holds "$(figure bulk/packing-mu1/1/default rattlers) < $(figure bulk/packing-mu0/1/default rattlers)"
    holds "$(figure bulk/packing-mu1/1/default contacts) >= 2"
    holds "$(figure bulk/wall/1/rigid-ccp drift) < 1e-5"
    contains table "Bulk answers"

    # beds that settle: the default costs no more than rigid contacts, and is softer
    bench settle || fail "settle: $(cat err)"
    for n in 100 150 200; do
        holds "$(figure settle/$n/1e-03/default last) > 0 && $(figure settle/$n/1e-03/default missed) == 0"
        holds "$(figure settle/$n/1e-03/default 'overlap 99') >= $(figure settle/$n/1e-03/default 'overlap mean')"
        holds "$(figure settle/$n/1e-03/default 'overlap largest') >= $(figure settle/$n/1e-03/default 'overlap 99')"
    done
    contains table "Beds that settle"
}
[ -n "${TALUS_SANITIZE:-}" ] || beds

# what is stored is not run again; --fresh runs what is selected
cp out/cases.csv before
bench lift || fail "again: $(cat err)"
grep -q ' of .*: lift/' err && fail "ran again: $(cat err)"
cmp -s before out/cases.csv || fail "cases.csv changed though all was stored"
bench 'lift/*/5ms/default' --fresh || fail "fresh: $(cat err)"
[ "$(grep -c ' of .*: lift/' err)" -eq 5 ] || fail "--fresh ran: $(cat err)"
# figures of another setting than the one that has the name now are not taken
sed 's/^\(lift\/[a-z-]*\/5ms\/default,law coulomb compliance\) [0-9.e-]*/\1 0.5/' before >out/cases.csv
bench lift/spinning-sphere || fail "another setting: $(cat err)"
[ "$(grep -c ' of .*: lift/' err)" -eq 1 ] || fail "another setting: $(cat err)"
[ -n "$(figure lift/thrown-box/5ms/default lift)" ] && fail "figures of another setting are still there"
# nor those of another number of bodies or of an older revision
sed 's/^\(lift\/hopper\/4ms\/default,[^,]*\),100,/\1,99,/; s/^\(lift\/hopper\/4ms\/rigid-ccp,[^,]*,100\),[0-9]*,/\1,0,/' before >out/cases.csv
bench lift || fail "other terms: $(cat err)"
[ "$(grep -c ' of 2: lift/hopper' err)" -eq 2 ] || fail "other terms: $(cat err)"
# nor those of a whole run by a quick one, or of a run with another number of steps
sed 's/^\(lift\/thrown-box\/5ms\/default,[^,]*,[^,]*,[^,]*\),1,0,/\1,0,0,/; s/^\(lift\/thrown-box\/1ms\/default,[^,]*,[^,]*,[^,]*\),1,0,/\1,1,7,/' before >out/cases.csv
bench lift || fail "other extents: $(cat err)"
[ "$(grep -c ' of 2: lift/thrown-box' err)" -eq 2 ] || fail "other extents: $(cat err)"
bench settle/100/1e-03/default --steps 6 || fail "steps: $(cat err)"
bench settle/100/1e-03/default --steps 6 || fail "steps: $(cat err)"
grep -q ' of .*: settle/' err && fail "--steps 6 ran twice: $(cat err)"
bench settle/100/1e-03/default --steps 7 || fail "steps: $(cat err)"
[ "$(grep -c ' of 1: settle/' err)" -eq 1 ] || fail "figures of 6 steps count as those of 7"

# tables alone
cp before out/cases.csv
bench tables || fail "tables: $(cat err)"
cmp -s before out/cases.csv || fail "tables changed cases.csv"

[ $failures -eq 0 ] && echo "cli_bench_default: passed"
[ $failures -eq 0 ]
