/* io/scene/scene_table.c - the scene format, key by key (joints: scene_joint.c, servos: scene_servo.c), and queries of this table. */
#include "io/scene/scene_servo.h"
#include "io/scene/scene_types.h"

#include "base/param.h"
#include "geometry/traits.h"

#include <stdio.h>
#include <string.h>

/* ---- plain types ---- */

#define LARGEST TALUS_SCENE_LARGEST

static const SceneType fraction = {.kind = SCENE_REAL, .min = 0, .max = 1};
static const SceneType part_of_one = {.kind = SCENE_REAL, .min = 0, .max = 1, .above = true};
static const SceneType elastic_share = {
    .kind = SCENE_REAL, .min = 0, .max = TALUS_ELASTIC_OVERLAP_MAX, .above = true};
static const SceneType counter = {.kind = SCENE_INT, .min = 1, .max = LARGEST};
static const SceneType natural = {.kind = SCENE_INT, .min = 0, .max = LARGEST};
static const SceneType integer = {.kind = SCENE_INT, .min = -LARGEST, .max = LARGEST};
static const SceneType small_natural = {
    .kind = SCENE_INT, .min = 0, .max = LARGEST, .narrow = true};
static const SceneType small_integer = {
    .kind = SCENE_INT, .min = -LARGEST, .max = LARGEST, .narrow = true};
static const SceneType acceleration = {
    .kind = SCENE_REALS, .length = 3, .min = -TALUS_GRAVITY_MAX, .max = TALUS_GRAVITY_MAX};
static const SceneType extents = {
    .kind = SCENE_REALS, .length = 3, .min = 0, .max = 1e300, .above = true};
static const SceneType limits = {.kind = SCENE_REALS, .length = 3, .min = 0, .max = 1e300};
static const SceneType extents2 = {
    .kind = SCENE_REALS, .length = 2, .min = 0, .max = 1e300, .above = true};
static const SceneType steps = {
    .kind = SCENE_REALS, .length = 3, .min = 0, .max = 1e300, .above = true, .or_one = true};
static const SceneType cells = {
    .kind = SCENE_REALS, .length = 3, .min = 0, .max = LARGEST, .whole = true};
static const SceneType quaternion = {.kind = SCENE_REALS, .length = 4};
static const SceneType interval = {.kind = SCENE_REALS, .length = 2};
static const SceneType point2 = {.kind = SCENE_REALS, .length = 2};
static const SceneType timed = {.kind = SCENE_REALS, .length = 4};
static const SceneType timed_list = {.kind = SCENE_LIST, .item = &timed, .min_count = 2};
static const SceneType points = {
    .kind = SCENE_LIST, .item = &vector, .min_count = 1, .or_one = true};
static const SceneType sieve = {.kind = SCENE_LIST, .item = &point2, .min_count = 2};
static const SceneType profile = {.kind = SCENE_LIST, .item = &point2, .min_count = 2};
static const SceneType corners = {.kind = SCENE_LIST, .item = &vector, .min_count = 4};
static const SceneType reals = {.kind = SCENE_LIST, .item = &any_real, .min_count = 2};
static const SceneType inertia = {
    .kind = SCENE_LIST, .item = &any_real, .min_count = 3, .max_count = 6};
static const SceneType grid = {.kind = SCENE_LIST, .item = &reals, .min_count = 2};
static const SceneType names = {.kind = SCENE_LIST, .item = &text, .min_count = 1};
static const SceneType corner_count = {.kind = SCENE_INT, .min = 6, .max = 10000};
static const SceneType form_count = {.kind = SCENE_INT, .min = 1, .max = 10000};
static const SceneType two_names = {
    .kind = SCENE_LIST, .item = &text, .min_count = 2, .max_count = 2};

/* Words in the order of their enums. Names of shapes come from the table of shapes; "rock" exists in scenes only. */
#define SHAPE_NAME(argument, kind, file, name, traits) name,
static const char *const shape_kinds[] = {TALUS_SHAPE_TABLE(SHAPE_NAME, 0) "rock", NULL};
static const char *const norms[] = {"rms", "max", NULL};
static const char *const misses[] = {"continue", "stop", "halve", NULL};
static const char *const defaults_names[] = {"exact", "relaxed", NULL};
static const char *const laws[] = {"ccp", "fixed", "coulomb", NULL};
static const char *const impact_laws[] = {"simultaneous", "propagating", NULL};
static const char *const axes[] = {"x", "y", "z", NULL};
static const char *const size_kinds[] = {"uniform", "normal",        "lognormal", "weibull",
                                         "sieve",   "rosin-rammler", NULL};
static const char *const shares[] = {"number", "mass", NULL};

static const SceneType shape_kind = {.kind = SCENE_CHOICE, .choices = shape_kinds};
static const SceneType norm = {.kind = SCENE_CHOICE, .choices = norms};
static const SceneType miss = {.kind = SCENE_CHOICE, .choices = misses};
static const SceneType defaults = {.kind = SCENE_CHOICE, .choices = defaults_names};
static const SceneType law = {.kind = SCENE_CHOICE, .choices = laws};
static const SceneType impact_law = {.kind = SCENE_CHOICE, .choices = impact_laws};
static const SceneType axis = {.kind = SCENE_CHOICE, .choices = axes};
static const SceneType size_kind = {.kind = SCENE_CHOICE, .choices = size_kinds};
static const SceneType share = {.kind = SCENE_CHOICE, .choices = shares};

