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
    "$TALUS" extract box-stack --set defaults=relaxed --at 0 -o f.hdf5 >out 2>err && fail "extract without HDF5"
    contains err "talus: f.hdf5: this build of Talus has no HDF5"
    contains err "libhdf5-dev"
    [ -e f.hdf5 ] && fail "extract without HDF5 left a file"
    printf '\211HDF\r\n\032\n' >g.hdf5
    "$TALUS" info g.hdf5 >out 2>err && fail "info without HDF5"
    contains err "libhdf5-dev"
    exit $((failures > 0))
fi

# ---- both extensions give FCLIB, any other the own format ----
for file in a.hdf5 a.h5 a.talus; do
    "$TALUS" extract box-stack --set defaults=relaxed --set bodies=3 --at 0.05 -o $file >out 2>err ||
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

# ---- what FCLIB cannot hold ----
# Stiffness becomes compliance, which only the own format keeps.
"$TALUS" extract box-stack --set materials.wood.stiffness=1e6 --at 0 -o soft.hdf5 >out 2>err &&
    fail "extract of compliant contacts"
contains err "talus: contact 0 has compliance; FCLIB has no place for it; \`-o file.talus\` keeps it"
[ -e soft.hdf5 ] && fail "a refused extract left a file"
"$TALUS" extract box-stack --set materials.wood.stiffness=1e6 --at 0 -o soft.talus >out 2>err ||
    fail "extract of compliant contacts into the own format: $(cat err)"

# ---- damaged files ----
head -c 3000 a.hdf5 >cut.hdf5
"$TALUS" info cut.hdf5 >out 2>err && fail "info of half a file"
contains err "talus: cut.hdf5: cannot be opened by HDF5: the file is truncated or damaged"
"$TALUS" extract box-stack --set defaults=relaxed --at 0 -o no/such/folder.hdf5 >out 2>err && fail "extract into no folder"
contains err "talus: no/such/folder.hdf5: cannot create"

exit $((failures > 0))
