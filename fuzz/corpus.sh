#!/bin/sh
# Makes the inputs that fuzzing starts from: corpus.sh TALUS FOLDER
#   TALUS    the talus program of a build with HDF5
#   FOLDER   gets bytes/ (small FCLIB files) and content/ (inputs of fclib_content)
# Files of ../shared/problems of at most 16 KiB are added where they are.
set -eu

talus=$1
folder=$2
root=$(cd "$(dirname "$0")/.." && pwd -P)
mkdir -p "$folder/bytes" "$folder/content"

for bodies in 1 2; do
    "$talus" extract box-stack --set bodies=$bodies --at 0 -o "$folder/bytes/boxes-$bodies.hdf5"
done >/dev/null
"$talus" extract settle-cylinder --set bodies=2 --at 0.1 -o "$folder/bytes/spheres.hdf5" >/dev/null

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
