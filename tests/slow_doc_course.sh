#!/bin/sh
# The chapters of docs/tutorial after the first hour: their files and commands work as they stand, and what the pages say that
# the commands print comes out. Each line that a page shows behind a command must be the beginning of a line of output. Left
# out are the server, the search for settings, mpirun, builds for a GPU and the virtual environment of Python.
set -eu
rm -rf work && mkdir work && cd work
ln -s "$TALUS_SOURCE_DIR/include" include
mkdir -p build && ln -s "$TALUS_BUILD_DIR" build/release
failed=0

# files PAGE: writes what stands between ```KIND FILE and ``` to FILE.
files() {
    awk '/^```[a-z]+ / { name = $2; next } /^```/ { name = "" } name { print > name }' "$1"
}

# course PAGE: its indented lines; commands are run, the others are kept as what should come out.
course() {
    page=$TALUS_SOURCE_DIR/docs/tutorial/$1.md
    files "$page"
    awk '/^```/ { inside = !inside } !inside && /^    / { print substr($0, 5) }' "$page" >lines
    : >output
    : >expected
    commands=0
    while read -r line; do
        case $line in
        *' view '* | *' advise '* | mpirun* | cmake* | build/cuda* | sh\ python* | python3* | env/*) ;;
        build/release/talus* | awk* | cut* | tail* | cc* | ./block*)
            commands=$((commands + 1))
            line=$(printf '%s\n' "$line" | sed "s|-lm -lpthread -ldl|$TALUS_LINK -lm -lpthread|")
            eval "$line" >>output 2>&1 </dev/null || {
                echo "FAILED: $1.md: $line"
                tail -5 output
                failed=1
            } ;;
        ?*) printf '%s\n' "$line" >>expected ;;
        esac
    done <lines
    sed 's/^ *//' output >printed
    while read -r line; do
        LINE=$line awk 'index($0, ENVIRON["LINE"]) == 1 { found = 1 } END { exit !found }' printed || {
            echo "FAILED: $1.md: no command prints: $line"
            failed=1
        }
    done <expected
    [ $commands -ge 2 ] || {
        echo "FAILED: $1.md has $commands commands"
        failed=1
    }
    echo "$1.md: $commands commands, $(wc -l <expected) lines of output"
}

for page in scene materials measuring residual larger programs; do
    course "$page"
done
[ $failed -ne 0 ] || echo "slow_doc_course: passed"
exit $failed
