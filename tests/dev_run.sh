#!/bin/sh
# What ./dev run makes of its arguments: a copy of it, beside a program that says how it was called.
set -u
failures=0
rm -rf dev_run.work
mkdir -p dev_run.work/tree/scripts dev_run.work/tree/build/release dev_run.work/bin
cd dev_run.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cp "$TALUS_SOURCE_DIR/dev" tree/dev
: >tree/scripts/setup.sh
printf '#!/bin/sh\n' >bin/cmake
cat >tree/build/release/talus <<'END'
#!/bin/sh
[ "$1" = run ] || exit 0
shift
for arg; do printf '<%s>' "$arg"; done
echo
exit "${CODE:-0}"
END
chmod +x tree/dev bin/cmake tree/build/release/talus
tree=$(pwd -P)/tree

# calls "ARGS..." WHAT: in the tree, `./dev run ARGS` calls `talus run` with WHAT
calls() {
    (cd tree && PATH=$tree/../bin:$PATH && eval "./dev run $1") >said 2>err || [ -n "${CODE:-}" ] || fail "$1: $(cat err)"
    [ "$(cat said)" = "$2" ] || fail "$1: $(cat said), not $2"
}
calls '' '<--out><out/hourglass><scenes/hourglass.json>'
calls 'arch' '<--out><out/arch><arch>'
calls 'my/cup.json --until 1' '<--out><out/cup><my/cup.json><--until><1>'
calls '--until 1' '<--out><out/hourglass><scenes/hourglass.json><--until><1>'
calls '--until 1 arch --quiet' '<--out><out/arch><--until><1><arch><--quiet>'
calls '--quiet --set mu=0.5 arch' '<--out><out/arch><--quiet><--set><mu=0.5><arch>'
calls '--set "title=a b" arch' '<--out><out/arch><--set><title=a b><arch>'
calls '--out here arch' '<--out><here><arch>'
calls 'arch --out=here' '<arch><--out=here>'
calls '--no-out arch --json' '<--no-out><arch><--json>'
calls '--no-out' '<scenes/hourglass.json><--no-out>'
calls '--resume out/arch --until 3' '<--resume><out/arch><--until><3>'
calls '--resume=out/arch' '<--resume=out/arch>'

# a run that was stopped says how to go on, unless it kept nothing
CODE=143 && export CODE
calls 'arch' '<--out><out/arch><arch>'
grep -q "stopped; ./dev run --resume out/arch goes on" err || fail "$(cat err)"
calls 'arch --no-out' '<arch><--no-out>'
grep -q "resume" err && fail "$(cat err)"

[ $failures -eq 0 ] && echo "dev_run: passed"
[ $failures -eq 0 ]
