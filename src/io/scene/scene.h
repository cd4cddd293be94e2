/* io/scene/scene.h - scene files: the table that describes the format, and the structs that it is read into.
 *
 * One table (scene_table.c; keys of joints: scene_joint.c) holds every key with its type, range, default and help. The
 * reader (scene_read.c), --set (scene_set.c), the JSON Schema and the reference in docs/reference/scenes.md
 * (tests/scene_schema.h) all use it; a key that is not in the table is an error.
 *
 *     text -> JSON tree -> overrides on the tree -> structs below -> checks -> world            */
#ifndef TALUS_IO_SCENE_SCENE_H
#define TALUS_IO_SCENE_SCENE_H

#include "io/text/expr.h"
#include "io/text/json.h"
#include "world/source/generate.h"
#include "world/source/sizes.h"

#include <talus/io.h>
#include <talus/shape.h>

/* ---- the description of the format ---- */

/* Kinds of values, with the C type of the member that a value is read into. */
typedef enum SceneKind {
    SCENE_REAL,   /* double */
    SCENE_INT,    /* int64_t, or int where `narrow` */
    SCENE_FLAG,   /* bool */
    SCENE_TEXT,   /* const char * */
    SCENE_CHOICE, /* int, index into `choices` */
    SCENE_REALS,  /* double[length] */
    SCENE_OBJECT, /* pointer to a struct of `size` bytes that starts with its TalusJson pointer */
    SCENE_LIST,   /* SceneList of items of type `item` */
    SCENE_MAP,    /* SceneList of objects under names of the user's choice */
    SCENE_PARAMS  /* SceneList of double under names of the user's choice */
} SceneKind;

typedef struct SceneType SceneType;

/* A key of an object type. */
typedef struct SceneField {
    const char *key;
    const SceneType *type;
    size_t offset;      /* offset of the member in the struct of the object, bytes */
    const char *preset; /* default as JSON; NULL: the member stays as SceneType.init left it */
    bool required;
    unsigned only;      /* bits 1 << i: choices i of the selector that allow the key; 0: all */
    unsigned needed;    /* bits 1 << i: choices i of the selector that require the key */
    const char *one_of; /* group of keys of which exactly one is given; "?...": at most one */
    const char *needs;  /* another key that must be given if this one is */
    const char *help;
} SceneField;

/* What a value may be. Members whose comments begin with kinds in capitals are for these kinds only. */
struct SceneType {
    SceneKind kind;
    const char *name; /* name of an object type: "body" */
    double min, max;  /* bounds of a number; both 0: unbounded */
    bool above;       /* a number must exceed min; false: min is allowed */
    bool whole;       /* REALS: integers only */
    bool narrow;      /* INT: stored as int */
    bool or_one;      /* REALS: one number may stand for all; LIST of arrays: one item for a list */
    int length;       /* REALS: count of numbers */
    int min_count, max_count;   /* LIST: number of items; max_count 0: any */
    const char *const *choices; /* CHOICE: its words, NULL-terminated */
    const SceneType *item;      /* LIST, MAP, PARAMS: type of an item */
    const SceneField *fields;   /* OBJECT: its keys */
    int field_count;
    size_t size;                   /* OBJECT: bytes of its struct */
    void (*init)(void *structure); /* OBJECT: sets defaults in the zeroed struct; NULL: none */
    const char *selector;          /* OBJECT: the CHOICE key that `only` and `needed` refer to */
    const char *shorthand;         /* OBJECT: a key K; a value V without braces means {K: V} */
    const char *word;              /* OBJECT: a FLAG key K; the string K means {K: true} */
};

/* Bounds of this absolute value or more are not part of what talus_scene_describe_type writes; only the message about a
 * number beyond such a bound names the bound. */
#define TALUS_SCENE_LARGEST 2147483647.0

extern const SceneType talus_scene_type; /* type of a whole scene */

/* Returns the field of an object type that has this key, or NULL. */
const SceneField *talus_scene_find_field(const SceneType *object, const char *key);
/* Writes "; did you mean 'radius'?" for an unknown key, or "" if no key is similar. Returns `text`. */
const char *talus_scene_suggest_key(const SceneType *object, const char *key, char *text,
                                    size_t size);
/* Returns three numbers as a vector. */
static inline TalusVec3 scene_vec3(const double *v)
{
    return talus_vec3(v[0], v[1], v[2]);
}

/* Writes what a type accepts, for messages and the reference: "a number above 0", "an array of 3 numbers". */
void talus_scene_describe_type(const SceneType *type, char *text, size_t size);

/* ---- content of a scene ---- */

