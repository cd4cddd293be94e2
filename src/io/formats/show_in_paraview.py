# Shows this folder's frames in ParaView, 5.11 or later: spheres with their true radii, true surfaces of
# all other bodies, walls as glass, and the network of contact forces.
#
#     paraview --script=show_in_paraview.py         the run, to look at; chains are there, switched off
#     pvpython show_in_paraview.py                  a picture of the last frame: paraview.png
#     xvfb-run -a pvpython show_in_paraview.py      the same where there is no display
#     pvpython show_in_paraview.py --help           another time, size, colour; force chains
#
# A new run writes this file anew: keep changes under another name.
import argparse
import os
import sys

from paraview.simple import *

NAME = "show_in_paraview.py"
in_window = not (sys.argv and sys.argv[0])  # pvpython tells a script its name, paraview does not


def folder():
    """Where this file is: the frames are beside it."""
    words = []
    if "__file__" in globals():
        return os.path.dirname(os.path.abspath(__file__))
    if os.path.exists("/proc/self/cmdline"):
        with open("/proc/self/cmdline") as line:
            words = line.read().split("\0")
    for word in words:
        if word.endswith(NAME):
            return os.path.dirname(os.path.abspath(word.split("=")[-1]))
    return os.getcwd()


SPHERE = 0  # of shape_kind
TITLES = {
    "velocity": "speed (m/s)",
    "speed": "speed (m/s)",
    "angular_velocity": "angular speed (rad/s)",
    "contact_force": "contact force (N)",
    "normal_force": "normal force (N)",
}


def options():
    parser = argparse.ArgumentParser(prog="pvpython show_in_paraview.py", description="A picture of a run.")
    parser.add_argument("-o", default="paraview.png", metavar="FILE", help="the picture (%(default)s)")
    parser.add_argument("--time", type=float, help="seconds; the frame at or before it, the last one by default")
    parser.add_argument("--size", default="1280x960", metavar="WxH", help="pixels (%(default)s)")
    parser.add_argument("--colour", metavar="FIELD", help="a field of the bodies (velocity; speed in lean frames)")
    parser.add_argument("--chains", action="store_true", help="force chains, with the bodies as ghosts")
    return parser.parse_args([] if in_window else None)


def fail(text):
    text = NAME + ": " + text
    raise RuntimeError(text) if in_window else SystemExit(text)


def need_display():
    """Debian's ParaView draws through X even where nothing is shown, and dies without it."""
    from vtkmodules import vtkRenderingOpenGL2 as drawing

    if hasattr(drawing, "vtkXOpenGLRenderWindow") and not (
        os.environ.get("DISPLAY") or hasattr(drawing, "vtkEGLRenderWindow") or hasattr(drawing, "vtkOSOpenGLRenderWindow")
    ):
        fail("there is no display here; run  xvfb-run -a pvpython show_in_paraview.py")


def read(name):
    """The series of that name, or None where the run has none."""
    path = os.path.join(folder(), name + ".pvd")
    if not os.path.exists(path):
        return None
    source = PVDReader(FileName=path)
    RenameSource(name, source)
    return source


def fields(source, association):
    return source.PointData if association == "POINTS" else source.CellData


def names(source, association):
    data = fields(source, association)
    return [data.GetArray(i).Name for i in range(data.GetNumberOfArrays())]


def paint(display, source, association, field):
    """Colours by a field, vectors by their length; False where there is nothing to colour."""
    if field not in names(source, association):
        return False
    parts = fields(source, association)[field].GetNumberOfComponents()
    ColorBy(display, (association, field, "Magnitude") if parts > 1 else (association, field))
    return True


