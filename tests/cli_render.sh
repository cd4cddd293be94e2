# talus render: pictures of a run's directory, of a frames file and of a scene; what is refused, and how.
set -eu
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# u32 FILE OFFSET: four bytes, the highest first.
u32() {
    set -- $(od -An -tu1 -j "$2" -N 4 "$1")
    echo $((($1 * 256 + $2) * 65536 + $3 * 256 + $4))
}

# is_png FILE WIDTH HEIGHT
is_png() {
    [ -f "$1" ] || { fail "$1 was not written"; return; }
    [ "$(od -An -tx1 -N 8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$1 is no PNG file"
    [ "$(u32 "$1" 16)x$(u32 "$1" 20)" = "$2x$3" ] || fail "$1 is not $2 x $3"
    if command -v python3 >/dev/null; then
        python3 - "$1" <<'PY' || fail "$1 does not decode"
import struct, sys, zlib
d = open(sys.argv[1], "rb").read()
at, data = 8, b""
while at < len(d):
    n, = struct.unpack(">I", d[at:at + 4])
    kind, body = d[at + 4:at + 8], d[at + 8:at + 8 + n]
    assert struct.unpack(">I", d[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
    if kind == b"IHDR":
        w, h, bits, colour = struct.unpack(">IIBB", body[:10])
    if kind == b"IDAT":
        data += body
    at += 12 + n
assert kind == b"IEND"
assert len(zlib.decompress(data)) == h * (1 + w * (4 if colour == 6 else 3))
PY
    fi
}

# is_film FILE DIR FRAMES: an animated PNG whose frames are the numbered pictures in DIR.
is_film() {
    [ -f "$1" ] || { fail "$1 was not written"; return; }
    command -v python3 >/dev/null || return 0
    python3 - "$@" <<'PY' || fail "$1 is not the film of $2"
import glob, struct, sys, zlib
film, folder, frames = sys.argv[1], sys.argv[2], int(sys.argv[3])
def chunks(path):
    d, at = open(path, "rb").read(), 8
    assert d[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(d):
        n, = struct.unpack(">I", d[at:at + 4])
        kind, body = d[at + 4:at + 8], d[at + 8:at + 8 + n]
        assert len(body) == n and struct.unpack(">I", d[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
        yield kind, body
        at += 12 + n
    assert at == len(d)
def rows(data, width, height, step):
    data, size, above, out = zlib.decompress(data), width * step, bytearray(width * step), []
    assert len(data) == height * (size + 1)
    for y in range(height):
        kind, row = data[y * (size + 1)], bytearray(data[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for k in range(size):
            a, b, c = row[k - step] if k >= step else 0, above[k], above[k - step] if k >= step else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[k] = (row[k] + [0, a, b, (a + b) // 2, near][kind]) & 255
        out.append(row)
        above = row
    return out
def still(path):
    data = b""
    for kind, body in chunks(path):
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            data += body
    return rows(data, width, height, 4 if colour == 6 else 3)
stills, sequence, shown, canvas, area = sorted(glob.glob(folder + "/*.png")), 0, 0, None, []
assert len(stills) == frames
for k, (kind, body) in enumerate(chunks(film)):
    assert (kind == b"IHDR") == (k == 0) and (kind == b"acTL") == (k == 1)
    if kind == b"IHDR":
        width, height, bits, colour = struct.unpack(">IIBB", body[:10])
        step = 4 if colour == 6 else 3
        canvas = [bytearray(width * step) for _ in range(height)]
    if kind == b"acTL":
        assert struct.unpack(">II", body) == (frames, 0)
    if kind in (b"fcTL", b"fdAT"):
        assert struct.unpack(">I", body[:4])[0] == sequence
        sequence += 1
    if kind == b"fcTL":
        w, h, x, y, num, den, dispose, blend = struct.unpack(">IIIIHHBB", body[4:])
        assert x + w <= width and y + h <= height and w > 0 and h > 0 and num / den == 0.1 and (dispose, blend) == (0, 0)
        assert shown > 0 or (x, y, w, h) == (0, 0, width, height)
        area.append(w * h)
    if kind in (b"IDAT", b"fdAT"):
        assert (kind == b"IDAT") == (shown == 0)
        for r, row in enumerate(rows(body[4 * (shown > 0):], w, h, step)):
            canvas[y + r][x * step:(x + w) * step] = row
        assert canvas == still(stills[shown]), "frame %d differs" % shown
        shown += 1
assert kind == b"IEND" and shown == frames
assert min(area) < width * height, "every frame is whole"
PY
}

# refuses CODE 'PART OF THE MESSAGE' ARGUMENTS...
refuses() {
    want=$1 part=$2
    shift 2
    code=0
    "$TALUS" render "$@" >out 2>err || code=$?
    [ "$code" = "$want" ] || fail "render $*: exit code $code, expected $want"
    grep -qF -- "$part" err || { fail "render $*: no word of '$part'"; cat err; }
    [ ! -e no.png ] || fail "render $*: wrote a picture"
}

"$TALUS" run box-stack --set bodies=3 --until 0.2 --out run >/dev/null 2>&1
small="--size 60x40"

# shellcheck disable=SC2086 # options
{
    "$TALUS" render run -o last.png $small >said
    is_png last.png 60 40
    grep -q 'last.png: 60 x 40 pixels, t = 0.2 s' said || fail "does not tell what it drew"
    "$TALUS" render run --time 0.08 -o early.png $small | grep -q 't = 0.05 s' ||
        fail "--time 0.08 is not the frame at 0.05 s"
    "$TALUS" render run/frames.talus --time 0 -o file.png $small >/dev/null
    is_png file.png 60 40
    "$TALUS" render box-stack --set bodies=3 -o scene.png $small >/dev/null
    is_png scene.png 60 40
    "$TALUS" render run -o one.png $small --threads 1 >/dev/null
    "$TALUS" render run -o three.png $small --threads 3 >/dev/null
    cmp one.png three.png || fail "the number of threads shows"
    "$TALUS" render run -o all.png --size 320x240 --colour force --range 0:1e3 --from -20,35 --zoom 1.5 \
        --container shown --clip x:0.1 --dark --transparent >/dev/null
    is_png all.png 320 240
    for colour in speed force touching id layer material tag; do
        "$TALUS" render run -o colour.png --size 20x20 --colour $colour >/dev/null ||
            fail "--colour $colour"
    done
    for view in home front side top; do
        "$TALUS" render run -o view.png --size 20x20 --view $view >/dev/null || fail "--view $view"
    done
    rm -rf numbered && "$TALUS" render run --film film.png $small --fps 10 --since 0.04 >said
    "$TALUS" render run --film numbered/ $small --since 0.04 --threads 3 >/dev/null
    is_film film.png numbered 4
    grep -q 'film.png: 4 frames of 60 x 40 pixels, t = 0.05 to 0.2 s, 10 a second' said ||
        fail "does not tell what it filmed: $(cat said)"
    rm -rf few && "$TALUS" render run --film few/ --size 20x20 --until 0.15 --every 0.1 --chains >/dev/null
    [ "$(ls few | tr '\n' ' ')" = "00001.png 00002.png " ] || fail "--until, --every: $(ls few)"
    mkdir -p bin
    printf '#!/bin/sh\nfor out; do :; done\ncat >"${out#file:}"\n' >bin/ffmpeg
    chmod +x bin/ffmpeg
    PATH=$PWD/bin:$PATH "$TALUS" render run --film film.mp4 $small >/dev/null
    [ "$(wc -c <film.mp4)" = $((5 * 60 * 40 * 3)) ] || fail "ffmpeg did not get five frames"
    "$TALUS" render run -o chains.png $small --chains --plain >/dev/null
    is_png chains.png 60 40
}

# Dissipated energies of millijoules: the scale of a film is theirs, and not that of its first frame, which has none.
refuses 1 'colour by dissipated: this frame does not hold it; those of a scene with "dissipation": true' run --colour dissipated -o no.png
cat >small.json <<'END'
{"step": 0.001, "until": 0.2, "dissipation": true, "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]},
 {"radius": 0.005, "at": [[0, 0, 0.01], [0.02, 0, 0.02], [0.04, 0, 0.03]]}]}
END
rm -rf small && "$TALUS" run small.json --out small --every 0.05 --quiet
"$TALUS" render small --colour dissipated -o small.png --size 60x40 --plain >/dev/null
is_png small.png 60 40
"$TALUS" render small --colour dissipated -o none.png --size 60x40 --plain --range 0:1 >/dev/null
cmp -s small.png none.png && fail "energies of millijoules have a scale of joules"
rm -rf film && "$TALUS" render small --colour dissipated --film film/ --size 60x40 --plain >/dev/null
rm -rf fixed && "$TALUS" render small --colour dissipated --film fixed/ --size 60x40 --plain --range 0:1 >/dev/null
cmp -s film/00001.png fixed/00001.png || fail "frames without energies differ by the scale"
cmp -s film/00005.png fixed/00005.png && fail "the scale of a film is that of its first frame"

rm -rf empty && mkdir empty
refuses 1 "no scene 'bxo-stack'; did you mean 'box-stack'?" bxo-stack -o no.png
refuses 1 'no/where: no such run directory, frames file or scene' no/where -o no.png
refuses 1 'empty: holds no frames.talus' empty -o no.png
refuses 1 'outside its frames, which go from 0 to 0.2 s' run --time 7 -o no.png
refuses 2 "did you mean 'speed'?" run --colour sped -o no.png
refuses 2 'expected one of home, front, side, top' run --view quux -o no.png
refuses 2 "did you mean 'ghost'?" run --container gost -o no.png
refuses 2 'expected WIDTHxHEIGHT' run --size 10 -o no.png
refuses 2 'expected WIDTHxHEIGHT' run --size 99999x2 -o no.png
refuses 2 'expected LOW:HIGH' run --range 3:1 -o no.png
refuses 2 'expected AZIMUTH,ELEVATION' run --from 10,100 -o no.png
refuses 2 'expected AXIS:AT' run --clip w:1 -o no.png
refuses 2 'expected AXIS:AT' run --clip x: -o no.png
refuses 2 'both place the camera' run --view top --from 1,2 -o no.png
refuses 2 'leave out --colour' run --chains --colour id -o no.png
refuses 2 'expected a number above 0' run --zoom 0 -o no.png
refuses 2 'expected either -o FILE.png' run
refuses 2 'ends in .png' run -o no.jpg
refuses 2 '--set is for scenes' run --set bodies=2 -o no.png
refuses 2 'expected either -o FILE.png or --film OUT' run --film x.png -o no.png
refuses 2 'numbered pictures' run --film no.gif
refuses 2 'are for --film' run --every 1 -o no.png
refuses 2 '--time is for a picture' run --film no.png --time 1
refuses 2 'expected a number from' run --film no.png --fps 0
refuses 2 'even numbers' run --film no.mp4 --size 61x40
refuses 2 'has no opacity' run --film no.mp4 --transparent
refuses 1 'a film is made of a run' box-stack --film no.png
refuses 1 'they go from 0 to 0.2 s' run --film no.png --since 3
code=0
PATH=$PWD/empty "$TALUS" render run --film no.mp4 --size 8x8 >out 2>err || code=$?
{ [ $code = 1 ] && grep -q 'ffmpeg' err && [ ! -e no.mp4 ]; } || fail "without ffmpeg: exit code $code, $(cat err)"
printf '#!/bin/sh\nexit 3\n' >bin/ffmpeg
code=0
PATH=$PWD/bin:$PATH "$TALUS" render run --film no.mp4 --size 8x8 >out 2>err || code=$?
{ [ $code = 1 ] && grep -q 'ffmpeg' err && [ ! -e no.mp4 ]; } || fail "ffmpeg fails: exit code $code, $(cat err)"
refuses 1 'no/where' run -o no/where.png --size 8x8
printf 'TALUSFRM nothing more' >broken.talus
refuses 1 'broken.talus' broken.talus -o no.png

# a film that a signal stops is not there, and the exit code says so
"$TALUS" render run --film stopped.png --size 3000x2000 --threads 1 >out 2>err &
process=$!
sleep 1
kill -TERM $process
code=0
wait $process || code=$?
[ $code -eq 143 ] || fail "a film stopped by SIGTERM: exit code $code: $(cat err)"
[ -e stopped.png ] && fail "a film that was stopped is there"

exit $failed