/* The reader stores each object of the file in one of these structs. Members have the names and units of their keys
 * (docs/reference/scenes.md); `json` is the object, or the value that stands for it, to locate errors and to tell
 * which keys were given. If a key is not given and has no default, its member is 0, NULL or an empty list; a member of
 * `def` has the library's default. */

/* A list in the arena of the scene; the type of its items is noted at each member. */
typedef struct SceneList {
    void *items;
    int count;
} SceneList;

typedef struct SceneSolver {
    const TalusJson *json;
    const char *name;
    double tolerance, reference_speed;
    int norm, on_miss;
    int64_t max_iterations;
} SceneSolver;

typedef struct SceneMaterial {
    const TalusJson *json;
    TalusMaterialDef def;
} SceneMaterial;

typedef struct ScenePair {
    const TalusJson *json;
    SceneList between; /* items: const char *, names of two materials */
    TalusPairDef def;  /* all but `model` and `own_model` */
    int law;
    const char *section;
} ScenePair;

typedef struct SceneShape {
    const TalusJson *json;
    const char *name; /* name of a shape in `shapes`, all members below are 0; NULL: defined here */
    int kind;         /* TalusShapeKind or SCENE_ROCK */
    TalusShapeDef def; /* half, lengths and spacing; the rest is 0 */
    SceneList profile; /* items: double[2] */
    SceneList points;  /* items: double[3] */
    SceneList parts;   /* items: ScenePart */
    SceneList heights; /* items: rows, each a SceneList of double */
    const char *file;
    struct SceneSize *scale; /* NULL: 1 */
    double spread;           /* 0 if not given; scene_shape.c has the defaults */
    int64_t corners, forms, seed;
} SceneShape;

/* Shape kind that only scenes have: random hulls. */
enum { SCENE_ROCK = TALUS_SHAPE_KINDS };

/* Rosin-Rammler's distribution, which is Weibull's by mass; exists in scenes only. */
enum { SCENE_ROSIN_RAMMLER = TALUS_SIZES_KINDS };

/* What shares are of. */
enum { SCENE_BY_NUMBER, SCENE_BY_MASS };

typedef struct SceneSize {
    const TalusJson *json;
    int kind; /* TalusSizeKind or SCENE_ROSIN_RAMMLER */
    int by;
    double spread;    /* of a uniform distribution given by its mean */
    TalusSizeDef def; /* the numbers alone; talus_scene_size_def makes the whole */
    SceneList sieve;  /* items: double[2] */
} SceneSize;

typedef struct SceneOrientation {
    const TalusJson *json;
    double quaternion[4], axis[3], degrees; /* quaternion, or axis and degrees; the others are 0 */
    bool random;
} SceneOrientation;

/* Part of a compound. */
typedef struct ScenePart {
    const TalusJson *json;
    SceneShape *shape;
    double at[3];
    SceneOrientation *orientation;
} ScenePart;

/* One of several species of an entry or an emitter. */
typedef struct SceneSpecies {
    const TalusJson *json;
    double fraction;
    SceneShape *shape;
    SceneSize *radius;
    const char *material; /* NULL: the entry's */
    double density;       /* 0: the entry's */
    int tag;              /* the entry's if `json` lacks the key */
} SceneSpecies;

typedef struct SceneLattice {
    const TalusJson *json;
    double lo[3], hi[3], cells[3], spacing[3], jitter;
} SceneLattice;

typedef struct SceneLayers {
    const TalusJson *json;
    double bottom[3], radius, half[2], spacing, rise, jitter;
    int64_t repeat;
} SceneLayers;

typedef struct SceneFill {
    const TalusJson *json;
    double lo[3], hi[3], bottom[3], radius, height;
} SceneFill;

/* lo and hi along each axis, m; an axis is periodic if `json` has its key. */
typedef struct ScenePeriod {
    const TalusJson *json;
    double x[2], y[2], z[2];
} ScenePeriod;

/* Rates of a cell that deforms, 1/s. */
typedef struct SceneCellRate {
    const TalusJson *json;
    double xx, yy, zz, xy;
} SceneCellRate;

/* Pressures along axes, Pa; an axis is controlled if `json` has its key. */
typedef struct SceneCellPressure {
    const TalusJson *json;
    double x, y, z;
} SceneCellPressure;

typedef struct SceneCell {
    const TalusJson *json;
    SceneCellRate *rate;         /* NULL: 0 */
    SceneCellPressure *pressure; /* NULL: none is controlled */
} SceneCell;

typedef struct SceneSleep {
    const TalusJson *json;
    double speed;
    int64_t steps;
} SceneSleep;