def add_spheres(view, bodies):
    spheres = Threshold(Input=bodies, Scalars=["POINTS", "shape_kind"])
    spheres.ThresholdMethod = "Between"
    spheres.LowerThreshold = spheres.UpperThreshold = SPHERE
    RenameSource("spheres", spheres)
    display = Show(spheres, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = 1.0
    display.ScaleByArray = 1
    display.SetScaleArray = ["POINTS", "radius"]
    display.UseScaleFunction = 0
    return spheres, display


def add_shapes(view, shapes):
    display = Show(shapes, view)
    display.SetRepresentationType("Surface")
    return display


def add_walls(view, walls):
    display = Show(walls, view)
    display.SetRepresentationType("Surface")
    display.ColorArrayName = ["POINTS", ""]
    display.DiffuseColor = display.AmbientColor = [0.55, 0.6, 0.65]
    display.Opacity = 0.2


def add_chains(view, chains, bodies, time):
    """Tubes whose radius grows with the force; the strongest of this frame has 0.4 of a body's radius."""
    chains.UpdatePipeline(time)
    force, radius = fields(chains, "POINTS")["normal_force"], fields(bodies, "POINTS")["radius"]
    strongest = force.GetRange()[1] if force else 0.0
    factor = 0.4 * radius.GetRange()[0] / strongest if radius and strongest > 0.0 else 0.0
    scaled = Calculator(Input=chains, ResultArrayName="tube_radius")
    scaled.Function = "normal_force*%.9g" % factor
    tubes = Tube(Input=scaled, NumberofSides=8, Capping=1)
    tubes.Scalars = ["POINTS", "tube_radius"]
    tubes.VaryRadius = "By Absolute Scalar"
    RenameSource("chain radii", scaled)
    RenameSource("force chains", tubes)
    display = Show(tubes, view)
    if paint(display, chains, "POINTS", "normal_force") and not in_window:
        legend(view, "normal_force", force, display)
    return tubes


def legend(view, field, values, display):
    low, high = values.GetRange(-1 if values.GetNumberOfComponents() > 1 else 0)
    colours = GetColorTransferFunction(field)
    colours.ApplyPreset("Viridis (matplotlib)", True)
    colours.RescaleTransferFunction(low, high if high > low else low + 1.0)
    bar = GetScalarBar(colours, view)
    bar.Title = TITLES.get(field, field)
    bar.ComponentTitle = ""
    bar.TitleColor = bar.LabelColor = [0.1, 0.1, 0.1]
    bar.TitleFontSize = bar.LabelFontSize = 20
    bar.AutomaticLabelFormat = 0
    bar.LabelFormat = bar.RangeLabelFormat = "%.3g"
    display.SetScalarBarVisibility(view, True)


def add_time(view, bodies):
    label = AnnotateTimeFilter(Input=bodies, Format="t = {time:.4g} s")
    display = Show(label, view)
    display.Color = [0.1, 0.1, 0.1]
    display.FontSize = 24


def bounds(source, times):
    """Of the centres of all bodies at these times, and the largest radius more."""
    low, high, radius = [1e300] * 3, [-1e300] * 3, 0.0
    for time in times:
        source.UpdatePipeline(time)
        box = source.GetDataInformation().GetBounds()
        if box[0] <= box[1]:
            low = [min(low[i], box[2 * i]) for i in range(3)]
            high = [max(high[i], box[2 * i + 1]) for i in range(3)]
            radius = max(radius, fields(source, "POINTS")["radius"].GetRange()[1])
    if low[0] > high[0]:
        return None
    return [x for i in range(3) for x in (low[i] - radius, high[i] + radius)]


def look(view, box):
    """From the side and a little above, z up, at the bodies and not at endless walls."""
    view.UseColorPaletteForBackground = 0
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesVisibility = 1 if in_window else 0
    view.CameraFocalPoint = [0.0, 0.0, 0.0]
    view.CameraPosition = [0.6, -1.8, 0.7]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    if box:
        view.ResetCamera(box)
    else:
        ResetCamera(view)


def pixels(text):
    size = [int(n) for n in text.split("x") if n.isdigit()]
    if len(size) != 2 or min(size) < 1:
        fail("--size %s: expected WIDTHxHEIGHT such as 1280x960" % text)
    return size


def choose_time(times, wanted):
    if wanted is None:
        return times[-1]
    return max([t for t in times if t <= wanted] or times[:1])


def build(choice, size):
    bodies = read("bodies")
    if bodies is None:
        fail("there is no bodies.pvd beside this file")
    times = list(bodies.TimestepValues)
    time = choose_time(times, choice.time)
    box = bounds(bodies, [times[0], times[-1], time])
    known = names(bodies, "POINTS")
    field = choice.colour or ("velocity" if "velocity" in known else "speed")
    if known and field not in known:  # without bodies there are no fields either
        fail("bodies have no field '%s'; there are: %s" % (field, ", ".join(known)))
    chains = read("chains")
    if chains is None and choice.chains:
        fail("there is no chains.pvd beside this file")

    view = GetActiveViewOrCreate("RenderView")
    if not in_window:
        view.ViewSize = size
    scene = GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()
    scene.AnimationTime = view.ViewTime = time
    shown = []
    if known:
        spheres, display = add_spheres(view, bodies)
        spheres.UpdatePipeline(time)
        shown += [display] if paint(display, spheres, "POINTS", field) else []
    shapes = read("shapes")
    if shapes is not None:
        shapes.UpdatePipeline(time)
        display = add_shapes(view, shapes)
        shown += [display] if paint(display, shapes, "CELLS", field) else []
    walls = read("walls")
    if walls is not None:
        add_walls(view, walls)
    if shown and not choice.chains:
        legend(view, field, fields(bodies, "POINTS")[field], shown[0])
    if chains is not None and (choice.chains or in_window):
        tubes = add_chains(view, chains, bodies, time)
        if choice.chains:
            for ghost in shown:
                ghost.Opacity = 0.08
        else:
            Hide(tubes, view)
    add_time(view, bodies)
    Render(view)  # the first drawing places the camera by itself
    look(view, box)
    return view, time, times


def main():
    choice = options()
    if not in_window:
        need_display()
    size = pixels(choice.size)
    view, time, times = build(choice, size)
    Render(view)
    if not in_window:
        SaveScreenshot(choice.o, view, ImageResolution=size)
        print("%s: t = %g s, frame %d of %d" % (choice.o, time, times.index(time) + 1, len(times)))


main()
