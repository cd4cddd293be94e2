#!/bin/sh
# Each public header compiles alone, as C17 and as C++17, without a warning, and has TALUS_API before each function that
# is not inline: check-headers.sh [ROOT]
# Uses every compiler of gcc, clang, g++, clang++ that is here; at least one of each language must be.
set -eu
cd "${1:-$(dirname "$0")/..}"

status=0
checked=0

# compile LANGUAGE STANDARD COMPILER HEADER: twice over, which also tests the include guard.
compile() {
    if ! printf '#include <talus/%s>\n#include <talus/%s>\n' "$4" "$4" |
        "$3" -x "$1" -std="$2" -Wall -Wextra -Werror -pedantic -fsyntax-only -Iinclude -; then
        echo "check-headers: include/talus/$4 does not compile alone as $2 with $3" >&2
        status=1
    fi
    checked=$((checked + 1))
}

present() {
    for tool; do
        if command -v "$tool" >/dev/null 2>&1; then printf '%s ' "$tool"; fi
    done
}

c=$(present gcc clang)
cxx=$(present g++ clang++)
if [ -z "$c" ] || [ -z "$cxx" ]; then
    echo "check-headers: needs a C and a C++ compiler (scripts/setup.sh test)" >&2
    exit 2
fi

# Prints HEADER:LINE: of functions that begin a line without TALUS_API.
unmarked() {
    awk '
    /^[A-Za-z][A-Za-z0-9_ ]*[ *]talus_[a-z0-9_]+\(/ && !/^(TALUS_API|TALUS_INLINE|typedef) / { print FILENAME ":" FNR ": " $0 }
    ' "$1"
}

for header in include/talus/*.h; do
    [ -f "$header" ] || continue
    if [ -n "$(unmarked "$header")" ]; then
        unmarked "$header" >&2
        echo "check-headers: TALUS_API before the function would export it from libtalus.so" >&2
        status=1
    fi
    name=${header##*/}
    for tool in $c; do compile c c17 "$tool" "$name"; done
    for tool in $cxx; do compile c++ c++17 "$tool" "$name"; done
done
if [ $checked -eq 0 ]; then
    echo "check-headers: no header in include/talus/" >&2
    exit 2
fi
[ $status -ne 0 ] || echo "check-headers: $checked compilations clean (${c}${cxx% })"
exit $status
