#!/bin/sh
# Makes the inputs that fuzzing starts from: corpus.sh TALUS FOLDER
#   TALUS    the talus program of a build with HDF5
#   FOLDER   gets bytes/ (small FCLIB files), content/ (inputs of fclib_content), frames/ (small frames
#            files), files/ (inputs of run_files), requests/ (inputs of http_request), stl/ and obj/
#            (small surfaces)
# Files of ../shared/problems of at most 16 KiB are added where they are.
set -eu

talus=$1
folder=$2
root=$(cd "$(dirname "$0")/.." && pwd -P)
mkdir -p "$folder/bytes" "$folder/content" "$folder/frames" "$folder/files" "$folder/requests" \
    "$folder/stl" "$folder/obj"

for bodies in 1 2; do
    "$talus" extract box-stack --set bodies=$bodies --at 0 -o "$folder/bytes/boxes-$bodies.hdf5"
done >/dev/null
"$talus" extract settle-cylinder --set bodies=2 --at 0.1 -o "$folder/bytes/spheres.hdf5" >/dev/null

for scene in box-stack dominoes settle-cylinder; do
    "$talus" run $scene --set bodies=3 --until 0.2 --quiet --out "$folder/run" >/dev/null
    cp -f "$folder/run/frames.talus" "$folder/frames/$scene.talus"
    for file in frames.talus steps.csv; do
        { printf '\001\002' && cat "$folder/run/$file"; } >"$folder/files/$scene-$file"
    done
done
rm -rf "$folder/run"

# A tetrahedron, as text, in binary and as polygons; one that is not convex among them.
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/1 4/1\nf -3//1 -2//1 -1//1\nf 1 4 3\n' >"$folder/obj/tetrahedron"
printf '# L\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 4 5 6 \\\n1 2 3\n' >"$folder/obj/polygon"
awk 'BEGIN {
    split("0 0 0,1 0 0,0 1 0,0 0 1", v, ",")
    split("1 3 2,1 2 4,2 3 4,1 4 3", f, ",")
    print "solid tetrahedron"
    for (k = 1; k <= 4; k++) {
        split(f[k], c, " ")
        print "facet normal 0 0 0\nouter loop"
        for (i = 1; i <= 3; i++) print "vertex " v[c[i]]
        print "endloop\nendfacet"
    }
    print "endsolid"
}' >"$folder/stl/text"
{
    printf '%080d' 0
    printf '\001\000\000\000'
    printf '\000%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
    printf '\000\000\200\077\000\000\000\000\000\000\000\000\000\000\000\000\000\000\200\077\000\000\000\000\000\000'
} >"$folder/stl/binary"

host=127.0.0.1:8080
token=0123456789abcdef0123456789abcdef
printf 'GET\n/api/steps\nfrom=1&stride=2\nHost: %s\nOrigin: http://%s\n\n' $host $host >"$folder/requests/steps"
printf 'GET\n/data/frames.talus\n\nHost: localhost:8080\nRange: bytes=0-5\n\nbytes=-5' >"$folder/requests/frames"
printf 'POST\n/api/control\n\nHost: %s\nX-Talus-Token: %s\nContent-Length: 19\n\n{"action": "pause"}' $host $token \
    >"$folder/requests/control"

if [ -d "$root/../shared/problems" ]; then
    find "$root/../shared/problems" -name '*.hdf5' ! -name '*.ref.hdf5' -size -17k | while read -r file; do
        cp -f "$file" "$folder/bytes/"
    done
    chmod -R u+w "$folder/bytes"
fi

# Bytes below 0x7f are choices that are right; the last two inputs have odd ones among them.
for seed in 1 2 3 4 5 6 7 8; do
    top=$((seed < 7 ? 127 : 255))
    awk -v seed=$seed -v top=$top 'BEGIN {
        srand(seed)
        for (k = 0; k < 400; k++) printf "%c", int(rand() * top)
    }' >"$folder/content/seed-$seed"
done
