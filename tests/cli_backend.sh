#!/bin/sh
# --backend: what is said where it is missing; where it is there, a run on it, stopped and resumed, and
# solvers on it.
set -u
failures=0
rm -rf cli_backend.work
mkdir cli_backend.work
cd cli_backend.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect CODE TEXT ARGS...: the exit code, and TEXT at the beginning of standard error
expect() {
    code=$1 text=$2
    shift 2
    "$TALUS" "$@" >out 2>err
    found=$?
    [ "$found" = "$code" ] || fail "talus $*: exit code $found, not $code"
    case $(cat err) in "$text"*) ;; *) fail "talus $*: said '$(cat err)', not '$text'" ;; esac
}

hash_of() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1"; }

small="settle-box --set bodies=40 --quiet --json"

"$TALUS" list backends >list || fail "list backends"
for name in cpu cuda cuda-mixed; do
    grep -q "^  $name " list || fail "list backends: no $name"
done
"$TALUS" list features | grep -q '^  cuda ' || fail "list features: no cuda"

# cpu is the same as naming nothing
# shellcheck disable=SC2086 # words
{
    "$TALUS" run $small --no-out --until 0.05 >a.json || fail "run"
    "$TALUS" run $small --no-out --until 0.05 --backend cpu >b.json || fail "run --backend cpu"
    [ "$(hash_of a.json)" = "$(hash_of b.json)" ] || fail "--backend cpu: another hash"
}
grep -q '"backend": "cpu"' b.json || fail "--backend cpu: not in the report"
"$TALUS" extract settle-box --set bodies=40 --at 0.2 -o bed.talus >out 2>err ||
    fail "extract: $(cat err)"
"$TALUS" solve bed.talus --solver apgd --json --quiet >cpu.json || fail "solve"
grep -q '"backend"' cpu.json && fail "solve: names the default backend"

for command in "run $small" "solve bed.talus --solver apgd"; do
    # shellcheck disable=SC2086 # words
    expect 2 "talus: ${command%% *}: --backend cudo: no such backend; did you mean 'cuda'?" \
        $command --backend cudo
done

if ! "$TALUS" run settle-box --set bodies=4 --until 0.01 --no-out --quiet --backend cuda >/dev/null 2>err; then
    # without a GPU, or a build that has none: one sentence, the same everywhere
    for name in cuda cuda-mixed; do
        # shellcheck disable=SC2086 # words
        expect 1 "talus: --backend cuda" run $small --backend $name
        [ "$(wc -l <err)" = 1 ] || fail "--backend $name: more than one line: $(cat err)"
        [ -s out ] && fail "--backend $name: something on standard output"
        expect 1 "talus: --backend" solve bed.talus --solver apgd --backend $name
    done
    grep -q 'not available here: \|not in this build: ' list || fail "list backends does not say that cuda is missing"
    printf '{"step": 0.01, "until": 0.1, "bodies": [],\n"backend": "cuda"}\n' >scene.json
    expect 1 "talus: scene.json:2:12: backend: cuda: " run scene.json
    [ "$failures" = 0 ] && echo "only the refusal was tested: $(cat err)"
    [ "$failures" = 0 ]
    exit
fi

for name in cuda cuda-mixed; do
    # shellcheck disable=SC2086 # words
    {
        "$TALUS" run $small --until 0.2 --backend $name --out whole-$name >whole.json || fail "run"
        "$TALUS" run $small --until 0.1 --backend $name --out part-$name >part.json || fail "run"
    }
    "$TALUS" run --resume part-$name --until 0.2 --quiet --json >rest.json || fail "resume"
    [ -n "$(hash_of whole.json)" ] || fail "$name: no hash"
    [ "$(hash_of whole.json)" = "$(hash_of rest.json)" ] || fail "$name: resumed to another hash"
    grep -q "\"backend\": \"$name\"" rest.json || fail "$name: not in the report of a resumed run"
    cut -d, -f1-31 whole-$name/steps.csv >whole.csv
    cut -d, -f1-31 part-$name/steps.csv | cmp -s - whole.csv || fail "$name: other steps.csv"
    [ "$(hash_of whole.json)" != "$(hash_of a.json)" ] || fail "$name: the hash of a shorter run"

    "$TALUS" solve bed.talus --solver apgd,gs,jacobi --tol 1e-6 --backend $name --json --quiet \
        >$name.json || fail "solve --backend $name"
    grep -q "\"backend\": \"$name\"" $name.json || fail "solve: $name is not in the results"
    [ "$(grep -c '"outcome": "converged"' $name.json)" -ge 2 ] || fail "solve: $name: $(cat $name.json)"
done

# a run goes on elsewhere, and back: its state is as good, though not the same bits
# shellcheck disable=SC2086 # words
"$TALUS" run $small --until 0.1 --out moved >part.json || fail "run"
for name in cuda cpu; do
    case $name in cuda) end=0.2 from=cpu ;; *) end=0.3 from=cuda ;; esac
    "$TALUS" run --resume moved --until $end --backend $name --json >rest.json 2>err || fail "resume on $name: $(cat err)"
    grep -q "talus: moved: goes on on backend $name; it was saved on $from, so " err || fail "no word on $name: $(cat err)"
    grep -q "\"backend\": \"$name\"" rest.json || fail "$name: not in the report of a run that was moved"
done
"$TALUS" run --resume moved --until 0.4 --backend cpu --json >rest.json 2>err || fail "resume where it was"
grep -q "goes on on" err && fail "a word on a backend that stays: $(cat err)"

# results of another backend are not taken for this one's
"$TALUS" solve bed.talus --solver apgd --report page --quiet || fail "solve --report"
"$TALUS" solve bed.talus --solver apgd --report page --backend cuda 2>err >out || fail "solve --report"
grep -q 'kept from an earlier call' err && fail "a result of cpu was taken for one of cuda"
grep -q 'backend cuda' out || fail "the table does not name the backend"

[ "$failures" = 0 ]
