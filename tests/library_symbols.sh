#!/bin/sh
# What libtalus.so exports is what the public headers declare and what tests/library_symbols.txt lists. A function that
# was added on purpose enters the list by
#     TALUS_REGENERATE=1 ctest -R library_symbols
# One that goes, or whose arguments change, takes TALUS_ABI_VERSION in include/talus/base.h with it, from the first
# release on.
set -u
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

if [ -n "$TALUS_SANITIZE" ]; then
    echo "skip: with sanitizers libtalus.so exports inner functions too, for the tests"
    exit 77
fi
command -v nm >/dev/null 2>&1 || { echo "skip: there is no nm (Debian: binutils)" && exit 77; }

library=$TALUS_BUILD_DIR/libtalus.so
list=$TALUS_SOURCE_DIR/tests/library_symbols.txt
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >exported || exit 1

# compare LIST EXPORTED: says what differs; false if something does
compare() {
    LC_ALL=C comm -13 "$1" "$2" | sed 's/.*/& is exported but not in the list: was it meant to become public?/' >said
    LC_ALL=C comm -23 "$1" "$2" | sed 's/.*/& is in the list but no longer exported: programs that call it do not start/' >>said
    [ ! -s said ]
}

if [ "${TALUS_REGENERATE:-}" = 1 ]; then
    cp exported "$list"
    echo "wrote $list"
fi
compare "$list" exported || fail "exported symbols differ from tests/library_symbols.txt:
$(cat said)
If that is on purpose, run TALUS_REGENERATE=1 ctest -R library_symbols and commit the list"

# The comparison sees one function more, and one less.
sed 1d exported >fewer
compare fewer exported && fail "a new function goes unnoticed"
grep -q "^$(head -n 1 exported) is exported but not in the list" said || fail "a new function: $(cat said)"
compare exported fewer && fail "a lost function goes unnoticed"
grep -q "^$(head -n 1 exported) is in the list but no longer exported" said || fail "a lost function: $(cat said)"

# Functions of the headers, without comments and inline ones.
cat "$TALUS_SOURCE_DIR"/include/talus/*.h | awk '
/TALUS_API/ { declared = 1 }
declared && match($0, /talus_[a-z0-9_]+\(/) { print substr($0, RSTART, RLENGTH - 1); declared = 0 }
' | LC_ALL=C sort >declared
[ "$(wc -l <declared)" -gt 200 ] || fail "only $(wc -l <declared) functions were found in the headers"
compare declared exported || fail "the headers of include/talus and the library differ:
$(sed 's/the list/the headers/' said)"

# The number in the library's name is that of the headers.
abi=$(sed -n 's/^#define TALUS_ABI_VERSION //p' "$TALUS_SOURCE_DIR/include/talus/base.h")
if command -v readelf >/dev/null 2>&1; then
    readelf -d "$library" | grep -q "soname: \[libtalus\.so\.$abi\]" || fail "SONAME is not libtalus.so.$abi: $(readelf -d "$library")"
fi

[ $failures -eq 0 ] && echo "library_symbols: $(wc -l <exported) functions"
[ $failures -eq 0 ]
