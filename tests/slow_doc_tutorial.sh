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

sed -n 's/^    \(build\/release\/talus .*\|cc .*\|tail .*\|\.\/drop\)$/\1/p' "$page" |
    grep -v ' view ' | sed "s|-lm -lpthread -ldl|$TALUS_LINK -lm -lpthread|" >commands
test "$(wc -l <commands)" -ge 15
while read -r line; do
    echo "$line"
    eval "$line" >>output 2>&1 </dev/null || { tail -5 output && exit 1; }
done <commands

expect() { grep -qF -- "$1" output || { echo "FAILED: the page's output lacks: $1" && exit 1; }; }
expect "box.talus: 2708 contacts of 3 rows each, 1005 bodies, at t = 1 s"
expect "ball 3 at (1.000, 0.000, 0.100)"
for line in "hash 5d7cd8cad600b597" '2,400,"cup",-3.95848116,0.577576605,-6742.55755'; do
    grep -qF -- "$line" "$page" || { echo "FAILED: the page lacks: $line" && exit 1; }
    expect "$line"
done

sed 's/"radius": {/"radios": {/' cup.json >bad.json
if "$TALUS" run bad.json --no-out 2>message; then exit 1; fi
sed 's/bad/cup/' message >said
line=$(cat said)
grep -qF -- "$line" "$page" || { echo "FAILED: the page lacks: $line" && exit 1; }
echo "ok       every command of the tutorial"
