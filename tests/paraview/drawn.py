# Whether pictures show something: pvpython drawn.py FILE.png ... White is the background, grey are walls
# and text; at least 1 % of the pixels must have a colour.
import sys

from vtkmodules.vtkIOImage import vtkPNGReader

STRIDE = 7  # of the pixels looked at


def coloured(path):
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    values = reader.GetOutput().GetPointData().GetScalars()
    seen = [values.GetTuple(i)[:3] for i in range(0, values.GetNumberOfTuples(), STRIDE)]
    return sum(max(pixel) - min(pixel) > 40 for pixel in seen) / len(seen)


parts = {path: coloured(path) for path in sys.argv[1:]}
for path, part in parts.items():
    print("%s: %.1f %% of it is coloured" % (path, 100.0 * part))
sys.exit(0 if min(parts.values()) > 0.01 else 1)
