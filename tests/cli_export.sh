#!/bin/sh
# talus export: the page holds the frames bit for bit, the steps and what is known of the run, stays
# within its limit by leaving frames out and says so; nothing in the data can end its element.
set -u
failures=0
rm -rf cli_export.work
mkdir cli_export.work
cd cli_export.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 2000 "$1")"; }
size() { wc -c <"$1" | tr -d ' '; }

# good ARGS...: an export that succeeds
good() { "$TALUS" export "$@" >out 2>err || fail "export $*: $(cat err)"; }
# refused CODE TEXT ARGS...
refused() {
    code=$1 text=$2
    shift 2
    "$TALUS" export "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "export $*: exit code $got, expected $code: $(cat err)"
    contains err "$text"
}
# element PAGE ID: the text of a script element
element() { tr '<' '\n' <"$1" | awk -v id="id=\"$2\"" 'on && /^\/script/ { exit } on { print } index($0, id) { on = 1; sub(/^[^>]*>/, ""); print }'; }
# frames_of PAGE FILE
frames_of() { element "$1" talus-frames | base64 -d >"$2" || fail "$1: its frames are no base64"; }
# frame_count FILE
frame_count() { "$TALUS" info "$1" | sed -n 's/^ *frames  *\([0-9]*\).*/\1/p'; }

"$TALUS" run box-stack --until 1 --every 0.01 --out run >log 2>&1 || fail "run: $(cat log)"

# ---- everything ----
good run -o page.html
grep -Eqx 'page\.html: [0-9.]+ MB, 101 of 101 frames' out || fail "said: $(cat out)"
[ -s err ] && fail "export: $(cat err)"
frames_of page.html frames
[ "$(size frames)" -gt 10000 ] || fail "only $(size frames) bytes of frames"
# all but the index, which only its writer's reader needs
head -c "$(size frames)" run/frames.talus | cmp - frames || fail "the page's frames are not those of the run"
[ "$(frame_count frames)" = 101 ] || fail "the page has $(frame_count frames) frames"
element page.html talus-run >run.txt
for text in '"version": 1' '"title": "Box stack"' '"scene": "box-stack"' '"state": "finished"' '"until": 1' \
    '"server": null' '"note": ""' '"rows": 100' '"stride": 1' '"kinetic": ['; do
    contains run.txt "$text"
done
for mark in @TALUS_RUN@ @TALUS_FRAMES@; do
    grep -q $mark page.html && fail "$mark was left in the page"
done
good run/frames.talus -o same.html
cmp page.html same.html || fail "DIR and DIR/frames.talus make different pages"

# ---- a file alone, one that has not ended, one without frames ----
cp run/frames.talus alone.talus
good alone.talus -o alone.html
element alone.html talus-run >run.txt
contains run.txt '"title": "Box stack"'
contains run.txt '"steps": null'
head -c $(($(size run/frames.talus) * 2 / 3)) run/frames.talus >torn.talus
good torn.talus -o torn.html
element torn.html talus-run >run.txt
contains run.txt '"state": "died"'
frames_of torn.html frames
[ "$(frame_count frames)" = "$(frame_count torn.talus)" ] || fail "torn: $(frame_count frames) frames"
mkdir empty
refused 1 "empty/frames.talus" empty -o x.html
refused 1 "nowhere: No such file or directory" nowhere -o x.html
refused 2 "expected -o FILE" run
refused 2 "expected a number above 0" run -o x.html --limit 0
refused 1 "no/such/dir/x.html" run -o no/such/dir/x.html
refused 2 "expected a name that ends in .html" run -o ./run/frames.talus
[ "$(frame_count run/frames.talus)" = 101 ] || fail "a page took the place of the frames"
[ -e x.html ] && fail "a page was left behind"

# ---- some frames ----
good run -o some.html --from 0.2 --until 0.6 --every 0.1
contains out "5 of 101 frames: from 0.2 s; until 0.6 s; frames 0.1 s apart"
element some.html talus-run >run.txt
contains run.txt '"note": "from 0.2 s; until 0.6 s; frames 0.1 s apart"'
frames_of some.html frames
[ "$(frame_count frames)" = 5 ] || fail "some: $(frame_count frames) frames"
refused 1 "they go from 0 to 1 s" run -o x.html --from 5

# ---- a limit that does not hold all: every n-th ----
whole=$(size page.html)
text=$((($(size run/frames.talus) + 2) / 3 * 4))
limit=$(awk "BEGIN { printf \"%.6f\", ($whole - $text * 0.6) / 1e6 }")
good run -o less.html --limit "$limit"
grep -Eq 'every [0-9]+(st|nd|rd|th) frame( and the last)?, to stay within [0-9.]+ MB' out ||
    fail "said: $(cat out)"
awk "BEGIN { exit !($(size less.html) <= $limit * 1e6) }" ||
    fail "$(size less.html) bytes are above $limit MB"
element less.html talus-run >run.txt
contains run.txt '"note": "every '
frames_of less.html frames
kept=$(frame_count frames)
contains out "$kept of 101 frames"
[ "$kept" -ge 10 ] && [ "$kept" -le 60 ] || fail "$kept frames were kept"
"$TALUS" info frames >info
contains info "0 s to 1 s"
ls | grep -q "frames-" && fail "a temporary file was left"

# ---- one that does not hold two: the message has one that would do ----
least=$(awk "BEGIN { printf \"%.6f\", ($whole - $text + 400) / 1e6 }")
refused 1 "the first and the last frame alone would make a page of" run -o x.html --limit "$least"
ls | grep -Eq "^x\.html|frames-" && fail "something was left behind"
would=$(sed -n 's/.*--limit \([0-9]*\) would do.*/\1/p' err)
good run -o would.html --limit "$would"

# ---- nothing in the data ends its element ----
hostile='</script><script>alert(1)</script><!--<script>'
printf '{"title": "%s", "until": 0.02, "bodies": [{"radius": 0.1, "at": [0, 0, 1]}]}\n' "$hostile" >hostile.json
"$TALUS" run hostile.json --out hostile >log 2>&1 || fail "run: $(cat log)"
good hostile -o hostile.html
elements() { grep -oE '</?script|<!--' "$1" | sort | uniq -c; }
elements page.html >plain
elements hostile.html >marked
cmp plain marked || fail "the title made elements: $(cat marked)"
element hostile.html talus-run >run.txt
contains run.txt '\u003c/script>\u003cscript>alert(1)'

[ $failures -eq 0 ] && echo "cli_export: passed"
[ $failures -eq 0 ]