#define BIT(kind) (1u << TALUS_SHAPE_##kind)
INIT(init_scene, TalusScene, talus_world_def_default())
INIT(init_material, SceneMaterial, talus_material_def_default())
INIT(init_pair, ScenePair, talus_pair_def_default())
INIT(init_drive, SceneDrive, talus_drive_def_default())
INIT(init_emitter, SceneEmitter, talus_emitter_def_default())
INIT(init_size, SceneSize, talus_size_def_default())

/* ---- objects ---- */

#define STRUCT SceneSolver
static const SceneField solver_fields[] = {
    {"name", &text, AT(name), .preset = "\"auto\"",
     .help = "NAME or NAME:key=value,...; `talus list solvers` shows them"},
    {"tolerance", &not_negative, AT(tolerance), .preset = "0.01",
     .help = "velocity residual of a solved step, relative to the reference speed"},
    {"reference_speed", &not_negative, AT(reference_speed), .preset = "0",
     .help = "m/s; the reference speed is the larger of this and gravity times step"},
    {"norm", &norm, AT(norm), .preset = "\"rms\"", .help = "of the residual"},
    {"max_iterations", &counter, AT(max_iterations), .preset = "1000", .help = "budget of a step"},
    {"on_miss", &miss, AT(on_miss), .preset = "\"continue\"",
     .help = "what a step does that misses the tolerance"},
};
OBJECT(solver, "solver", .shorthand = "name");
#undef STRUCT

#define STRUCT SceneMaterial
static const SceneField material_fields[] = {
    {"friction", &not_negative, AT(def.friction), .preset = "0.3",
     .help = "coefficient; a pair has the smaller one unless `friction` names the pair"},
    {"density", &positive, AT(def.density), .preset = "1000",
     .help = "kg/m3, of bodies that give neither density nor mass"},
    {"stiffness", &not_negative, AT(def.stiffness), .preset = "0",
     .help = "N/m per contact; 0: none of its own, the scene's `compliance` holds"},
    {"damping", &not_negative, AT(def.damping), .preset = "0", .help = "N s/m per contact"},
    {"restitution", &fraction, AT(def.restitution), .preset = "0",
     .help = "Newton's, of contacts without stiffness of their own; of a pair the smaller one"},
    {"spinning", &not_negative, AT(def.spinning), .preset = "0",
     .help = "friction against turning about the normal; of a pair the smaller one"},
    {"rolling", &not_negative, AT(def.rolling), .preset = "0",
     .help = "friction against turning about a tangent; of a pair the smaller one"},
    {"cohesion", &not_negative, AT(def.cohesion), .preset = "0",
     .help = "N per contact in touch; of a pair the smaller one"},
};
OBJECT(material, "material", .init = init_material);
#undef STRUCT

#define STRUCT ScenePair
static const SceneField pair_fields[] = {
    {"between", &two_names, AT(between), .required = true, .help = "two names of materials"},
    {"mu", &not_negative, AT(def.friction), .help = "friction coefficient of the pair"},
    {"law", &law, AT(law), .help = "of friction; default the scene's"},
    {"section", &text, AT(section), .help = "of friction; default the scene's"},
    {"restitution", &fraction, AT(def.restitution), .help = "of the pair"},
    {"spinning", &not_negative, AT(def.spinning), .help = "of the pair"},
    {"rolling", &not_negative, AT(def.rolling), .help = "of the pair"},
    {"cohesion", &not_negative, AT(def.cohesion), .help = "of the pair, N per contact in touch"},
};
OBJECT(pair, "pair", .init = init_pair);
#undef STRUCT

#define SIZE(kind) (1u << TALUS_SIZES_##kind)
#define SIZE_ROSIN_RAMMLER (1u << SCENE_ROSIN_RAMMLER)

#define STRUCT SceneSize
static const SceneField size_fields[] = {
    {"kind", &size_kind, AT(kind), .preset = "\"uniform\"",
     .help =
         "of distribution; all but uniform and sieve are cut off at `min` and `max`, by default "
         "where a thousandth is smaller or larger"},
    {"by", &share, AT(by),
     .help =
         "what is distributed over size; default mass for sieve and rosin-rammler, else number"},
    {"mean", &positive, AT(def.mean),
     .help = "middle of a uniform range; mean of a normal distribution"},
    {"spread", &fraction, AT(spread), .needs = "mean",
     .help = "half width of the range over the mean, below 1; default 0"},
    {"median", &positive, AT(def.median), .only = SIZE(LOGNORMAL), .needed = SIZE(LOGNORMAL),
     .help = "of which half is smaller"},
    {"deviation", &positive, AT(def.deviation), .only = SIZE(NORMAL) | SIZE(LOGNORMAL),
     .needed = SIZE(NORMAL) | SIZE(LOGNORMAL),
     .help = "standard deviation, of a lognormal distribution that of ln(size)"},
    {"scale", &positive, AT(def.scale), .only = SIZE(WEIBULL) | SIZE_ROSIN_RAMMLER,
     .needed = SIZE(WEIBULL) | SIZE_ROSIN_RAMMLER, .help = "of which 63.2 % is smaller"},
    {"exponent", &positive, AT(def.exponent), .only = SIZE(WEIBULL) | SIZE_ROSIN_RAMMLER,
     .needed = SIZE(WEIBULL) | SIZE_ROSIN_RAMMLER,
     .help = "n in exp(-(size/scale)^n), the share that is larger"},
    {"sieve", &sieve, AT(sieve), .only = SIZE(SIEVE), .needed = SIZE(SIEVE),
     .help = "points [size, share that is smaller], ascending, shares from 0 to 1"},
    {"min", &positive, AT(def.min), .help = "smallest"},
    {"max", &positive, AT(def.max), .help = "largest"},
};
OBJECT(size, "size", .init = init_size, .selector = "kind", .shorthand = "mean");
#undef STRUCT