/* Two collision groups, or one named twice: bodies of the first do not collide with bodies of the second. */
typedef struct SceneApart {
    const TalusJson *json;
    SceneList between; /* items: const char *, names of the groups */
} SceneApart;

typedef struct SceneDrive {
    const TalusJson *json;
    TalusDriveDef def;
    SceneList displacements,
        velocities; /* items: double[4], time and vector; at most one of them */
} SceneDrive;

typedef struct SceneServo SceneServo; /* scene_servo.h */

typedef struct SceneBody {
    const TalusJson *json;
    const char *name, *material, *file, *group;
    SceneDrive *drive;
    SceneList drives; /* items: SceneDrive */
    SceneServo *servo;
    double force[3], torque[3];
    SceneShape *shape;
    SceneList shapes;  /* items: const char *, names of shapes; empty: `shape` is used */
    SceneList species; /* items: SceneSpecies; not empty: they have shapes and radii */
    int by;            /* what the fractions of species are of */
    SceneSize *radius;
    SceneOrientation *orientation;
    bool fixed;
    double density, mass, time;
    SceneList inertia; /* items: double; three principal moments or the six numbers of a tensor */
    double velocity[3], spin[3], normal[3];
    int64_t tag, count, seed;
    bool avoid;
    int64_t earlier; /* tag, if `json` has the key */
    SceneList at;    /* items: double[3] */
    SceneLattice *lattice;
    SceneLayers *layers;
    SceneFill *fill;
} SceneBody;

typedef struct SceneEmitter {
    const TalusJson *json;
    TalusEmitterDef def; /* all but radii, material and group */
    SceneSize *radius;   /* NULL: those of species */
    SceneList species;   /* items: SceneSpecies */
    int by;
    const char *material, *group;
} SceneEmitter;

typedef struct SceneSink {
    const TalusJson *json;
    const char *name; /* NULL: by its number */
    int axis;         /* 0: x, 1: y, 2: z */
    double below;
} SceneSink;

typedef struct SceneBox {
    const TalusJson *json;
    double lo[3], hi[3];
} SceneBox;

/* A plane, or a disc or rectangle of it, that counts the bodies which cross it. */
typedef struct ScenePlane {
    const TalusJson *json;
    double at[3], normal[3], half[3];
    double radius;
} ScenePlane;

typedef struct SceneProbe {
    const TalusJson *json;
    const char *name, *body;
    SceneBox *region;
    ScenePlane *plane;
    SceneList field; /* items: names; empty: a probe of forces. The rest is for fields */
    double grid[3], width, every;
    int64_t tag; /* if `json` has the key */
} SceneProbe;

/* Copies of the scene in one world. */
typedef struct SceneCopies {
    const TalusJson *json;
    int64_t count;
    double spacing[2]; /* along x and y, m; 0: by the extent of the bodies */
} SceneCopies;

/* The earlier run that a scene starts from. */
typedef struct SceneFrom {
    const TalusJson *json;
    const char *run; /* its directory, perhaps with "@TIME" behind */
    double time;     /* if `json` has the key */
    bool fixed;
} SceneFrom;

/* Which defaults a scene has: Coulomb's law with compliance, or rigid contacts under the convex relaxation. */
enum { SCENE_EXACT, SCENE_RELAXED };

struct TalusScene {
    const TalusJson *json;
    SceneList params; /* items: double, the values; `scope` has the names */
    SceneCopies *copies;
    int64_t seed;
    SceneFrom *from; /* NULL: none */
    const char *schema, *title, *description;
    double until, every, max_overlap;
    TalusWorldDef def; /* all but what the members below define */
    int defaults;      /* SCENE_EXACT or SCENE_RELAXED: which defaults law and compliance have */
    int law;
    const char *section;
    SceneSolver *solver;
    ScenePeriod *period;
    SceneCell *cell;
    SceneSleep *sleep;
    SceneList apart;               /* items: SceneApart */
    SceneList materials, friction; /* items: SceneMaterial; ScenePair */
    SceneList shapes, bodies;      /* items: SceneShape; SceneBody */
    SceneList joints, emitters;    /* items: SceneJoint (scene_joint.h); SceneEmitter */
    SceneList sinks, probes;       /* items: SceneSink; SceneProbe */
    /* members that are no keys of the file */
    TalusArena arena;       /* of copy 0, for all copies */
    TalusExprScope scope;   /* names and values of the parameters */
    TalusScene *other_copy; /* copies 1, 2, ... (scene_copies.h) */
    const char *folder;     /* folder of the scene file, with '/'; "": current folder */
};

