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
    "$TALUS" render run -o chains.png $small --chains --plain >/dev/null
    is_png chains.png 60 40
}

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
refuses 2 'expected -o FILE.png' run
refuses 2 'ends in .png' run -o no.jpg
refuses 2 '--set is for scenes' run --set bodies=2 -o no.png
refuses 1 'no/where' run -o no/where.png --size 8x8
printf 'TALUSFRM nothing more' >broken.talus
refuses 1 'broken.talus' broken.talus -o no.png

exit $failed