static const SceneType parts;

#define BIT_ROCK (1u << SCENE_ROCK)
#define ROUND (BIT(CYLINDER) | BIT(CAPSULE) | BIT(CONE))
#define SOLID (ROUND | BIT(BOX) | BIT(ELLIPSOID) | BIT(HULL) | BIT(COMPOUND) | BIT_ROCK)

#define STRUCT SceneShape
static const SceneField shape_fields[] = {
    {"name", &text, AT(name), .one_of = "definition", .help = "a shape of `shapes`"},
    {"kind", &shape_kind, AT(kind), .one_of = "definition",
     .help = "plane, revolve, mesh and field are for fixed bodies"},
    {"half", &extents, AT(def.half), .only = BIT(BOX) | BIT(ELLIPSOID),
     .needed = BIT(BOX) | BIT(ELLIPSOID),
     .help = "half extents of a box, semi-axes of an ellipsoid"},
    {"radius", &positive, AT(def.radius), .only = BIT(SPHERE) | ROUND | BIT_ROCK,
     .needed = ROUND | BIT_ROCK,
     .help =
         "of a cylinder, capsule or cone; of a sphere unless the body gives one; mean one of a rock"},
    {"half_height", &positive, AT(def.half_height), .only = ROUND, .needed = ROUND,
     .help = "of a cylinder or cone, along its z axis; of a capsule without its ends"},
    {"profile", &profile, AT(profile), .only = BIT(REVOLVE), .needed = BIT(REVOLVE),
     .help = "points [radius, height] of the wall, turned about z"},
    {"points", &corners, AT(points), .only = BIT(HULL), .one_of = "?source",
     .help = "of a hull: those within it do not matter"},
    {"parts", &parts, AT(parts), .only = BIT(COMPOUND), .needed = BIT(COMPOUND),
     .help = "of a compound; where parts overlap their mass counts twice"},
    {"heights", &grid, AT(heights), .only = BIT(FIELD), .one_of = "?source",
     .help = "of a field: rows along x, the first of them at the lowest y"},
    {"file", &text, AT(file), .only = BIT(HULL) | BIT(MESH) | BIT(FIELD), .needed = BIT(MESH),
     .one_of = "?source",
     .help =
         "beside the scene: an STL or OBJ file of a hull or mesh; a text file of a field, a row a line"},
    {"scale", &size, AT(scale), .only = SOLID | BIT(MESH) | BIT(FIELD),
     .help =
         "of all lengths, of a field of its heights; default 1; a distribution gives bodies different sizes"},
    {"spacing", &positive, AT(def.spacing), .only = BIT(FIELD), .needed = BIT(FIELD),
     .help = "between neighbouring heights of a field, centred on the origin"},
    {"corners", &corner_count, AT(corners), .only = BIT_ROCK,
     .help = "of a rock: points drawn on an ellipsoid, whose hull it is; default 20"},
    {"spread", &fraction, AT(spread), .only = BIT_ROCK,
     .help =
         "of a rock: its three semi-axes differ from the radius by up to this share; default 0.3"},
    {"forms", &form_count, AT(forms), .only = SOLID,
     .help =
         "different rocks, and sizes of `scale`, of which each body has one at random; default 1, of a "
         "distribution of scales 16"},
    {"seed", &natural, AT(seed), .only = BIT_ROCK, .help = "of a rock's forms; default 1"},
};
OBJECT(shape, "shape", .selector = "kind", .shorthand = "name");
#undef STRUCT

#define STRUCT SceneOrientation
static const SceneField orientation_fields[] = {
    {"quaternion", &quaternion, AT(quaternion), .one_of = "rotation",
     .help = "[w, x, y, z], normalised on reading"},
    {"axis", &vector, AT(axis), .one_of = "rotation", .needs = "degrees", .help = "of rotation"},
    {"degrees", &any_real, AT(degrees), .needs = "axis", .help = "angle about the axis"},
    {"random", &flag, AT(random), .one_of = "rotation",
     .help = "true: each body its own, all directions alike"},
};
OBJECT(orientation, "orientation", .shorthand = "quaternion", .word = "random");
#undef STRUCT

#define STRUCT ScenePart
static const SceneField part_fields[] = {
    {"shape", &shape, AT(shape), .required = true,
     .help =
         "a name of `shapes`, or a shape: sphere, box, cylinder, capsule, cone, ellipsoid or hull"},
    {"at", &vector, AT(at), .preset = "[0, 0, 0]", .help = "of its origin in the compound"},
    {"orientation", &orientation, AT(orientation), .help = "in the compound"},
};
OBJECT(part, "part", .shorthand = NULL);
static const SceneType parts = {.kind = SCENE_LIST, .item = &part, .min_count = 1};
#undef STRUCT

