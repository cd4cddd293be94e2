#!/bin/sh
# Tables in docs/papers come from bench/results/papers/NAME.md, one file for each experiment of `talus reproduce`:
#     papers.sh keep [--commit REV] DIR [NAME...]
#                                     takes the tables of experiments from DIR, which `talus reproduce --out DIR` has written, all or
#                                     those named, as results of the present commit, or of REV if an earlier build has made them;
#                                     then writes the pages. DIR/report.html becomes docs/papers/report.html if it shows all
#                                     experiments of which results are kept
#     papers.sh                       writes the pages
#     papers.sh --check               fails if a page has other tables, or does not say how old results are
# In a page, <!-- table: NAME: TITLE --> is followed by the table whose title begins with TITLE, <!-- about: NAME --> by where the results
# come from, and whether code that they depend on has changed since; <!-- end --> ends both.
#
# Results are older than code if files that they depend on differ between their commit and the working tree, committed or not. So the
# pages do not depend on the commit that they become part of: who changes such code runs papers.sh and commits the pages with it, and
# --check agrees before that commit, in it and in later ones, until the code has changed back or the results are taken anew. Where the
# commit of results is not known, in a source archive or a clone without its history, a page keeps the mark that it has, and a line says so.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
kept=$root/bench/results/papers
mark='**Older than code that they depend on.**'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# depends NAME: what the results of an experiment depend on most: its own files, what runs its problems or worlds, its solvers with
# what drives them, its scenes, products and sweeps. Results of worlds are kept from a GPU.
depends() {
    lab=apps/lab/experiments
    case $1 in
    heyn-*) echo $lab/experiment_run.c $lab/heyn.c $lab/heyn_claims.c $lab/heyn_figures.c $lab/heyn_faces.c src/solvers/first_order src/solvers/face src/linalg/ldl.c src/linalg/ldl_form.c src/linalg/sparse.c scenes/settle-box.json scenes/settle-cylinder.json scenes/heavy-on-light.json ;;
    negrut) echo $lab/worlds_measure.c $lab/worlds_negrut.c $lab/negrut.h $lab/negrut_claims.c src/solvers/sweep src/solvers/first_order src/backend/cuda src/engine/cuda scenes/hourglass.json ;;
    petra-opt) echo $lab/experiment_run.c $lab/petra.c src/solvers/ipm src/solvers/tao src/solvers/first_order src/linalg scenes/pebble-drop.json ;;
    petra-sim) echo $lab/worlds_measure.c $lab/worlds_petra.c $lab/petra.h $lab/petra_runs.c $lab/petra_tables.c $lab/petra_claims.c src/solvers/ipm src/solvers/tao src/solvers/first_order src/linalg scenes/pebble-bed.json scenes/pebble-drop.json ;;
    mprgp) echo $lab/worlds_measure.c $lab/worlds_pospisil.c $lab/pospisil_lemmas.c $lab/correlation.c src/solvers/face src/solvers/first_order src/backend/cuda src/engine/cuda scenes/impact.json ;;
    preclik) echo $lab/experiment_run.c $lab/preclik.h $lab/preclik.c $lab/preclik_claims.c $lab/preclik_newton.c $lab/preclik_figures.c src/solvers/sweep src/solvers/newton src/solvers/pivot src/solvers/multigrid src/solvers/face src/solvers/first_order src/linalg scenes/settle-box.json ;;
    esac
    echo src/solvers/driver src/sets src/backend/cpu src/engine/cpu src/problem src/world src/collide
}

# is_older NAME COMMIT: status 0 if files that the results depend on, of that commit, differ from those of the working tree, 1 if not,
# 2 if the commit is not known here
is_older() {
    git -C "$root" cat-file -e "$2^{commit}" 2>/dev/null || return 2
    # shellcheck disable=SC2046 # a list of paths
    git -C "$root" diff --quiet "$2" -- $(depends "$1") || return 0
    # shellcheck disable=SC2046
    [ -n "$(git -C "$root" ls-files --others --exclude-standard -- $(depends "$1"))" ]
}

# about NAME PAGE: one paragraph on the results of an experiment
about() {
    commit=$(sed -n 's/^commit //p' "$kept/$1.md")
    paragraph="[Results](../../bench/results/papers/$1.md) of commit $commit: $(sed -n 3p "$kept/$1.md")."
    age=0
    is_older "$1" "$commit" || age=$?
    if [ $age -eq 2 ]; then
        echo "papers.sh: commit $commit is not known here: whether results of $1 are older than code is not checked" >&2
        ! grep -qxF "$paragraph $mark" "$2" || age=0
    fi
    [ $age -ne 0 ] || paragraph="$paragraph $mark"
    printf '%s\n' "$paragraph"
}

# fill PAGE: the page with its tables
fill() {
    for name in $(sed -n -e 's/^<!-- table: \([a-z0-9-]*\).*/\1/p' -e 's/^<!-- about: \([a-z0-9-]*\).*/\1/p' "$1" | sort -u); do
        [ -f "$kept/$name.md" ] || {
            echo "papers.sh: $1: no kept results of $name" >&2
            return 1
        }
        about "$name" "$1" >"$work/$name.about"
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

# refuse TEXT: ends with this message
refuse() {
    echo "papers.sh: keep: $1" >&2
    exit 2
}

if [ "${1:-}" = keep ]; then
    shift
    commit=
    [ "${1:-}" != --commit ] || {
        [ $# -ge 2 ] || refuse "--commit needs a commit"
        commit=$(git -C "$root" rev-parse --verify --quiet --short=8 "$2^{commit}") || refuse "no commit $2"
        shift 2
    }
    [ -d "${1:-}" ] || refuse "no folder ${1:-of results given}"
    from=$1
    shift
    if [ -z "$commit" ]; then
        changes=$(git -C "$root" status --porcelain -- src include apps scenes) || refuse "no git checkout; --commit names the commit of the results"
        [ -z "$changes" ] || refuse "src, include, apps or scenes have changes that are not committed, so results are of no commit; --commit REV takes them as those of REV"
        commit=$(git -C "$root" rev-parse --short=8 HEAD)
    fi
    [ $# -gt 0 ] || set -- $(cd "$from" && ls -d -- */ | tr -d /)
    mkdir -p "$kept"
    for name; do
        [ -f "$from/$name/tables.md" ] || continue
        { printf 'commit %s\n\n' "$commit" && cat "$from/$name/tables.md"; } >"$kept/$name.md"
    done
    whole=$from/report.html
    for file in "$kept"/*.md; do
        ! [ -f "$whole" ] || grep -qF "\"$(basename "$file" .md): " "$whole" || whole=
    done
    if [ -f "$whole" ]; then
        cp "$whole" "$root/docs/papers/report.html"
    else
        echo "papers.sh: $from/report.html does not show all experiments of which results are kept: docs/papers/report.html is left as it is" >&2
    fi
fi
status=0
for page in "$root"/docs/papers/*.md; do
    fill "$page" >"$work/page.md"
    if [ "${1:-}" = --check ]; then
        diff -u "$page" "$work/page.md" || status=1
    else
        cmp -s "$work/page.md" "$page" || cp "$work/page.md" "$page"
    fi
done
exit $status
