#!/bin/sh
# The commands of docs/tutorial/first-hour.md run as they stand, with the files that the page prints, and the lines of
# output that do not depend on the machine come out; so do those of README.md's first run. Left out are `./dev run` and
# the server, which tests of their own have. TALUS_REGENERATE=1 in the environment writes what comes out into the pages.
set -eu
page=$TALUS_SOURCE_DIR/docs/tutorial/first-hour.md
readme=$TALUS_SOURCE_DIR/README.md
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
"$TALUS" run hourglass --no-out >first_run 2>&1

# write_line PAGE OUTPUT PATTERN: puts the first line of OUTPUT that begins so into PAGE
write_line() {
    line=$(grep -m 1 -- "^$3" "$2" || true)
    LINE="    $line" awk -v pattern="^    $3" '$0 ~ pattern { print ENVIRON["LINE"]; next } { print }' "$1" >rewritten
    cat rewritten >"$1"
}

# check PAGE OUTPUT PATTERN: one line of PAGE begins so, and OUTPUT has this beginning
check() {
    [ -z "${TALUS_REGENERATE:-}" ] || write_line "$1" "$2" "$3"
    line=$(sed -n "s/^    \($3\).*/\1/p" "$1")
    [ "$(printf '%s\n' "$line" | grep -c .)" -eq 1 ] || { echo "FAILED: $1: expected one line '$3': $line" && exit 1; }
    grep -qF -- "$line" "$2" || { echo "FAILED: no command of $1 prints: $line" && exit 1; }
}

# figures that follow: of a row of the table, up to the column before steps/s
row='  *[0-9]*  *[0-9]*  *[0-9.]*  *[-+0-9.e]*  *[-+0-9.e]*  *[-+0-9.e]*'
check "$page" output 'Settling box: .* compliance 0\.01, '
for time in 0.1000 0.2000 3.0000; do
    check "$page" output "    $time$row"
done
check "$page" output '600 steps to t = 3 s'
check "$page" output 'no step missed .*'
check "$page" output 'overlap over size .*'
check "$page" output 'hash .*'
check "$page" output '2,400,"cup",[-0-9.]*,[-0-9.]*,[-0-9.]*'
check "$page" output '-[0-9.]*$'
check "$page" output 'box.talus: .* contacts .* law coulomb'
for solver in apgd gs-coulomb jacobi; do
    check "$page" output "  $solver  *[a-z]*  *[0-9]*  *[0-9]*"
done
for ball in 1 2 3; do
    check "$page" output "ball $ball at .*"
done
check "$readme" first_run 'Hourglass: .* compliance 0\.01, '
check "$readme" first_run '800 steps to t = 8 s'
check "$readme" first_run 'no step missed .*'
check "$readme" first_run 'overlap over size .*'
check "$readme" first_run 'hash .*'

sed 's/"radius": {/"radios": {/' cup.json >bad.json
if "$TALUS" run bad.json --no-out 2>message; then exit 1; fi
sed 's/bad/cup/' message >said
line=$(cat said)
grep -qF -- "$line" "$page" || { echo "FAILED: the page lacks: $line" && exit 1; }
echo "ok       every command of the tutorial, and the first run of README.md"
