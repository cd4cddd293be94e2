#!/bin/sh
# Bullet and Talus on one heap of boxes, in one process; options are those of heap.cpp, which says more.
#
# Talus is taken from build/release (another: TALUS_BUILD=DIR).
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd -P)
talus=${TALUS_BUILD:-$root/build/release}
prefix=$root/build/bench/prefix
bin=$root/build/peers

say() { printf 'heap: %s\n' "$*" >&2; }

[ -f "$talus/libtalus.a" ] || {
    say "no $talus/libtalus.a: build Talus first (./dev build)"
    exit 1
}
mkdir -p "$root/build/bench"
cmake --install "$talus" --prefix "$prefix" >/dev/null
cmake -S "$root/bench/peers" -B "$bin" -DCMAKE_PREFIX_PATH="$prefix" >"$root/build/bench/peers.log"
if grep -q 'no Bullet' "$root/build/bench/peers.log"; then
    say "Bullet was not found: apt-get install libbullet-dev"
    exit 77
fi
cmake --build "$bin" --target heap >>"$root/build/bench/peers.log"
exec "$bin/heap" "$@"
