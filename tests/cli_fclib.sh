#!/bin/sh
# talus extract writes FCLIB by the file's extension, talus info describes it, and a build without
# HDF5 says what would give it.
set -u
failures=0
rm -rf cli_fclib.work
mkdir cli_fclib.work
cd cli_fclib.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

"$TALUS" list features >features || fail "talus list features"
contains features "hdf5"

if grep -q "not in this build.*libhdf5-dev" features; then
    contains features "libhdf5-dev"
    "$TALUS" extract box-stack --at 0 -o f.hdf5 >out 2>err && fail "extract without HDF5"
    contains err "talus: f.hdf5: this build of Talus has no HDF5"
    contains err "libhdf5-dev"
    [ -e f.hdf5 ] && fail "extract without HDF5 left a file"
    printf '\211HDF\r\n\032\n' >g.hdf5
    "$TALUS" info g.hdf5 >out 2>err && fail "info without HDF5"
    contains err "libhdf5-dev"
    exit $((failures > 0))
fi

rigid="--set law=ccp --set compliance=0"
# ---- both extensions give FCLIB, any other the own format ----
for file in a.hdf5 a.h5 a.talus; do
    "$TALUS" extract box-stack --set bodies=3 $rigid --at 0.05 -o $file >out 2>err ||
        fail "extract -o $file: $(cat err)"
    contains out "$file: 12 contacts of 3 rows each, 4 bodies, at t = 0.05 s"
done
cmp -s a.hdf5 a.h5 || fail "the same problem gives other bytes"
"$TALUS" info a.talus >info || fail "info a.talus"
contains info "a.talus: contact problem, sound"

"$TALUS" info a.hdf5 >info || fail "info a.hdf5"
contains info "a.hdf5: FCLIB global problem"
contains info "Box stack, the step after t = 0.05 s"
contains info "12 in 3 dimensions"
contains info "18 degrees, 0 joint rows"
contains info "0 of W"
contains info "1, 1 with impulses"

# ---- the form: global for rigid contacts, local if some are compliant; both hold the same problem ----
contains out "a.talus: 12 contacts of 3 rows each, 4 bodies, at t = 0.05 s, law ccp"
"$TALUS" extract box-stack --set bodies=3 $rigid --at 0.05 -o a.hdf5 >out 2>err || fail "extract: $(cat err)"
contains out "a.hdf5: FCLIB's global form: 18 degrees of freedom"
contains out "a.hdf5: FCLIB stores no friction law: \`talus solve\` takes --law ccp"
"$TALUS" extract box-stack --set bodies=3 $rigid --at 0.05 --form local -o w.hdf5 >out 2>err || fail "local: $(cat err)"
contains out "w.hdf5: FCLIB's local form: W of 36 rows and"
grep -q "compliance" out && fail "rigid contacts are called compliant: $(cat out)"
"$TALUS" info w.hdf5 >info || fail "info w.hdf5"
contains info "w.hdf5: FCLIB local problem"
contains info "W of 36 rows, "
contains info "0 of W"
# figure FILE KEY: a figure of `talus verify`
figure() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }
# agrees A B: equal to 1e-7 of A
agrees() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a > 0 && d * d <= 1e-14 * a * a) }'; }
"$TALUS" solve a.hdf5 --law coulomb --tol 1e-3 --save s.hdf5 >out 2>err || fail "solve a.hdf5: $(cat err)"
for form in a w; do
    "$TALUS" verify $form.hdf5 s.hdf5 --law coulomb >$form.found 2>err || fail "verify $form.hdf5: $(cat err)"
done
contains w.found "W of 36 rows, "
contains w.found "entries, symmetric"
[ "$(figure w.found asymmetry)" = 0.000000e+00 ] || fail "asymmetry: $(cat w.found)"
grep -q "W of" a.found && fail "the global form has no W: $(cat a.found)"
for key in siconos natural natural_at_zero complementarity_max; do
    agrees "$(figure a.found $key)" "$(figure w.found $key)" ||
        fail "$key of the global form $(figure a.found $key), of the local $(figure w.found $key)"
