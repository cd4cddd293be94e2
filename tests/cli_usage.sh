#!/bin/sh
# Help texts are complete; wrong usage is told the nearest right one and ends with code 2.
set -u
failures=0
rm -rf cli_usage.work
mkdir cli_usage.work
cd cli_usage.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

# expect CODE TEXT ARGS...: the exit code, and TEXT on standard error
expect() {
    code=$1 text=$2
    shift 2
    "$TALUS" "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "talus $*: exit code $got, expected $code"
    contains err "$text"
    [ -s out ] && fail "talus $*: wrote to standard output"
}

# ---- help ----
# complete COMMAND OPTION...: both ways to ask give one text, which has every option
complete() {
    command=$1
    shift
    "$TALUS" help "$command" >help 2>err || fail "talus help $command"
    "$TALUS" "$command" --help >help2 2>>err || fail "talus $command --help"
    cmp -s help help2 || fail "the two helps of $command differ"
    [ -s err ] && fail "talus help $command: $(cat err)"
    contains help "usage: talus $command"
    for option in --help "$@"; do contains help "$option"; done
    awk 'length > 100 { exit 1 }' help || fail "help $command: a line is longer than 100"
    "$TALUS" help >overview
    contains overview "  $command "
}

complete run --set --solver --backend --threads --until --out --no-out --accept-changed-files --every --checkpoint-every --resume \
    --final-positions --json --quiet
complete view --port --open
complete export --output --limit --every --from --until --to
complete list solvers sets scenes backends shapes features experiments
complete solve --solver --tol --max-iter --budget --warm --reference --trace --save --report --fresh \
    --threads --json --quiet
complete bench --out --quick --fresh --threads --json --quiet
complete info
complete advise --seconds --from --at --span --set --backend --threads --json --quiet
complete extract --at -o --output --set --solver --threads
complete help
"$TALUS" --help >overview2
cmp -s overview overview2 || fail "talus help and talus --help differ"
"$TALUS" --version >version
grep -Eqx 'talus [0-9]+\.[0-9]+\.[0-9]+' version || fail "version: $(cat version)"

# ---- wrong usage ----
expect 2 "talus: expected a command"
expect 2 "talus: unknown command 'rum'; did you mean 'run'?" rum
expect 2 "talus: run: unknown option '--untill'; did you mean '--until'?" run x --untill 1
expect 2 "talus: run: unknown option '--theads=2'; did you mean '--threads'?" run x --theads=2
expect 2 "talus: run: unknown option '-q'" run x -q
expect 2 "talus: run: expected SCENE or --resume DIR" run
expect 2 "talus: run: unexpected argument 'y'" run x y
expect 2 "talus: run: --until: expected T after it" run x --until
expect 2 "talus: run: --until soon: expected a number that is not negative" run x --until soon
expect 2 "talus: run: --until -1: expected a number that is not negative" run x --until -1
expect 2 "talus: run: --until 0: expected a number above 0" run x --until 0
expect 2 "talus: run: --threads 1.5: expected a whole number, 0 or more" run x --threads 1.5
expect 2 "talus: run: --json: takes no value" run x --json=yes
expect 2 "talus: run: --out: given twice" run x --out a --out b
expect 2 "talus: run: --backend cpv: no such backend; did you mean 'cpu'?" run x --backend cpv
expect 2 "talus: run: --resume: the scene and its settings" run --resume a --set b=1
expect 2 "talus: list: cannot list 'solver'; did you mean 'solvers'?" list solver
expect 2 "talus: list: expected solvers|sets|scenes|backends|shapes|features|experiments" list
expect 2 "talus: help: no command 'lits'; did you mean 'list'?" help lits
expect 2 "talus: extract: expected --at T" extract hourglass -o f
expect 2 "talus: extract: expected -o FILE" extract hourglass --at 1
expect 1 "talus: no scene 'hourglas'; did you mean 'hourglass'?" run hourglas
expect 1 "talus: no scene 'no/such.json'" info no/such.json
expect 1 "talus: missing.stl: there is no such surface file" info missing.stl
expect 1 "talus: no/such.OBJ: there is no such surface file" info no/such.OBJ
expect 2 "talus: solve: unknown option '--tolerance'; did you mean '--tol'?" solve x --tolerance 1
expect 2 "did you mean 'gs'" run box-stack --solver gss
expect 2 "talus: run: gs: no parameter 'omaga'; did you mean 'omega'?" run box-stack --solver gs:omaga=1
expect 2 "talus: run: threads: 5000 is not between" run box-stack --threads 5000
expect 2 "talus: run: --set boxs=3: no parameter or key 'boxs'" run box-stack --set boxs=3
expect 2 "talus: extract: --set boxs=3: no parameter" extract box-stack --at 0 -o f --set boxs=3
expect 2 "did you mean 'gs'" extract box-stack --at 0 -o f --solver gss
contains err "talus: \`talus help extract\` tells more"
# no list is cut short: the last of many operands counts, and the last of many settings
many=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "mu=0.%d ", i + 1 }')
set --
for word in $many; do set -- "$@" --set "$word"; done
expect 2 "talus: extract: --set boxs=3: no parameter" extract box-stack --at 0 -o f "$@" --set boxs=3
expect 2 "talus: run: unexpected argument 'mu=0.1'" run x $many
"$TALUS" extract box-stack --at 0 -o f.talus >/dev/null || fail "extract"
expect 1 "talus: last.talus: cannot open" solve $(echo "$many" | sed 's/mu=[0-9.]*/f.talus/g') last.talus
expect 2 "talus: bench: no row 'last'" bench gpu hourglass million last
expect 2 "talus: bench: row 'million' is named twice" bench gpu hourglass million million
# what a scene says wrongly is no wrong usage, whatever else was chosen and whatever the file is called
echo '{"bodies": [{"radius": -1, "at": [0, 0, 1]}]}' >wrong.json
expect 1 "wrong.json:1:" run wrong.json
echo '{"bodies": [], "solver": {"name": "gss"}}' >gss.json
expect 1 "talus: gss.json:1:35: solver.name: solver: no solver 'gss'; did you mean 'gs'?" run gss.json
expect 1 "talus: gss.json:1:35: solver.name: solver: no solver 'gss'" run gss.json --threads 1
expect 1 "talus: gss.json:1:35: solver.name: solver: no solver 'gss'" extract gss.json --at 0 -o f --threads 1
expect 2 "talus: run: solver: no solver 'gsss'" run gss.json --solver gsss
expect 2 "talus: run: --set solver.name=gssss: solver.name: solver: no solver 'gssss'" run gss.json --set solver.name=gssss
echo '{"bodies": []}' >wall.json
echo '{"bodies": [], "backend": "abacus"}' >abacus.json
expect 1 "talus: abacus.json:1:27: backend: abacus: there is no such one" run abacus.json
expect 2 "talus: run: --set backend=abacus: backend: abacus: there is no such one" run wall.json --set backend=abacus
cp wrong.json "./--set x.json"
expect 1 "talus: --set x.json:1:" run -- "--set x.json"