#define STRUCT SceneSpecies
static const SceneField species_fields[] = {
    {"fraction", &part_of_one, AT(fraction), .required = true,
     .help = "of the bodies, by mass or number; all fractions add up to 1"},
    {"shape", &shape, AT(shape), .preset = "{\"kind\": \"sphere\"}",
     .help = "a name of `shapes`, or a shape; of an emitter a sphere"},
    {"radius", &size, AT(radius), .help = "of spheres: a number or a distribution"},
    {"material", &text, AT(material), .help = "default the entry's"},
    {"density", &positive, AT(density), .help = "kg/m3; default the entry's or the material's"},
    {"tag", &small_integer, AT(tag), .help = "default the entry's"},
};
OBJECT(species, "species", .shorthand = NULL);
static const SceneType species_list = {.kind = SCENE_LIST, .item = &species, .min_count = 1};
#undef STRUCT

#define STRUCT SceneLattice
static const SceneField lattice_fields[] = {
    {"lo", &vector, AT(lo), .preset = "[0, 0, 0]", .help = "corner of the first cell"},
    {"hi", &vector, AT(hi), .one_of = "extent", .help = "opposite corner of the region"},
    {"cells", &cells, AT(cells), .one_of = "extent",
     .help = "cells along x, y and z; 0 for z: as many as `count` needs"},
    {"spacing", &steps, AT(spacing),
     .help = "size of a cell, at least a body's; default 1.1 times that"},
    {"jitter", &fraction, AT(jitter), .preset = "0",
     .help = "random shift, as a share of the room in the cell; never makes an overlap"},
};
OBJECT(lattice, "lattice", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneLayers
static const SceneField layers_fields[] = {
    {"bottom", &vector, AT(bottom), .preset = "[0, 0, 0]", .help = "middle of the region's base"},
    {"radius", &positive, AT(radius), .one_of = "extent",
     .help = "of a round region: each layer is a set of circles"},
    {"half", &extents2, AT(half), .one_of = "extent",
     .help = "half extents of a square region: each layer is a grid"},
    {"spacing", &positive, AT(spacing),
     .help = "between neighbours of a layer, at least a body's size; default 1.1 times that"},
    {"rise", &positive, AT(rise),
     .help =
         "m, from a layer to the next, at least a body's height; default 1.1 times that, or `spacing` "
         "if larger"},
    {"jitter", &fraction, AT(jitter), .preset = "0",
     .help = "random shift, as a share of the room between neighbours"},
    {"repeat", &counter, AT(repeat), .help = "number of layers; default as many as `count` needs"},
};
OBJECT(layers, "layers", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneFill
static const SceneField fill_fields[] = {
    {"lo", &vector, AT(lo), .needs = "hi", .help = "corner of a box"},
    {"hi", &vector, AT(hi), .one_of = "extent", .needs = "lo", .help = "opposite corner"},
    {"bottom", &vector, AT(bottom), .needs = "radius",
     .help = "middle of an upright cylinder's base; default the origin"},
    {"radius", &positive, AT(radius), .one_of = "extent", .needs = "height",
     .help = "of the cylinder"},
    {"height", &positive, AT(height), .needs = "radius", .help = "of the cylinder"},
};
OBJECT(fill, "fill", .shorthand = NULL);
#undef STRUCT

#define STRUCT ScenePeriod
static const SceneField period_fields[] = {
    {"x", &interval, AT(x), .help = "from and to: what leaves on one side enters on the other"},
    {"y", &interval, AT(y), .help = "the same along y"},
    {"z", &interval, AT(z), .help = "the same along z"},
};
OBJECT(period, "period", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneCellRate
static const SceneField cell_rate_fields[] = {
    {"xx", &any_real, AT(xx), .preset = "0", .help = "1/s, of stretching along x, over the length"},
    {"yy", &any_real, AT(yy), .preset = "0", .help = "the same along y"},
    {"zz", &any_real, AT(zz), .preset = "0", .help = "the same along z"},
    {"xy", &any_real, AT(xy), .preset = "0",
     .help = "1/s, of simple shear: velocity along x over position along y"},
};
OBJECT(cell_rate, "cell-rate", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneCellPressure
static const SceneField cell_pressure_fields[] = {
    {"x", &positive, AT(x),
     .help = "Pa, of contacts and motion along x, which the cell reaches and keeps"},
    {"y", &positive, AT(y), .help = "the same along y"},
    {"z", &positive, AT(z), .help = "the same along z"},
};
OBJECT(cell_pressure, "cell-pressure", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneCell
static const SceneField cell_fields[] = {
    {"rate", &cell_rate, AT(rate), .help = "the velocity gradient; default 0"},
    {"pressure", &cell_pressure, AT(pressure),
     .help = "of axes whose rate follows the pressure; default none"},
};
OBJECT(cell, "cell", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneSleep
static const SceneField sleep_fields[] = {
    {"speed", &positive, AT(speed), .required = true,
     .help = "bodies slower than this, in units of the reference speed, may fall asleep"},
    {"steps", &counter, AT(steps), .preset = "100", .help = "for so many steps"},
};
OBJECT(sleep, "sleep", .shorthand = "speed");
#undef STRUCT

#define STRUCT SceneApart
static const SceneField apart_fields[] = {
    {"between", &two_names, AT(between), .required = true,
     .help = "two groups, or one twice: bodies of the first pass through those of the second"},
};
OBJECT(apart, "apart", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneDrive
static const SceneField drive_fields[] = {
    {"velocity", &vector, AT(def.velocity), .preset = "[0, 0, 0]", .help = "m/s"},
    {"acceleration", &vector, AT(def.acceleration), .preset = "[0, 0, 0]",
     .help = "m/s2, by which the velocity grows from the start on"},
    {"displacements", &timed_list, AT(displacements), .one_of = "?table",
     .help = "rows [time, x, y, z], s and m from where the body is placed, ascending, linear in "
             "between; beside the velocity, whatever start and stop"},
    {"velocities", &timed_list, AT(velocities), .one_of = "?table",
     .help = "rows [time, x, y, z], s and m/s, the same; 0 before the first and after the last"},
    {"amplitude", &vector, AT(def.amplitude), .preset = "[0, 0, 0]",
     .help = "m, of a sine beside the velocity"},
    {"frequency", &not_negative, AT(def.frequency), .preset = "0", .help = "of the sine, 1/s"},
    {"phase", &any_real, AT(def.phase), .preset = "0",
     .help = "of the sine at the start, in turns; the body starts where it is placed"},
    {"spin", &vector, AT(def.spin), .preset = "[0, 0, 0]",
     .help = "rad/s, angular velocity about an axis of constant direction through `point`"},
    {"spin_acceleration", &vector, AT(def.spin_acceleration), .preset = "[0, 0, 0]",
     .help = "rad/s2, along the axis of `spin`, by which the spin grows from the start on"},
    {"point", &vector, AT(def.point),
     .help = "m, where the axis of `spin` is at the start; default the body's centre"},
    {"start", &not_negative, AT(def.start), .preset = "0", .help = "s"},
    {"stop", &not_negative, AT(def.stop), .help = "s; default never"},
};
OBJECT(drive, "drive", .init = init_drive);
#undef STRUCT
static const SceneType drives = {.kind = SCENE_LIST, .item = &drive, .min_count = 1};

#define STRUCT SceneBody
static const SceneField body_fields[] = {
    {"name", &text, AT(name), .help = "for probes, messages and --set bodies[name].key=value"},
    {"shape", &shape, AT(shape), .preset = "{\"kind\": \"sphere\"}", .one_of = "?form",
     .help = "a name of `shapes`, or a shape"},
    {"shapes", &names, AT(shapes), .one_of = "?form",
     .help = "names of `shapes`, of which each body has one at random"},
    {"species", &species_list, AT(species), .one_of = "?form",
     .help = "sorts of bodies, of which each body is one at random, by their fractions"},
    {"by", &share, AT(by), .preset = "\"mass\"",
     .help = "what the fractions of `species` are fractions of"},
    {"radius", &size, AT(radius), .help = "of spheres: a number or a distribution"},
    {"material", &text, AT(material), .help = "a name of `materials`; default the first of them"},
    {"density", &positive, AT(density), .one_of = "?weight",
     .help = "kg/m3; default the material's"},
    {"mass", &positive, AT(mass), .one_of = "?weight", .help = "kg, of each body"},
    {"inertia", &inertia, AT(inertia), .needs = "mass",
     .help =
         "kg m2, about the centre of mass, in the axes of the shape: principal moments [x, y, z], or "
         "the tensor [xx, yy, zz, xy, xz, yz], whose xy is minus the integral of x y; default of a "
         "uniform body"},
    {"drive", &drive, AT(drive), .one_of = "?motion",
     .help = "how a fixed body moves, whatever it meets"},
    {"drives", &drives, AT(drives), .one_of = "?motion",
     .help = "several motions, of which each moves what the ones before it have moved"},
    {"servo", &talus_scene_servo, AT(servo),
     .help = "pushes a free body along an axis: docs/how-to/load.md"},
    {"force", &vector, AT(force), .preset = "[0, 0, 0]",
     .help = "N, on each body through its centre, world frame"},
    {"torque", &vector, AT(torque), .preset = "[0, 0, 0]", .help = "N m, the same"},
    {"group", &text, AT(group), .help = "a name for `apart`"},
    {"fixed", &flag, AT(fixed),
     .help = "cannot move; default true for plane, revolve, mesh and field only"},
    {"at", &points, AT(at), .one_of = "placement",
     .help = "one point or a list of points: where the shape's origin is"},
    {"lattice", &lattice, AT(lattice), .one_of = "placement", .help = "a regular grid, x fastest"},
    {"layers", &layers, AT(layers), .one_of = "placement", .help = "layers of circles or squares"},
    {"fill", &fill, AT(fill), .one_of = "placement",
     .help = "random places in a region without overlap, by the balls around the bodies"},
    {"file", &text, AT(file), .one_of = "placement",
     .help = "text file of lines x y z [radius], beside the scene"},
    {"earlier", &integer, AT(earlier), .one_of = "placement",
     .help =
         "no new bodies: those of the run in `from` that have this tag; the entry names them and gives "
         "group, servo and drive"},
    {"count", &counter, AT(count),
     .help =
         "how many bodies; default all places of a lattice, of layers with `repeat`, of a file"},
    {"avoid", &flag, AT(avoid), .preset = "false",
     .help =
         "true: places that overlap bodies which are there, of entries before or of `from`, are left out; "
         "bodies of a fill go elsewhere"},
    {"seed", &natural, AT(seed), .preset = "1", .help = "of jitter, fill, sizes, forms and turns"},
    {"velocity", &vector, AT(velocity), .preset = "[0, 0, 0]", .help = "m/s"},
    {"spin", &vector, AT(spin), .preset = "[0, 0, 0]",
     .help = "rad/s, initial angular velocity, world frame"},
    {"orientation", &orientation, AT(orientation), .one_of = "?turn",
     .help = "a quaternion [w, x, y, z], a rotation or \"random\""},
    {"normal", &vector, AT(normal), .one_of = "?turn",
     .help = "where the shape's z axis points: out of the ground for a plane"},
    {"time", &not_negative, AT(time), .preset = "0", .help = "s, when the bodies arrive"},
    {"tag", &integer, AT(tag), .preset = "0", .help = "a number of yours, written with the frames"},
};
OBJECT(body, "body", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneEmitter
static const SceneField emitter_fields[] = {
    {"lo", &vector, AT(def.lo), .required = true, .help = "corner of the box where spheres appear"},
    {"hi", &vector, AT(def.hi), .required = true, .help = "opposite corner"},
    {"rate", &positive, AT(def.rate), .required = true, .help = "bodies per second"},
    {"count", &counter, AT(def.count), .required = true, .help = "bodies in all"},
    {"radius", &size, AT(radius), .one_of = "sizes", .help = "a number or a distribution"},
    {"species", &species_list, AT(species), .one_of = "sizes",
     .help = "sorts of spheres, each emitted at its part of the rate"},
    {"by", &share, AT(by), .preset = "\"mass\"",
     .help = "what the fractions of `species` are fractions of"},
    {"start", &not_negative, AT(def.start), .preset = "0", .help = "s"},
    {"velocity", &vector, AT(def.velocity), .preset = "[0, 0, 0]", .help = "m/s"},
    {"material", &text, AT(material), .help = "a name of `materials`; default the first of them"},
    {"density", &positive, AT(def.density), .help = "kg/m3; default the material's"},
    {"seed", &natural, AT(def.seed), .preset = "1", .help = "of places and sizes"},
    {"group", &text, AT(group), .help = "a name for `apart`"},
    {"tag", &small_integer, AT(def.tag), .preset = "0", .help = "a number of yours"},
};
OBJECT(emitter, "emitter", .init = init_emitter);
#undef STRUCT

#define STRUCT SceneSink
static const SceneField sink_fields[] = {
    {"name", &text, AT(name),
     .help = "its name in flows.csv; default \"sink\" and its number, from 0"},
    {"axis", &axis, AT(axis), .preset = "\"z\"", .help = "coordinate that is compared"},
    {"below", &any_real, AT(below), .required = true,
     .help = "bodies whose centre passes below are removed"},
};
OBJECT(sink, "sink", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneBox
static const SceneField box_fields[] = {
    {"lo", &vector, AT(lo), .required = true, .help = "corner"},
    {"hi", &vector, AT(hi), .required = true, .help = "opposite corner"},
};
OBJECT(box, "region", .shorthand = NULL);
#undef STRUCT

#define STRUCT ScenePlane
static const SceneField plane_fields[] = {
    {"at", &vector, AT(at), .required = true,
     .help = "a point of the plane, the middle of the disc or rectangle"},
    {"normal", &vector, AT(normal), .preset = "[0, 0, 1]",
     .help = "bodies that cross along it count 1, against it -1"},
    {"radius", &not_negative, AT(radius), .preset = "0",
     .help = "of the disc around `at`; 0: no limit"},
    {"half", &limits, AT(half), .preset = "[0, 0, 0]",
     .help =
         "half extents of a box around `at` that holds what counts of the plane; 0: no limit along this axis"},
};
OBJECT(plane, "plane", .shorthand = NULL);
#undef STRUCT

#define STRUCT SceneProbe
static const SceneType probe_cells = {
    .kind = SCENE_REALS, .length = 3, .min = 1, .max = 1e6, .whole = true};
static const SceneField probe_fields[] = {
    {"name", &text, AT(name), .required = true,
     .help = "its name in probes.csv, of a plane flows.csv, of fields fields-NAME.csv"},
    {"body", &text, AT(body), .one_of = "target", .help = "name of an entry with one body"},
    {"region", &box, AT(region), .one_of = "target", .help = "bodies whose centres lie in the box"},
    {"plane", &plane, AT(plane), .one_of = "target",
     .help = "number and mass of the free bodies whose centres cross it"},
    {"field", &names, AT(field),
     .help =
         "measures these fields in the region, in place of forces: names as for talus measure, or [\"bulk\"]"},
    {"grid", &probe_cells, AT(grid), .preset = "[1, 1, 1]",
     .help = "of fields: numbers of cells of the region"},
    {"width", &positive, AT(width),
     .help = "of fields: half width of the kernel, m; needed, except for bulk"},
    {"every", &not_negative, AT(every), .preset = "0",
     .help = "of fields: s between rows; 0: a row after each step"},
    {"tag", &integer, AT(tag),
     .help =
         "of fields: bodies of this tag flow, all others are boundary; default all that are not fixed"},
};
OBJECT(probe, "probe", .shorthand = NULL);
#undef STRUCT

/* ---- the scene ---- */

static const SceneType params = {.kind = SCENE_PARAMS, .item = &any_real};
static const SceneType materials = {.kind = SCENE_MAP, .item = &material};
static const SceneType shapes = {.kind = SCENE_MAP, .item = &shape};
static const SceneType pairs = {.kind = SCENE_LIST, .item = &pair};
static const SceneType aparts = {.kind = SCENE_LIST, .item = &apart};
static const SceneType bodies = {.kind = SCENE_LIST, .item = &body};
static const SceneType emitters = {.kind = SCENE_LIST, .item = &emitter};
static const SceneType sinks = {.kind = SCENE_LIST, .item = &sink};
static const SceneType probes = {.kind = SCENE_LIST, .item = &probe};

#define STRUCT SceneCopies
static const SceneType copy_count = {.kind = SCENE_INT, .min = 1, .max = TALUS_COPIES};
static const SceneField copies_fields[] = {
    {"count", &copy_count, AT(count), .required = true, .help = "number of copies"},
    {"spacing", &extents2, AT(spacing),
     .help = "m, along x and y, between copies; default 1.25 times the extent of the bodies"},
};
OBJECT(copies, "copies", .shorthand = "count");
#undef STRUCT

#define STRUCT SceneFrom
static const SceneField from_fields[] = {
    {"run", &text, AT(run), .required = true,
     .help =
         "directory of the run, beside the scene; DIR@TIME: its newest checkpoint or exact frame at or before that time"},
    {"time", &not_negative, AT(time),
     .help = "s, the same as @TIME; default the newest checkpoint"},
    {"fixed", &flag, AT(fixed), .preset = "true",
     .help = "false: walls and other fixed or driven bodies stay behind"},
};
OBJECT(from, "from", .shorthand = "run");
#undef STRUCT

/* `params` must be first: keys are read in the order of this table, and expressions of later keys use the
 * parameters. */
#define STRUCT TalusScene
static const SceneField scene_fields[] = {
    {"params", &params, AT(params), .preset = "{}",
     .help = "named numbers for expressions and --set; may use the ones before"},
    {"copies", &copies, AT(copies),
     .help =
         "how many copies of the scene are run in one world, side by side, without meeting each other; "
         "expressions may use their number `copy`, from 0: docs/how-to/run.md"},
    {"$schema", &text, AT(schema), .help = "for editors: \"schema.json\""},
    {"title", &text, AT(title), .preset = "\"\"", .help = "one line"},
    {"description", &text, AT(description), .preset = "\"\"", .help = "what to look at"},
    {"from", &from, AT(from),
     .help =
         "an earlier run with whose bodies the scene begins, at time 0; those of `bodies` are added"},
    {"seed", &natural, AT(seed), .preset = "0",
     .help =
         "shifts every random choice of the scene, beside the seeds of its parts: another sample of the "
         "same; 0: no shift"},
    {"gravity", &acceleration, AT(def.gravity), .preset = "[0, 0, -9.81]", .help = "m/s2"},
    {"step", &positive, AT(def.step), .preset = "0.005", .help = "h, s"},
    {"until", &not_negative, AT(until), .preset = "10",
     .help = "s to simulate; the last step is shortened to end there"},
    {"every", &positive, AT(every), .help = "s between frames; default until/100"},
    {"solver", &solver, AT(solver), .preset = "{}", .help = "a solver's name, or settings"},
    {"envelope", &not_negative, AT(def.envelope), .preset = "0.02",
     .help = "contacts are kept up to this fraction of the smaller size beyond touch"},
    {"recovery", &not_negative, AT(def.recovery), .preset = "0.2",
     .help = "overlap is undone at most this fast, in units of sqrt(gravity size); 0: no limit"},
    {"defaults", &defaults, AT(defaults), .preset = "\"exact\"",
     .help =
         "of `law` and `compliance` where they are not given; exact: coulomb, and compliance by "
         "its rule; relaxed: ccp and 0, rigid contacts"},
    {"compliance", &not_negative, AT(def.compliance),
     .help =
         "of contacts without material stiffness, over their inverse mass N_nn: a body at rest sinks by "
         "`compliance` gravity step^2; 0: rigid; default 0.01, below a tolerance of 1e-3 10 times the "
         "tolerance, and 0 while masses differ by more than a factor of 1e6; under relaxed `defaults` 0"},
    {"elastic_overlap", &elastic_share, AT(def.elastic_overlap), .preset = "0.02",
     .help =
         "deepest overlap that `compliance` causes, over the smaller size: contacts harden with load"},
    {"max_overlap", &not_negative, AT(max_overlap), .preset = "0.5",
     .help =
         "deepest overlap of two bodies at the start, or of those that arrive, over the radius or least "
         "half width of the smaller; deeper ones are refused"},
    {"law", &law, AT(law),
     .help =
         "of friction: convex relaxation, bounds from an estimate, or exact; default coulomb, under "
         "relaxed `defaults` ccp"},
    {"section", &text, AT(section), .preset = "\"disc\"",
     .help = "of friction: \"disc\", \"square\", \"polygon:8\" (3 to 64 sides) or \"none\""},
    {"restitution_threshold", &not_negative, AT(def.restitution_threshold), .preset = "2",
     .help = "contacts that close more slowly do not rebound, in units of gravity times step"},
    {"impacts", &impact_law, AT(def.impacts), .preset = "\"simultaneous\"",
     .help =
         "how contacts with restitution rebound that close in one step: all at once, or one after "
         "the other, as in a row of touching balls"},
    {"cohesion_range", &not_negative, AT(def.cohesion_range), .preset = "0.01",
     .help = "cohesion acts up to this fraction of the smaller size beyond touch"},
    {"period", &period, AT(period), .help = "where space repeats itself"},
    {"cell", &cell, AT(cell), .needs = "period",
     .help = "the periods are a cell that deforms; without gravity and fixed bodies"},
    {"sleep", &sleep, AT(sleep), .help = "settled bodies are left out of the steps; default none"},
    {"apart", &aparts, AT(apart), .preset = "[]", .help = "groups of bodies that do not meet"},
    {"backend", &text, AT(def.backend), .preset = "\"cpu\"", .help = "`talus list backends`"},
    {"threads", &small_natural, AT(def.threads), .preset = "0",
     .help =
         "0: one per processor that the process may use, by its affinity (`taskset`) and the quota of its container"},
    {"materials", &materials, AT(materials), .preset = "{}", .help = "by name"},
    {"friction", &pairs, AT(friction), .preset = "[]",
     .help = "what pairs of materials do together"},
    {"shapes", &shapes, AT(shapes), .preset = "{}", .help = "by name"},
    {"bodies", &bodies, AT(bodies), .required = true,
     .help = "entries, each of one or many bodies"},
    {"joints", &talus_scene_joints, AT(joints), .preset = "[]",
     .help = "between bodies, or a body and the world: docs/how-to/joints.md"},
    {"projection", &flag, AT(def.projection), .preset = "true",
     .help = "joints are closed after each step; else they drift apart"},
    {"dissipation", &flag, AT(def.dissipation), .preset = "false",
     .help = "the energy that contacts dissipate is summed body by body: docs/how-to/measure.md"},
    {"emitters", &emitters, AT(emitters), .preset = "[]", .help = "spheres that arrive over time"},
    {"sinks", &sinks, AT(sinks), .preset = "[]",
     .help = "where bodies are removed, and counted in flows.csv"},
    {"probes", &probes, AT(probes), .preset = "[]", .help = "forces and flows as time series"},
};

const SceneType talus_scene_type = {.kind = SCENE_OBJECT,
                                    .name = "scene",
                                    .fields = scene_fields,
                                    .field_count = COUNT(scene_fields),
                                    .size = sizeof(TalusScene),
                                    .init = init_scene};

/* ---- queries ---- */

const SceneField *talus_scene_find_field(const SceneType *object, const char *key)
{
    for (int i = 0; i < object->field_count; i++)
        if (strcmp(object->fields[i].key, key) == 0)
            return &object->fields[i];
    return NULL;
}

const char *talus_scene_suggest_key(const SceneType *object, const char *key, char *out,
                                    size_t size)
{
    const char *names[64];
    int n = object->field_count < 64 ? object->field_count : 64;
    for (int i = 0; i < n; i++)
        names[i] = object->fields[i].key;
    const char *near = talus_nearest_name(key, names, n);
    out[0] = '\0';
    if (near)
        snprintf(out, size, "; did you mean '%s'?", near);
    return out;
}

/* Writes the bounds of a number: " from 0 to 1", " above 0, at most 1", " above 0"; "" if it has no bound below
 * TALUS_SCENE_LARGEST. */
static void write_range(const SceneType *type, char *out, size_t size)
{
    bool bounded = type->max > 0 && type->max < LARGEST;
    if (type->min == 0 && type->max == 0)
        snprintf(out, size, "%s", "");
    else if (bounded && type->above)
        snprintf(out, size, " above %g, at most %g", type->min, type->max);
    else if (bounded)
        snprintf(out, size, " from %g to %g", type->min, type->max);
    else if (type->min > -LARGEST)
        snprintf(out, size, " %s %g", type->above ? "above" : "of at least", type->min);
    else
        snprintf(out, size, "%s", "");
}

/* Writes: one of "a", "b" */
static void write_choices(const SceneType *type, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "one of");
    for (int i = 0; type->choices[i] && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s \"%s\"", i ? "," : "", type->choices[i]);
}

/* Writes what a list accepts: "an array of 2 to 4 numbers". */
static void write_list(const SceneType *type, char *out, size_t size)
{
    static const char *const plural[] = {"numbers", "numbers", "flags",  "strings", "strings",
                                         "arrays",  "objects", "arrays", "objects", "objects"};
    const char *items = type->item->kind == SCENE_REALS ? "points" : plural[type->item->kind];
    if (type->max_count > type->min_count)
        snprintf(out, size, "an array of %d to %d %s", type->min_count, type->max_count, items);
    else if (type->max_count)
        snprintf(out, size, "an array of %d %s", type->max_count, items);
    else if (type->min_count > 1)
        snprintf(out, size, "an array of %d or more %s", type->min_count, items);
    else
        snprintf(out, size, "%san array of %s", type->or_one ? "a point or " : "", items);
}

void talus_scene_describe_type(const SceneType *type, char *out, size_t size)
{
    char range[64];
    write_range(type, range, sizeof range);
    switch (type->kind) {
    case SCENE_REAL: snprintf(out, size, "a number%s", range); break;
    case SCENE_INT: snprintf(out, size, "a whole number%s", range); break;
    case SCENE_FLAG: snprintf(out, size, "true or false"); break;
    case SCENE_TEXT: snprintf(out, size, "a string"); break;
    case SCENE_CHOICE: write_choices(type, out, size); break;
    case SCENE_REALS:
        snprintf(out, size, "%san array of %d %snumbers%s", type->or_one ? "a number or " : "",
                 type->length, type->whole ? "whole " : "", range);
        break;
    case SCENE_LIST: write_list(type, out, size); break;
    case SCENE_OBJECT:
    case SCENE_MAP:
    case SCENE_PARAMS: snprintf(out, size, "an object"); break;
    }
    if (type->kind == SCENE_OBJECT && type->shorthand) {
        char one[96];
        talus_scene_describe_type(talus_scene_find_field(type, type->shorthand)->type, one,
                                  sizeof one);
        if (type->word)
            snprintf(out, size, "%s, \"%s\" or an object", one, type->word);
        else
            snprintf(out, size, "%s or an object", one);
    }
}