done
"$TALUS" extract box-stack --at 0 --form lokal -o x.hdf5 >out 2>err && fail "an unknown form"
contains err "--form lokal: expected auto, global or local"
"$TALUS" extract box-stack --at 0 --form local -o x.talus >out 2>err && fail "a form of Talus's own format"
contains err "--form goes with an FCLIB file"

# Compliance, from the material or relative, is in W. Both formats are solved to the same figures, and verified.
for soft in materials.wood.stiffness=1e6 compliance=6e-3; do
    for file in soft.hdf5 soft.talus; do
        "$TALUS" extract box-stack --set bodies=3 --set law=coulomb --set $soft --at 0.05 -o $file >$file.out 2>err ||
            fail "extract with $soft: $(cat err)"
        contains $file.out "$file: 12 contacts of 3 rows each, 4 bodies, at t = 0.05 s, law coulomb"
    done
    contains soft.hdf5.out "soft.hdf5: FCLIB's local form: W of 36 rows and"
    contains soft.hdf5.out "soft.hdf5: W contains the compliance of 12 contacts, for which the global form has no place"
    grep -q "stores no friction law" soft.hdf5.out && fail "the law is that of all FCLIB files: $(cat soft.hdf5.out)"
    "$TALUS" info soft.hdf5 >info || fail "info soft.hdf5"
    contains info "friction law coulomb; W contains the compliance"
    "$TALUS" info soft.talus >info || fail "info soft.talus"
    contains info "of 12 contacts, "
    "$TALUS" solve soft.hdf5 --law coulomb --tol 1e-10 --save solved.hdf5 >out 2>err || fail "solve soft.hdf5: $(cat err)"
    "$TALUS" verify soft.hdf5 solved.hdf5 --law coulomb --tol 1e-9 >found 2>err || fail "verify soft.hdf5: $(cat err)"
    awk '$1 == "stored_velocity_error" { found = $2 <= 1e-12 } END { exit !found }' found || fail "stored u: $(cat found)"
    "$TALUS" verify soft.talus solved.hdf5 --tol 1e-9 >found 2>err || fail "verify soft.talus: $(cat err)"
    # velocities of the own format have no E r in them, those of the local form have
    "$TALUS" solve soft.talus --tol 1e-10 --reference solved.hdf5 --save again.hdf5 --json >out 2>err ||
        fail "solve soft.talus: $(cat err)"
    contains err "talus: again.hdf5: W contains the compliance of 12 contacts"
    sed -n 's/.*"velocity_error": \([^,}]*\).*/\1/p' out | awk '{ exit !($1 < 1e-7) }' ||
        fail "velocity error against the local form: $(cat out)"
    "$TALUS" verify soft.hdf5 again.hdf5 --law coulomb --tol 1e-9 >found 2>err || fail "verify again.hdf5: $(cat err)"
    "$TALUS" extract box-stack --set $soft --at 0.05 --form global -o refused.hdf5 >out 2>err && fail "global with $soft"
    contains err "talus: contact 0 has compliance; FCLIB's global form has no place for it; its local form (\`--form local\`) has it in W"
    [ -e refused.hdf5 ] && fail "a refused extract left a file"
done

# A scene without a title gives a title without a comma in front.
echo '{"bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]}, {"radius": 1, "at": [0, 0, 1]}]}' >plain.json
"$TALUS" extract plain.json --at 0 -o plain.hdf5 >out 2>err || fail "extract plain.json: $(cat err)"
"$TALUS" info plain.hdf5 >info
grep -q 'title  *the step after t = 0 s' info || fail "title: $(cat info)"

# ---- damaged files ----
head -c 3000 a.hdf5 >cut.hdf5
"$TALUS" info cut.hdf5 >out 2>err && fail "info of half a file"
contains err "talus: cut.hdf5: cannot be opened by HDF5: the file is truncated or damaged"
"$TALUS" extract box-stack --at 0 -o no/such/folder.hdf5 >out 2>err && fail "extract into no folder"
contains err "talus: no/such/folder.hdf5: cannot create"

exit $((failures > 0))
