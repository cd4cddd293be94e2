#!/bin/sh
# Tables in docs/papers come from bench/results/papers/NAME.md, one file for each experiment of `talus reproduce`:
#     papers.sh keep DIR [NAME...]    takes the tables of experiments from DIR, which `talus reproduce --out DIR` has written, all or
#                                     those named, as results of the present commit; then writes the pages
#     papers.sh                       writes the pages
#     papers.sh --check               fails if a page has other tables
# In a page, <!-- table: NAME: TITLE --> is followed by the table whose title begins with TITLE, <!-- about: NAME --> by where the results
# come from, and whether code that they depend on has changed since; <!-- end --> ends both.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
kept=$root/bench/results/papers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# depends NAME: what the results of an experiment depend on most: its own files, its solvers, its scenes, products and sweeps
depends() {
    case $1 in
    heyn-*) echo apps/lab/experiments/heyn.c apps/lab/experiments/heyn_faces.c src/solvers/first_order src/solvers/face src/linalg/ldl.c scenes/settle-box.json scenes/settle-cylinder.json scenes/heavy-on-light.json ;;
    negrut) echo apps/lab/experiments/worlds_negrut.c src/solvers/sweep src/solvers/first_order scenes/hourglass.json ;;
    petra-*) echo apps/lab/experiments/petra.c apps/lab/experiments/petra.h apps/lab/experiments/worlds_petra.c apps/lab/experiments/petra_runs.c apps/lab/experiments/petra_tables.c apps/lab/experiments/petra_claims.c src/solvers/ipm src/solvers/tao src/solvers/first_order src/linalg scenes/pebble-bed.json scenes/pebble-drop.json ;;
    mprgp) echo apps/lab/experiments/worlds_pospisil.c src/solvers/face src/backend/cuda scenes/impact.json ;;
    preclik) echo apps/lab/experiments/preclik.c apps/lab/experiments/preclik_claims.c src/solvers/sweep src/solvers/newton src/solvers/pivot src/linalg scenes/settle-box.json ;;
    esac
    echo src/backend/cpu src/problem src/world src/collide
}

# about NAME: one paragraph on the results of an experiment
about() {
    commit=$(sed -n 's/^commit //p' "$kept/$1.md")
    printf '[Results](../../bench/results/papers/%s.md) of commit %s: %s.' "$1" "$commit" "$(sed -n 3p "$kept/$1.md")"
    # shellcheck disable=SC2046 # a list of paths
    if git -C "$root" cat-file -e "$commit" 2>/dev/null &&
        [ -n "$(git -C "$root" log --format=%h "$commit..HEAD" -- $(depends "$1"))" ]; then
        printf ' **Older than code that they depend on.**'
    fi
    printf '\n'
}

# fill PAGE: the page with its tables
fill() {
    for name in $(sed -n -e 's/^<!-- table: \([a-z0-9-]*\).*/\1/p' -e 's/^<!-- about: \([a-z0-9-]*\).*/\1/p' "$1" | sort -u); do
        [ -f "$kept/$name.md" ] || {
            echo "papers.sh: $1: no kept results of $name" >&2
            return 1
        }
        about "$name" >"$work/$name.about"
    done
    awk -v kept="$kept" -v work="$work" -v page="$1" '
        function copy(file,   line) { while ((getline line < file) > 0) print line; close(file) }
        function table(name, title,   line, found, text) {
            while ((getline line < (kept "/" name ".md")) > 0) {
                if (found && index(line, "**") == 1) break
                if (found) { text = text line "\n" }
                if (index(line, "**" title) == 1) found = 1
            }
            close(kept "/" name ".md")
            if (!found) { print "papers.sh: " page ": no table \"" title "\" of " name > "/dev/stderr"; exit 1 }
            sub(/^\n+/, "", text); sub(/\n+$/, "", text)
            print text
        }
        /^<!-- (table|about): / {
            print; print ""
            rest = $0; sub(/^<!-- [a-z]+: /, "", rest); sub(/ -->$/, "", rest)
            if ($2 == "about:") copy(work "/" rest ".about")
            else { name = rest; sub(/:.*/, "", name); sub(/^[^:]*: /, "", rest); table(name, rest) }
            print ""; skip = 1; next
        }
        /^<!-- end -->/ { skip = 0 }
        !skip { print }' "$1"
}

if [ "${1:-}" = keep ]; then
    from=$2
    shift 2
    [ $# -gt 0 ] || set -- $(cd "$from" && ls -d -- */ | tr -d /)
    mkdir -p "$kept"
    for name; do
        [ -f "$from/$name/tables.md" ] || continue
        { printf 'commit %s\n\n' "$(git -C "$root" rev-parse --short=8 HEAD)" && cat "$from/$name/tables.md"; } >"$kept/$name.md"
    done
fi
status=0
for page in "$root"/docs/papers/*.md; do
    fill "$page" >"$work/page.md"
    if [ "${1:-}" = --check ]; then
        # the age of results is not compared: it changes with every commit, and is not known without the history
        age='s/ \*\*Older than code that they depend on\.\*\*//'
        sed "$age" "$page" >"$work/have.md"
        sed "$age" "$work/page.md" | diff -u "$work/have.md" - || status=1
    else
        cmp -s "$work/page.md" "$page" || cp "$work/page.md" "$page"
    fi
done
exit $status
