# Opens the .vtp frames of runs in ParaView and compares them with the exact tables beside them:
#     pvpython check.py DIR[:xmin,xmax,ymin,ymax,zmin,zmax] ...
# The bounds are those of the walls at the last time. Prints what differs; the status is 1 then.
import csv
import math
import os
import struct
import sys

from paraview import servermanager
from paraview.simple import *

from differences import expect, fail, finish

BODY_FIELDS = {  # as docs/how-to/paraview.md lists them: type, components
    "body_id": ("long long", 1),
    "radius": ("float", 1),
    "velocity": ("float", 3),
    "angular_velocity": ("float", 3),
    "orientation": ("float", 4),
    "mass": ("float", 1),
    "contact_force": ("float", 1),
    "contact_count": ("int", 1),
    "material_id": ("int", 1),
    "shape_id": ("int", 1),
    "shape_kind": ("unsigned char", 1),
    "tag": ("int", 1),
    "fixed": ("unsigned char", 1),
}
CONTACT_FIELDS = {
    "id1": ("long long", 1),
    "id2": ("long long", 1),
    "normal": ("float", 3),
    "impulse": ("float", 3),
    "force": ("float", 3),
    "normal_force": ("float", 1),
    "gap": ("float", 1),
    "branch1": ("float", 3),
    "branch2": ("float", 3),
}
SPHERE, PLANE, BOX, CYLINDER, REVOLVE = range(5)


def single(text):
    """A number of a table as a 32-bit float holds it."""
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def columns(name, components):
    letters = {1: [""], 3: ["_x", "_y", "_z"], 4: ["_w", "_x", "_y", "_z"]}[components]
    return [name + letter for letter in letters]


def check_values(what, array, name, components, rows, convert):
    keys = columns(name, components)
    for i, row in enumerate(rows):
        wanted = tuple(convert(row[key]) for key in keys)
        if array.GetTuple(i) != wanted:
            fail("%s: %s of row %d is %r, expected %r" % (what, name, i, array.GetTuple(i), wanted))
            return


def check_points(what, data, rows, place, fields):
    """One vertex per row, at the right place, with the right fields."""
    expect(what + ": points", data.GetNumberOfPoints(), len(rows))
    expect(what + ": vertices", data.GetNumberOfVerts(), len(rows))
    if data.GetNumberOfPoints() != len(rows):
        return
    if rows:
        expect(what + ": type of points", data.GetPoints().GetData().GetDataTypeAsString(), "double")
        check_values(what, data.GetPoints().GetData(), place, 3, rows, float)
    held = data.GetPointData()
    names = {held.GetArrayName(i) for i in range(held.GetNumberOfArrays())}
    expect(what + ": fields", sorted(names), sorted(fields))
    for name in names & set(fields):
        array, (kind, components) = held.GetArray(name), fields[name]
        # vtkIdType arrays stand in for 64-bit integers
        given = array.GetDataTypeAsString().replace("vtkIdType", "long long").replace("vtktypeint64", "long long")
        given = {"long": "long long"}.get(given, given)
        expect("%s: type of %s" % (what, name), given, kind)
        expect("%s: components of %s" % (what, name), array.GetNumberOfComponents(), components)
        check_values(what, array, name, components, rows, single if kind == "float" else float)


def fetch(source, time):
    source.UpdatePipeline(time)
    return servermanager.Fetch(source)


def series(directory, name):
    return PVDReader(FileName=os.path.join(directory, name + ".pvd"))


def times_of(source):
    values = source.TimestepValues
    return list(values) if hasattr(values, "__len__") else [values]


def check_chains(what, data, contacts):
    loaded = [row for row in contacts if float(row["normal_force"]) > 0.0]
    expect(what + ": chains", data.GetNumberOfLines(), len(loaded))
    if not loaded or data.GetNumberOfLines() != len(loaded):
        return
    for name in ("id1", "id2", "normal_force"):
        check_values(what, data.GetCellData().GetArray(name), name, 1, loaded, single if name == "normal_force" else float)
    for i, row in enumerate(loaded):
        line = data.GetCell(i).GetPoints()
        point = tuple(float(row[key]) for key in columns("point", 3))
        if point not in (line.GetPoint(1), line.GetPoint(line.GetNumberOfPoints() - 1)):
            fail("%s: chain %d does not go through its contact point" % (what, i))
            return


def reach(data, number):
    """Middle and farthest distance of a body's surface, and how many of its edges are open."""
    ids, corners, edges = data.GetCellData().GetArray("body_id"), set(), {}
    for i in range(data.GetNumberOfCells()):
        if ids.GetValue(i) != number:
            continue
        points = data.GetCell(i).GetPoints()
        places = [tuple(round(x, 12) for x in points.GetPoint(k)) for k in range(3)]
        corners.update(places)
        for k in range(3):
            a, b = places[k], places[(k + 1) % 3]
            edges[(a, b)] = edges.get((a, b), 0) + 1
    if not corners:
        return None
    middle = [sum(p[i] for p in corners) / len(corners) for i in range(3)]
    far = max(math.dist(middle, p) for p in corners)
    is_open = sum(1 for (a, b) in edges if (b, a) not in edges)
    return middle, far, is_open