# ---- a scene for a problem, a problem for a scene, a solver that does not take it ----
expect 1 "box-stack is a scene: \`talus extract box-stack --at T" solve box-stack --solver gs
expect 1 "wrong.json is a scene" solve wrong.json --solver gs
expect 1 "box-stack is a scene" verify box-stack x
expect 1 "f.talus is a contact problem: \`talus solve f.talus" run f.talus
expect 1 "f.talus is a contact problem" extract f.talus --at 0 -o g.talus
expect 1 "gpcg: takes problems without friction, this one has it; these can: apgd, lbfgs-fb, " \
    run box-stack --solver gpcg --out never
[ -e never ] && fail "a run that cannot start wrote something"
expect 1 "talus: nowhere: there is no such directory" run --resume nowhere
# more steps than a 64-bit number counts: the run begins all the same, and ends where this one must
expect 1 "talus: at t = 0 s: step 1: budget after 1 iterations" run box-stack --no-out --quiet --until 1e300 \
    --set solver.on_miss=stop --set solver.max_iterations=1 --set solver.tolerance=1e-12

# ---- without --out a run goes to out/NAME and says so first; --no-out keeps nothing; no run is replaced in silence ----
mkdir -p default && cd default || exit 1
rm -rf out
"$TALUS" run box-stack --until 0.02 >../out 2>../err || fail "run: $(cat ../err)"
[ -f out/box-stack/steps.csv ] || fail "out/box-stack is not there: $(ls)"
cd ..
[ "$(sed 1q err)" = "talus: writes to out/box-stack; --out DIR chooses another place, --no-out none" ] || fail "first: $(cat err)"
contains out "results in out/box-stack"
steps=$(($(wc -l <default/out/box-stack/steps.csv) - 1))
cp "$TALUS_SOURCE_DIR/scenes/box-stack.json" default/.json
cp default/.json default/mine.json
(cd default && "$TALUS" run "$TALUS_SOURCE_DIR/scenes/box-stack.json" --until 0.01 --quiet) >out 2>err || fail "run: $(cat err)"
[ "$(cat err)" = "talus: out/box-stack: replaces a run of $steps steps" ] || fail "--quiet: $(cat err)"
(cd default && "$TALUS" run mine.json --until 0.01 --quiet && "$TALUS" run .json --until 0.01 --quiet) >out 2>err || fail "run: $(cat err)"
[ "$(ls default/out | tr '\n' ' ')" = "box-stack mine scene.json " ] || fail "folders: $(ls default/out)"
[ -s err ] && fail "--quiet said: $(cat err)"
(cd default && "$TALUS" run box-stack --until 0.02 --no-out) >out 2>err || fail "run: $(cat err)"
contains out "--no-out: no frames, tables or checkpoints were written"
[ -s err ] && fail "--no-out: $(cat err)"
[ "$(wc -l <default/out/box-stack/steps.csv)" -lt $((steps + 1)) ] || fail "--no-out wrote"
expect 2 "--no-out: keeps nothing, and does not go with --out" run box-stack --no-out --out never
expect 2 "--no-out: keeps nothing, and does not go with --frames" run box-stack --no-out --frames csv
expect 2 "--accept-changed-files: goes with --resume DIR alone" run box-stack --no-out --accept-changed-files
expect 2 "--resume: the scene and its settings come from the checkpoint" run --resume kept --no-out
"$TALUS" run box-stack --until 0.02 --out kept >out 2>err || fail "run: $(cat err)"
steps=$(($(wc -l <kept/steps.csv) - 1))
[ -s err ] && fail "a first run replaced something: $(cat err)"
"$TALUS" run box-stack --until 0.01 --out kept >out 2>err || fail "run: $(cat err)"
contains err "talus: kept: replaces a run of $steps steps"

# ---- listings ----
for kind in solvers sets scenes backends shapes features experiments; do
    "$TALUS" list $kind >list 2>err || fail "talus list $kind"
    [ -s list ] || fail "talus list $kind is empty"
    [ -s err ] && fail "talus list $kind: $(cat err)"
done
"$TALUS" list scenes >list
for scene in "$TALUS_SOURCE_DIR"/scenes/*.json; do
    name=$(basename "$scene" .json)
    [ "$name" = schema ] || contains list "  $name "
done

[ $failures -eq 0 ] && echo "cli_usage: passed"
[ $failures -eq 0 ]
