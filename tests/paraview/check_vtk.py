# Opens images and frames with VTK, on which ParaView rests, and compares them with exact tables of the same run:
#     python3 check_vtk.py FIELDS.csv FIELDS.pvd RUN
# Prints what differs; the status is 1 then.
import csv
import math
import os
import sys
import xml.etree.ElementTree as ElementTree

from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPolyDataReader

from differences import expect, fail, finish

AXES = "xyz"
SUFFIXES = {3: ["_x", "_y", "_z"], 6: ["_xx", "_yy", "_zz", "_xy", "_yz", "_xz"],
            9: ["_" + a + b for a in AXES for b in AXES], 1: [""]}

def near(what, value, wanted, tolerance):
    if not (abs(value - wanted) <= tolerance or (math.isnan(value) and math.isnan(wanted))):
        fail("%s: %r, expected %r" % (what, value, wanted))


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def read(reader, path):
    reader.SetFileName(path)
    if not reader.CanReadFile(path):
        fail("%s: VTK does not read it" % path)
    reader.Update()
    return reader.GetOutput()


def time_of(data):
    return data.GetFieldData().GetArray("TimeValue").GetValue(0)


def check_array(name, array, rows):
    """Values of cells, and the range by which ParaView colours."""
    components = array.GetNumberOfComponents()
    columns = [name + suffix for suffix in SUFFIXES[components]]
    expect(name + ": type", array.GetDataTypeAsString(), "double")
    expect(name + ": tuples", array.GetNumberOfTuples(), len(rows))
    for c, column in enumerate(columns):
        values = [float(row[column]) for row in rows]
        for cell, value in enumerate(values):
            near("%s of cell %d" % (column, cell), array.GetComponent(cell, c), value, 0.0)
        finite = [v for v in values if not math.isnan(v)]
        if finite:
            low, high = array.GetRange(c)
            near(column + ": low end", low, min(finite), 0.0)
            near(column + ": high end", high, max(finite), 0.0)
    return columns


def check_image(path, time, rows):
    """An image against the rows of its time, x fastest."""
    data = read(vtkXMLImageDataReader(), path)
    near(path + ": time", time_of(data), time, 0.0)
    expect(path + ": cells", data.GetNumberOfCells(), len(rows))
    bounds = [0.0] * 6
    for cell, row in enumerate(rows):
        data.GetCellBounds(cell, bounds)
        for k, axis in enumerate(AXES):
            near("%s: %s of cell %d" % (path, axis, cell), 0.5 * (bounds[2 * k] + bounds[2 * k + 1]),
                 float(row[axis]), 1e-12)
    arrays, seen = data.GetCellData(), ["time", "x", "y", "z"]
    for a in range(arrays.GetNumberOfArrays()):
        seen += check_array(arrays.GetArrayName(a), arrays.GetArray(a), rows)
    expect(path + ": fields", sorted(seen), sorted(rows[0]))


def check_fields(fields, collection):
    rows = table(fields)
    sets = [d.attrib for d in ElementTree.parse(collection).getroot().iter("DataSet")]
    times = sorted({float(row["time"]) for row in rows})
    expect(collection + ": times", [float(d["timestep"]) for d in sets], times)
    for entry in sets:
        time = float(entry["timestep"])
        check_image(os.path.join(os.path.dirname(collection), entry["file"]), time,
                    [row for row in rows if float(row["time"]) == time])


def check_frames(run):
    """Bodies of the last frame, whose walls are other files."""
    frames = os.path.join(run, "frames")
    last = sorted(f for f in os.listdir(frames) if f.startswith("bodies-") and f.endswith(".vtp"))[-1]
    data = read(vtkXMLPolyDataReader(), os.path.join(frames, last))
    rows = {int(row["body_id"]): row for row in table(os.path.join(frames, last[:-4] + ".csv"))}
    arrays = data.GetPointData()
    ids = [arrays.GetArray("body_id").GetValue(i) for i in range(data.GetNumberOfPoints())]
    expect(last + ": bodies", sorted(ids), sorted(rows))
    for i, number in enumerate(ids):
        for k, axis in enumerate(AXES):
            near("%s of body %d" % (axis, number), data.GetPoint(i)[k],
                 float(rows[number]["position_" + axis]), 0.0)
        for name in ("radius", "mass", "contact_force", "dissipated"):
            value = float(rows[number][name])
            near("%s of body %d" % (name, number), arrays.GetArray(name).GetValue(i), value,
                 1e-7 * abs(value))


check_fields(sys.argv[1], sys.argv[2])
check_frames(sys.argv[3])
finish()