def check_surface(what, data, row):
    """It is closed, has the body's position as its middle and its radius as its reach."""
    surface = reach(data, int(row["body_id"]))
    if surface is None:
        fail("%s: body %s has no surface" % (what, row["body_id"]))
        return
    middle, far, is_open = surface
    place = [float(row[key]) for key in columns("position", 3)]
    if math.dist(middle, place) > 1e-9 or abs(far - float(row["radius"])) > 1e-9 or is_open:
        fail("%s: the surface of body %s is not where or what it should be" % (what, row["body_id"]))


def ids_in(data):
    ids = data.GetCellData().GetArray("body_id")
    return {ids.GetValue(i) for i in range(data.GetNumberOfCells())} if ids else set()


def solids(bodies, fixed):
    return [row for row in bodies if row["fixed"] == fixed and int(row["shape_kind"]) != SPHERE]


def check_shapes(what, data, bodies):
    movers = solids(bodies, "0")
    wanted = sorted(int(row["body_id"]) for row in movers)
    expect(what + ": bodies with a surface", sorted(ids_in(data)), wanted)
    for row in movers:
        check_surface(what, data, row)


def check_walls(what, data, bodies):
    """Fixed solids are among the walls, and what else is there are planes and revolved profiles."""
    given = ids_in(data)
    fixed, all_bodies = solids(bodies, "1"), {int(row["body_id"]) for row in bodies}
    expect(what + ": fixed solids", sorted(given & all_bodies), sorted(int(row["body_id"]) for row in fixed))
    ids, kinds = (data.GetCellData().GetArray(name) for name in ("body_id", "shape_kind"))
    others = {kinds.GetValue(i) for i in range(data.GetNumberOfCells()) if ids.GetValue(i) not in all_bodies}
    expect(what + ": kinds of other walls", others <= {PLANE, REVOLVE}, True)
    for row in fixed:
        check_surface(what, data, row)


def check_run(directory, walls_bounds):
    frames = table(os.path.join(directory, "frames.csv"))
    times = [float(row["time"]) for row in frames]
    names = ("bodies", "contacts", "chains", "shapes", "walls")
    bodies, contacts, chains, shapes, walls = (series(directory, name) for name in names)
    for name, source in zip(names, (bodies, contacts, chains, shapes, walls)):
        expect("%s/%s.pvd: times" % (directory, name), times_of(source), times)
    for i, time in enumerate(times):
        what = "%s at t = %g" % (directory, time)
        rows = table("%s/frames/bodies-%06d.csv" % (directory, i))
        touching = table("%s/frames/contacts-%06d.csv" % (directory, i))
        expect(what + ": rows", len(rows), int(frames[i]["bodies"]))
        data = fetch(bodies, time)
        expect(what + ": TimeValue", data.GetFieldData().GetArray("TimeValue").GetValue(0), time)
        check_points(what, data, rows, "position", BODY_FIELDS)
        check_points(what, fetch(contacts, time), touching, "point", CONTACT_FIELDS)
        check_chains(what, fetch(chains, time), touching)
        check_walls(what, fetch(walls, time), rows)
        check_shapes(what, fetch(shapes, time), rows)
    if walls_bounds:
        given = fetch(walls, times[-1]).GetBounds()
        if any(abs(a - b) > 1e-6 * max(1.0, abs(b)) for a, b in zip(given, walls_bounds)):
            fail("%s: walls reach %r, expected %r" % (directory, given, walls_bounds))
    print("%s: %d frames, %d bodies in the last" % (directory, len(times), int(frames[-1]["bodies"])))


# Debian's 5.11 would show all steps of a temporal file at once, a wrong picture; it must refuse it.
def check_vtkhdf(directory):
    path = os.path.join(directory, "bodies.vtkhdf")
    times = [float(row["time"]) for row in table(os.path.join(directory, "frames.csv"))]
    if not os.path.exists(path):
        print("no HDF5 in this build: bodies.vtkhdf is not looked at")
        return
    try:
        source = OpenDataFile(path)
    except RuntimeError:
        source = None
    if GetParaViewVersion() < (5, 12):
        expect("ParaView %s opens bodies.vtkhdf" % GetParaViewVersion(), source is not None, False)
        return
    expect("bodies.vtkhdf: times", times_of(source), times)
    for i, time in enumerate(times):
        rows = table("%s/frames/bodies-%06d.csv" % (directory, i))
        check_points("bodies.vtkhdf at t = %g" % time, fetch(source, time), rows, "position", BODY_FIELDS)


for argument in sys.argv[1:]:
    directory, _, numbers = argument.partition(":")
    check_run(directory, [float(x) for x in numbers.split(",")] if numbers else None)
check_vtkhdf(sys.argv[1].partition(":")[0])
finish()
