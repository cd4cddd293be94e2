#!/bin/sh
# VTK, on which ParaView rests, opens the images of talus measure and the frames of a run: extents, times, names, values and
# ranges are those of the tables.
set -u
export PYTHONDONTWRITEBYTECODE=1 # beside the sources

python=
for name in python3 /usr/bin/python3; do
    if command -v $name >/dev/null 2>&1 && $name -c 'import vtkmodules.vtkIOXML' >/dev/null 2>&1; then
        python=$name
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no Python with VTK here (Debian: python3-vtk9)"
    exit 77
fi

rm -rf vtk.work
mkdir vtk.work
cd vtk.work || exit 1

# must WORDS...: a command that succeeds
must() { "$@" >log 2>&1 || { echo "FAILED: $*: $(cat log)"; exit 1; }; }

# Spheres that fall: cells without mass have no velocity. Fields of 1, 3, 6 and 9 components.
must "$TALUS" run settle-box --set bodies=60 --set dissipation=true --until 0.3 --every 0.1 --frames csv,vtp --out run
fields="-f density -f velocity -f stress -f kinetic_stress -f fabric -f temperature"
must "$TALUS" measure run $fields --grid 3,4,5 --width 0.15 --box=-1:1,-1:1.5,0:2 --every 0 -o fields.csv
must "$TALUS" measure run $fields --grid 3,4,5 --width 0.15 --box=-1:1,-1:1.5,0:2 --every 0 -o fields.vti
grep -q nan fields.csv || { echo "FAILED: all cells have mass: nothing tests those without"; exit 1; }
"$python" "$TALUS_SOURCE_DIR/tests/paraview/check_vtk.py" fields.csv fields.pvd run
