#!/bin/sh
# One committed hash per shipped scene: every build, platform, optimisation level and thread count
# must arrive at the same state, bit for bit: each scene at 1, 3 and 8 threads, under sanitizers at 3 alone.
# A change that alters results on purpose runs
#     TALUS_REGENERATE=1 ctest -R scene_hashes
# and commits the new list.
set -eu

list=$TALUS_SOURCE_DIR/tests/scene_hashes.txt
counts='1 3 8'
[ -z "${TALUS_SANITIZE:-}" ] || counts=3
failed=0

hash_of() { # hash_of THREADS SCENE OPTIONS...
    threads=$1
    shift
    "$TALUS" run "$@" --threads "$threads" --no-out --quiet --json |
        sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p'
}

while read -r expected scene options; do
    # these take long under ThreadSanitizer, and their loops are those of the others
    case $expected$TALUS_SANITIZE$scene in
    '#'* | *threadimpact | *threadarch | *threadbrick-wall | *threadheavy-stack | *threadtablet-drum | \
        *threadball-mill | *threadcolumn-collapse | *threadsettle-cylinder | *threadheavy-on-light | \
        *threadmillion | *threadpebble-drop | *threadbox-stack | *threadcard-house)
        echo "$expected $scene $options" && continue ;;
    esac
    for threads in $counts; do
        # shellcheck disable=SC2086 # options are words
        found=$(hash_of "$threads" "$scene" $options)
        [ "$found" = "$expected" ] || break
    done
    echo "$found $scene $options"
    [ "$found" = "$expected" ] || failed=$((failed + 1))
done <"$list" >scene_hashes.txt

if [ "${TALUS_REGENERATE:-}" = 1 ]; then
    cp scene_hashes.txt "$list"
    echo "wrote $list"
elif [ "$failed" -gt 0 ]; then
    echo "$failed scenes arrive at another state than the one committed (-):"
    diff "$list" scene_hashes.txt
    exit 1
fi
