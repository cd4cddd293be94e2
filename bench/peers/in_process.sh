# shellcheck shell=sh
# What the scripts share that run a peer and Talus in one process; to be sourced, with $0 beside it.
#
#   in_process NAME 'no PEER' PACKAGE    builds build/peers/NAME with Talus of build/release (another:
#                                        TALUS_BUILD=DIR); ends with 77 where the peer is not installed
root=$(cd "$(dirname "$0")/../.." && pwd -P)
bin=$root/build/peers

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

in_process() {
    talus=${TALUS_BUILD:-$root/build/release}
    log=$root/build/bench/peers.log
    [ -f "$talus/libtalus.a" ] || {
        say "no $talus/libtalus.a: build Talus first (./dev build)"
        exit 1
    }
    mkdir -p "$root/build/bench"
    cmake --install "$talus" --prefix "$root/build/bench/prefix" >/dev/null
    cmake -S "$root/bench/peers" -B "$bin" -DCMAKE_PREFIX_PATH="$root/build/bench/prefix" >"$log"
    if grep -q "$2" "$log"; then
        say "${2#no } was not found: apt-get install $3"
        exit 77
    fi
    cmake --build "$bin" --target "$1" >>"$log"
}
