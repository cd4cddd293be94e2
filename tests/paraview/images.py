# Opens a collection of images of talus measure in ParaView: times, cells, fields, bounds and ranges are those of the table.
#     pvpython images.py FIELDS.pvd FIELDS.csv
# Prints what differs; the status is 1 then.
import csv
import math
import sys

from paraview import servermanager
from paraview.simple import OpenDataFile

COMPONENTS = {"velocity": 3, "stress": 9, "fabric": 6, "solid": 1}
failures = 0


def expect(what, value, wanted):
    global failures
    if value != wanted:
        failures += 1
        print("FAILED: %s: %r, expected %r" % (what, value, wanted))


def finite(rows, column):
    values = [float(row[column]) for row in rows]
    return [v for v in values if not math.isnan(v)]


with open(sys.argv[2], newline="") as file:
    table = list(csv.DictReader(file))
reader = OpenDataFile(sys.argv[1])
times = sorted({float(row["time"]) for row in table})
expect("times", list(reader.TimestepValues), times)
for time in times:
    rows = [row for row in table if float(row["time"]) == time]
    reader.UpdatePipeline(time)
    info = reader.GetDataInformation()
    expect("t = %g: type" % time, info.GetDataSetTypeAsString(), "vtkImageData")
    expect("t = %g: cells" % time, info.GetNumberOfCells(), len(rows))
    expect("t = %g: bounds" % time, [round(x, 9) for x in info.GetBounds()], [-1, 1, -1, 1.5, 0, 2])
    arrays = reader.CellData
    expect("t = %g: fields" % time, sorted(arrays.keys()), sorted(COMPONENTS))
    for name, components in COMPONENTS.items():
        expect(name + ": components", arrays[name].GetNumberOfComponents(), components)
    for name, column, component in (("velocity", "velocity_z", 2), ("stress", "stress_zz", 8), ("solid", "solid", 0)):
        values = finite(rows, column)
        expect("t = %g: range of %s" % (time, column), arrays[name].GetRange(component), (min(values), max(values)))
    data = servermanager.Fetch(reader)
    for cell, row in enumerate(rows):
        expect("solid of cell %d" % cell, data.GetCellData().GetArray("solid").GetValue(cell), float(row["solid"]))
print("images: %d times of %d cells" % (len(times), len(table) // len(times)))
sys.exit(1 if failures else 0)
