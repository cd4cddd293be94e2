#!/bin/sh
# The commands of docs/tutorial/first-hour.md run as they stand, with the files that the page prints, and the lines of
# output that do not depend on the machine come out. Left out are `./dev run` and the server, which tests of their own have.
set -eu
page=$TALUS_SOURCE_DIR/docs/tutorial/first-hour.md
rm -rf work && mkdir work && cd work
ln -s "$TALUS_SOURCE_DIR/include" include
mkdir -p build && ln -s "$TALUS_BUILD_DIR" build/release

# block KIND: what stands between ```KIND and ```
block() {
    awk -v open="^\`\`\`$1\$" '$0 ~ open { inside = 1; next } /^```$/ { inside = 0 } inside' "$page"
}
block json >cup.json
block c >drop.c
test -s cup.json && test -s drop.c

sed -n 's/^    \(build\/release\/talus .*\|cc .*\|tail .*\|awk .*\|\.\/drop\)$/\1/p' "$page" |
    grep -v ' view ' | sed "s|-lm -lpthread -ldl|$TALUS_LINK -lm -lpthread|" >commands
test "$(wc -l <commands)" -ge 15
while read -r line; do
    echo "$line"
    eval "$line" >>output 2>&1 </dev/null || { tail -5 output && exit 1; }
done <commands

# expect COUNT PATTERN: the page has so many lines that begin so, and its commands print these beginnings
expect() {
    sed -n "s/^    \($2\).*/\1/p" "$page" >lines
    test "$(wc -l <lines)" -eq "$1" || { echo "FAILED: the page has $(wc -l <lines) lines '$2', expected $1" && exit 1; }
    while read -r line; do
        grep -qF -- "$line" output || { echo "FAILED: no command of the page prints: $line" && exit 1; }
    done <lines
}
expect 1 'Settling box: .* compliance 0\.01, '
expect 1 'no step missed .*'
expect 1 'overlap over size .*'
expect 1 'hash .*'
expect 1 '2,400,"cup",[-0-9.]*,[-0-9.]*,[-0-9.]*'
expect 1 '-[0-9.]*$'
expect 1 'box.talus: .* contacts .* law coulomb'
expect 3 'ball [123] at .*'

sed 's/"radius": {/"radios": {/' cup.json >bad.json
if "$TALUS" run bad.json --no-out 2>message; then exit 1; fi
sed 's/bad/cup/' message >said
line=$(cat said)
grep -qF -- "$line" "$page" || { echo "FAILED: the page lacks: $line" && exit 1; }
echo "ok       every command of the tutorial"
