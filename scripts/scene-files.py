#!/usr/bin/env python3
"""Makes the files that scenes refer to: scene-files.py [FOLDER], scenes if left out.

hopper.stl   a hopper of sheet 4 mm thick, mm, binary STL: mesh-silo
drum.obj     the shell of a drum of radius 1, axis y, from y = -0.5 to 0.5: tablet-drum
mill.obj     the same with twelve lifters: ball-mill
slope.txt    heights over a grid: rubble-slope
"""
import math
import os
import random
import struct
import sys


def band(sections):
    """A surface closed on itself: sections one after the other, each a loop of as many points."""
    points = [p for s in sections for p in s]
    n, m = len(sections), len(sections[0])
    triangles = []
    for i in range(n):
        for j in range(m):
            a, b = i * m + j, i * m + (j + 1) % m
            c, d = (i + 1) % n * m + (j + 1) % m, (i + 1) % n * m + j
            triangles += [(a, c, b), (a, d, c)]
    return points, triangles


def volume(points, triangles):
    total = 0.0
    for t in triangles:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (points[k] for k in t)
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6.0


def outward(points, triangles):
    """Triangles that run anticlockwise seen from outside."""
    if volume(points, triangles) < 0.0:
        triangles = [(a, c, b) for a, b, c in triangles]
    return points, triangles


def turned(profile, places):
    """A closed profile of (radius, height) turned about z."""
    sections = []
    for k in range(places):
        c, s = math.cos(2 * math.pi * k / places), math.sin(2 * math.pi * k / places)
        sections.append([(r * c, r * s, z) for r, z in profile])
    return outward(*band(sections))


def shell(inner, thickness):
    """A drum's shell: `inner` holds (angle, radius) of its inside, the outside is a cylinder of 1 + thickness."""
    sections = []
    for angle, radius in inner:
        c, s = math.cos(angle), math.sin(angle)
        section = [(radius, -0.5), (1 + thickness, -0.5), (1 + thickness, 0.5), (radius, 0.5)]
        sections.append([(r * c, y, r * s) for r, y in section])
    return outward(*band(sections))


def write_stl(path, points, triangles):
    with open(path, "wb") as f:
        f.write(b"hopper, mm".ljust(80) + struct.pack("<I", len(triangles)))
        for t in triangles:
            a, b, c = (points[k] for k in t)
            u, v = [y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]
            n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            size = math.sqrt(sum(x * x for x in n))
            f.write(struct.pack("<12fH", *(x / size for x in n), *a, *b, *c, 0))


def write_obj(path, about, points, triangles):
    with open(path, "w") as f:
        f.write(f"# {about}; made by scripts/scene-files.py\n")
        f.writelines("v %.6f %.6f %.6f\n" % p for p in points)
        f.writelines("f %d %d %d\n" % tuple(k + 1 for k in t) for t in triangles)


def hopper():
    """Cylinder of radius 100, cone of 30 degrees from the vertical down to a mouth of radius 40 at z = 0."""
    rise = 60 * math.sqrt(3)
    inside = [(40, 0), (100, rise), (100, rise + 320)]
    return turned(inside + [(104, rise + 320), (104, rise - 1), (44.6, 0)], 72)


def drum():
    return shell([(2 * math.pi * k / 72, 1.0) for k in range(72)], 0.03)


def mill():
    """Twelve lifters, 0.08 high, with flanks that lean 30 degrees, and 72 places between."""
    corners = []
    for k in range(12):
        middle = 2 * math.pi * k / 12
        corners += [(middle - 0.085, 1.0), (middle - 0.038, 0.92), (middle + 0.038, 0.92), (middle + 0.085, 1.0)]
        corners += [(middle + 2 * math.pi / 12 * x, 1.0) for x in (0.33, 0.5, 0.67)]
    return shell(corners, 0.05)


def slope():
    """A gully, 141 x 57 heights 0.1 m apart: 35 degrees steep, curving into level ground, with knolls and a rim."""
    chance = random.Random(8)
    knolls = [(chance.uniform(-4.5, 5.5), chance.uniform(-2, 2), chance.uniform(0.25, 0.6), chance.uniform(0.08, 0.22))
              for _ in range(40)]
    grade, bend = math.tan(math.radians(35)), 1.0
    rows = []
    for j in range(57):
        y = (j - 28) * 0.1
        row = []
        for i in range(141):
            x = (i - 70) * 0.1
            z = grade * (math.sqrt((x - 1) ** 2 + bend**2) - (x - 1)) / 2
            z += 0.9 * (y / 2.4) ** 4
            for at, across, wide, high in knolls:
                z += high * math.exp(-((x - at) ** 2 + (y - across) ** 2) / wide**2)
            z += 1.5 * max(0.0, -6 - x)
            z += 0.03 * chance.uniform(-1, 1)
            row.append("%.3f" % z)
        rows.append(" ".join(row))
    return "\n".join(rows) + "\n"


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "scenes")
    write_stl(os.path.join(folder, "hopper.stl"), *hopper())
    write_obj(os.path.join(folder, "drum.obj"), "shell of a drum", *drum())
    write_obj(os.path.join(folder, "mill.obj"), "shell of a mill with lifters", *mill())
    with open(os.path.join(folder, "slope.txt"), "w") as f:
        f.write(slope())


main()
