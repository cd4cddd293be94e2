#!/bin/sh
# Pictures of a report page for the documentation: report-pictures.sh PAGE.html OUTDIR [PREFIX [SOLVERS]]
# Writes PREFIX-runs.png (the top of the page), PREFIX-convergence.png, PREFIX-impulses.png,
# PREFIX-dark.png, PREFIX-phone.png and, of a page of several problems, PREFIX-profiles.png with
# Chromium, and says which is too large for docs/img.
# PREFIX is "report" unless given. SOLVERS, names separated by ";", are the only ones shown. Those of docs/img are of
#     talus bench heyn-2: report-pictures.sh out/heyn-2/report.html docs/img report \
#         'jacobi;gpminres (paper);gpminres;spg (paper);spg;kucera (paper);kucera'
set -eu

if [ $# -lt 2 ] || [ ! -f "$1" ]; then
    echo "usage: report-pictures.sh PAGE.html OUTDIR [PREFIX [SOLVERS]]" >&2
    exit 2
fi
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "report-pictures: needs Chromium" >&2
    exit 1
}
page=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd -P)
prefix=${3:-report}
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT

# select PAGE SOLVERS: the page with the runs of these solvers alone. In the data of a page a run is the lines from its
# "problem" on, and ends with "}, {" or, the last, with "}],".
select() {
    awk -v wanted=";$2;" '
        function end_run() {
            if (run != "" && keep) { printf "%s%s", shown ? ", {\n" : "", run; shown = 1 }
            run = ""; keep = 0
        }
        /^"runs": \[\{$/ { print; inside = 1; next }
        !inside { print; next }
        /^"problem": / { end_run() }
        {
            line = $0; last = sub(/\}\],$/, "}", line)
            if (!last) sub(/\}, \{$/, "}", line)
            run = run (run == "" ? "" : "\n") line
            if (line ~ /^"solver": "/) {
                name = line; gsub(/^"solver": "|",$/, "", name)
                keep = index(wanted, ";" name ";") > 0
            }
            if (last) { end_run(); print "],"; inside = 0 }
        }' "$1"
}

if [ -n "${4:-}" ]; then
    select "$page" "$4" >"$profile/page.html"
    page=$profile/page.html
fi

# picture NAME WIDTH HEIGHT HASH
picture() {
    file=$out/$prefix-$1.png
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --hide-scrollbars --user-data-dir="$profile" --window-size="$2,$3" \
        --screenshot="$file" "file://$page#$4" >"$profile/log" 2>&1 || {
        cat "$profile/log" >&2
        exit 1
    }
    size=$(wc -c <"$file")
    echo "$file: $((size / 1000)) kB"
    if [ "$size" -gt 200000 ]; then
        echo "report-pictures: larger than the 200 kB that docs/img takes" >&2
    fi
}

picture runs 1240 720 theme=light
picture convergence 1100 560 'theme=light&only=convergence'
picture impulses 1100 460 'theme=light&only=impulses'
picture dark 1100 560 'theme=dark&only=convergence'
picture phone 500 1100 theme=light
# A page of several problems also has performance profiles.
if grep -q '"problem": *1,' "$page"; then
    picture profiles 1100 560 'theme=light&only=profiles'
fi