/* ---- from text to world ---- */

/* Applies an assignment of --set to the tree: "name=value" for a parameter, "bodies[0].radius=value" for any key. On
 * failure the tree may be half changed. */
TalusStatus talus_scene_apply_override(TalusArena *arena, TalusJson *root, const char *override);

/* Reads the tree into the scene, with memory of the arena, and checks types, ranges, unknown keys and expressions against
 * the table. */
TalusStatus talus_scene_read(TalusScene *scene, const TalusJson *root, TalusArena *arena);
/* Returns the bytes of an item in a SceneList. */
size_t talus_scene_item_size(const SceneType *item);

/* Checks what the table cannot express, such as that names exist, bounds are in order and shapes can collide. */
TalusStatus talus_scene_check(const TalusScene *scene);

/* Sets *index to the position in `materials` of the material `name`; fails at `json` if there is none. If name is NULL:
 * 0, the first material, or -1, the world's default, if the scene has no materials. */
TalusStatus talus_scene_find_material(const TalusScene *scene, const TalusJson *json,
                                      const char *name, int *index);
/* Makes the friction model of the scene. Fails on an unknown section. */
TalusStatus talus_scene_make_model(const TalusScene *scene, TalusFrictionModel *model);
/* Makes the friction model of a pair: that of the scene, with law and section of the pair where it gives them. Fails on
 * an unknown section. */
TalusStatus talus_scene_make_pair_model(const TalusScene *scene, const ScenePair *pair,
                                        TalusFrictionModel *model);
/* Sets *group to the number of a collision group: 0 if name is NULL, else from 1 in the order of first use in `bodies`,
 * then `emitters`. Fails on a name that no entry has, and if the number would be TALUS_GROUPS or more. */
TalusStatus talus_scene_find_group(const TalusScene *scene, const TalusJson *json, const char *name,
                                   int *group);
/* Returns the index of the first entry of `bodies` with this name, or -1. */
int talus_scene_find_entry(const TalusScene *scene, const char *name);
/* Sets *shape to the shape in `shapes` that `given` names or, if `given` is itself a definition, to `given`. Fails if
 * `shapes` has no such name. */
TalusStatus talus_scene_resolve_shape(const TalusScene *scene, const SceneShape *given,
                                      const SceneShape **shape);
/* Returns the number of shapes among which the bodies of an entry of `bodies` choose at random; 1 without the keys
 * `shapes` and `species`. */
int talus_scene_entry_shape_count(const SceneBody *body);
/* Sets *shape to the k-th of these shapes. */
TalusStatus talus_scene_entry_shape(const TalusScene *scene, const SceneBody *body, int k,
                                    const SceneShape **shape);
/* True if the entry names bodies of the earlier run, in place of new ones. */
static inline bool talus_scene_is_earlier(const SceneBody *body)
{
    return talus_json_get(body->json, "earlier") != NULL;
}
/* True if the entry's bodies are driven. */
static inline bool talus_scene_is_driven(const SceneBody *body)
{
    return body->drive || body->drives.count > 0;
}
/* True for shapes that only fixed or driven bodies can have. */
bool talus_scene_is_wall(const SceneShape *shape);
/* Sets *path to the path of a file named in the scene. A relative path starts from the folder of the scene, or from the
 * current folder if its JSON value `json` was given by --set. Free with talus_release. */
TalusStatus talus_scene_resolve_path(const TalusScene *scene, const TalusJson *json,
                                     const char *file, char **path);
/* Returns v; multiplied by a power of 2 if its squared length might overflow or underflow. */
TalusVec3 talus_scene_scale_direction(TalusVec3 v);
/* Returns the rotation of an orientation that is not random. */
TalusQuat talus_scene_make_rotation(const SceneOrientation *orientation);
/* Returns the seed of a random choice: `own`, or a mixture with the scene's `seed` unless that is 0. */
uint64_t talus_scene_mix_seed(const TalusScene *scene, int64_t own);

/* ---- sizes and species (scene_size.c) ---- */

/* Makes the distribution that `size` describes; its arrays are those of the scene. */
TalusSizeDef talus_scene_size_def(const SceneSize *size);
/* Makes the curve of radii, to be cleared: of `size` or, if that is NULL, of the shape's one radius; without either the
 * curve is empty. Errors are located in the scene. */
TalusStatus talus_scene_make_sizes(const SceneSize *size, const SceneShape *shape,
                                   TalusSizeCurve *curve);
