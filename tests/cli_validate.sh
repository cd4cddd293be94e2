#!/bin/sh
# talus validate: the list, one case with its table, the report's files, JSON, exit codes.
set -u
failures=0
rm -rf cli_validate.work
mkdir cli_validate.work
cd cli_validate.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }

"$TALUS" validate --list >list || fail "--list"
for name in incline-block struck-block painleve pendulum dominoes arch packing-mu0 beverloo janssen incline drum column cone plane-shear repose crater; do contains list "  $name "; done
[ "$(grep -c '^  [a-z]' list)" -ge 15 ] || fail "cases: $(cat list)"

"$TALUS" validate inclin-block 2>err
[ $? -eq 2 ] || fail "a misspelt case is not wrong usage"
contains err "talus: validate: no case 'inclin-block'; did you mean 'incline-block'?"

for bad in friction gravit=1 gravity=0 width=-1 friction=1x friction=nan; do
    "$TALUS" validate chain --plant $bad 2>err
    [ $? -eq 2 ] || fail "--plant $bad is not wrong usage"
    contains err "talus: validate: --plant $bad: expected"
done
"$TALUS" validate incline-cylinder --plant gravity=1.02 --out planted >table 2>err
[ $? -eq 1 ] || fail "planted gravity turns nothing red: $(cat table err)"
contains table "4 of 4 rows red"
contains planted/tables.md '`talus validate incline-cylinder --plant gravity=1.02`'

"$TALUS" validate struck-block pendulum --out out >table 2>err || fail "struck-block: $(cat table err)"
contains err "talus: struck-block"
contains table "fails as expected"
contains table "half period, 2.5 rad"
contains table "0 of 12 rows red"
contains table "struck-block, ccp, lift is expected to fail: thrown up"
grep -q 'struck-block  coulomb  *1 ms  *sliding distance .* holds' table || fail "no row at h/2: $(cat table)"
for file in report.html results.json tables.md; do
    [ -s out/$file ] || fail "out/$file is missing"
done
contains out/tables.md "| struck-block | coulomb | 2 ms | lift |"
contains out/tables.md '`talus validate struck-block pendulum`'

"$TALUS" validate free-top --json --quiet >json 2>err || fail "--json: $(cat err)"
[ -s err ] && fail "--quiet is not quiet: $(cat err)"
contains json '"experiment": "validate"'
contains json 'precession in 1 s'

"$TALUS" validate incline-cylinder >one && "$TALUS" validate incline-cylinder >two && cmp one two ||
    fail "two runs differ"

[ $failures -eq 0 ] || exit 1