/* True if `size`, which may be NULL, gives more than one size. */
bool talus_scene_size_varies(const SceneSize *size);
/* Checks the distribution of sizes; size NULL: nothing. */
TalusStatus talus_scene_check_size(const SceneSize *size);
/* Checks fractions, sizes, shapes and materials of the species of an entry or, with `spheres_only`, of an emitter. */
TalusStatus talus_scene_check_species(const TalusScene *scene, const SceneList *species,
                                      const TalusJson *owner, bool spheres_only);
/* Sets share[i] to the part of the bodies, by number, that are of species i, whose bodies have the mean mass mass[i]. By
 * mass the number is in proportion to fraction over mean mass. Fails if that is out of range. */
TalusStatus talus_scene_species_shares(const SceneList *species, int by, const double *mass,
                                       double *share);

/* Returns the inertia over mass that an entry gives; 0 without the key `inertia`. */
TalusSym3 talus_scene_gyration(const SceneBody *body);
/* Adds a shape of the scene to the world; *first is its index there. A rock, or a shape with a distribution of scales, has
 * one or more forms, which are added as shapes with consecutive indices. `radius` is that of a sphere; other shapes ignore
 * it. gyration: its inertia over mass; 0: of a uniform body. */
TalusStatus talus_scene_add_shape(const TalusScene *scene, const SceneShape *shape, double radius,
                                  TalusSym3 gyration, TalusWorld *world, int *first);
/* Returns the number of forms of a shape. */
int talus_scene_form_count(const SceneShape *shape);

/* The forms (shapes in the world) that bodies of one entry may have, with their extents for placing them. */
typedef struct SceneForms {
    int count;
    double *bound;  /* [count]: bounding radius of each form about its centre of mass; 0: wall */
    TalusVec3 half; /* largest reach of a form from its centre of mass along each axis, unrotated */
    double across;  /* largest horizontal reach from the centre of mass, for any rotation about z */
    TalusSizeCurve
        *sizes; /* [count]: of the radii of spheres; empty: bodies have the shape's size */
    double *
        below; /* [count]: share of bodies that have this form or an earlier one; NULL: all forms alike */
} SceneForms;

/* What the bodies of an entry are placed by (scene_place.c). */
typedef enum ScenePlaceKind {
    SCENE_PLACES_KEPT, /* all positions are kept: those of a random fill or of a file */
    SCENE_PLACES_AT,
    SCENE_PLACES_LATTICE,
    SCENE_PLACES_LAYERS
} ScenePlaceKind;

/* Where the bodies of one entry go, and which sizes and forms they have. Places of a lattice, of layers and of points in the scene are
 * made piece by piece, so that no array is as long as the entry. A random fill, whose places depend on all earlier ones, and
 * the points of a file are kept as a whole. */
typedef struct ScenePlaces {
    int count; /* number of bodies */
    ScenePlaceKind kind;
    const SceneBody *body;
    const SceneForms *forms; /* from which each body has one */
    uint64_t seed;
    bool sized; /* bodies have radii of their own, if they are spheres */
    TalusLattice lattice;
    TalusLayers layers;
    /* [count], of places that are kept: */
    TalusVec3 *position;
    double *radius; /* NULL unless `sized` */
    int *form;      /* NULL if there is only one form */
} ScenePlaces;

/* Bodies of an entry that follow each other. */
typedef struct ScenePiece {
    /* centres of mass; with `at` or `file` the origins of the shapes, except of rocks */
    TalusVec3 *position;
    double *radius; /* NULL unless ScenePlaces.sized; 0 of forms without sizes */
    int *form;      /* index in SceneForms of each body's form; NULL if there is only one */
} ScenePiece;

/* Sets `out` to the places of the bodies of an entry, to be cleared even after a failure. `shape` is the entry's first
 * shape. */
TalusStatus talus_scene_place_bodies(const TalusScene *scene, const SceneBody *body,
                                     const SceneShape *shape, const SceneForms *forms,
                                     ScenePlaces *out);
void talus_scene_places_clear(ScenePlaces *places);
/* Returns the radius of the ball around body i of places that are kept. */
double talus_scene_bound(const ScenePlaces *places, int i);
/* Returns the region of an entry with the key `fill`. */
TalusFill talus_scene_make_fill(const SceneBody *body, uint64_t seed);
/* Allocates the arrays of a piece of up to `count` bodies, to be cleared even after a failure. */
TalusStatus talus_scene_allocate_piece(const ScenePlaces *places, int count, ScenePiece *piece);
void talus_scene_piece_clear(ScenePiece *piece);
/* Writes `count` bodies from number `first` on to the piece. */
void talus_scene_get_piece(const ScenePlaces *places, int first, int count, ScenePiece *piece);

#endif
