/* io/scene/scene.h - scene files inside: the table that describes the format, and what it reads into.
 *
 * One table (scene_table.c) holds every key with its type, range, default and help. The reader
 * (scene_read.c), --set (scene_set.c), the JSON Schema and the reference in docs/reference/scenes.md
 * (scene_schema.c) all come from it; nothing else knows a key that the table does not.
 *
 *     text -> JSON tree -> overrides on the tree -> structs below -> checks -> world            */
#ifndef TALUS_IO_SCENE_SCENE_H
#define TALUS_IO_SCENE_SCENE_H

#include "io/text/expr.h"
#include "io/text/json.h"

#include <talus/io.h>

/* ---- the description of the format ---- */

typedef enum SceneKind {
    SCENE_REAL,   /* double */
    SCENE_INT,    /* int64_t, or int where `narrow` */
    SCENE_FLAG,   /* bool */
    SCENE_TEXT,   /* const char * */
    SCENE_CHOICE, /* int, index into `choices` */
    SCENE_REALS,  /* double[length] */
    SCENE_OBJECT, /* pointer to a struct of `size` bytes that starts with its TalusJson pointer */
    SCENE_LIST,   /* SceneList of items */
    SCENE_MAP,    /* SceneList of objects under names of the user's choice */
    SCENE_PARAMS  /* SceneList of double under names of the user's choice */
} SceneKind;

typedef struct SceneType SceneType;

typedef struct SceneField {
    const char *key;
    const SceneType *type;
    size_t offset;
    const char *preset; /* the default, as JSON; NULL: none, the field stays zero */
    bool required;
    unsigned only;     /* bits of the selector's choices that know the key; 0: all */
    unsigned needed;   /* bits of the selector's choices that require it */
    const char *group; /* of the keys in one group exactly one is given, at most one for "?..." */
    const char *needs; /* another key that must be given along with this one */
    const char *help;
} SceneField;

struct SceneType {
    SceneKind kind;
    const char *name;           /* of an object: "body" */
    double min, max;            /* numbers; both 0: any */
    bool above;                 /* min itself is excluded */
    bool whole;                 /* REALS: whole numbers */
    bool narrow;                /* INT: an int in memory */
    bool or_one;                /* REALS: one number stands for all; LIST: one item for a list */
    int length;                 /* REALS */
    int min_count, max_count;   /* LIST: number of items; max_count 0: any */
    const char *const *choices; /* NULL-terminated */
    const SceneType *item;      /* LIST, MAP */
    const SceneField *fields;   /* OBJECT */
    int field_count;
    size_t size;
    void (*init)(
        void *structure);  /* OBJECT: what keys that are not given leave as it is; NULL: zeros */
    const char *selector;  /* OBJECT: key of the choice that `only` and `needed` refer to */
    const char *shorthand; /* OBJECT: key that a value which is no object stands for */
    const char *word; /* OBJECT: key of a flag that its own name, in place of an object, sets */
};

/* Bounds of a number that are at least this far away are told where they are broken, and not where a key is
 * described. */
#define TALUS_SCENE_LARGEST 2147483647.0

extern const SceneType talus_scene_type;

const SceneField *talus_scene_field(const SceneType *object, const char *key);
/* "; did you mean 'radius'?" or "" */
const char *talus_scene_suggest(const SceneType *object, const char *key, char *text, size_t size);
/* A vector of a scene. */
static inline TalusVec3 scene_vec3(const double *v)
{
    return talus_vec3(v[0], v[1], v[2]);
}

/* "a number above 0", "an array of 3 numbers": for messages and the reference. */
void talus_scene_expected(const SceneType *type, char *text, size_t size);

/* ---- what a scene holds ---- */

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
    SceneList between; /* const char * */
    TalusPairDef def;  /* without its model */
    int law;
    const char *section;
} ScenePair;

typedef struct SceneShape {
    const TalusJson *json;
    const char *name; /* of a named shape; the rest is zero then */
    int kind;
    double half[3], radius, half_height;
    SceneList profile; /* double[2] */
    SceneList points;  /* double[3] */
    SceneList parts;   /* ScenePart */
    SceneList heights; /* SceneList of double: rows */
    const char *file;
    double scale, spacing, spread; /* 0: default */
    int64_t corners, forms, seed;
} SceneShape;

/* A kind of shape of scenes alone: hulls made at random. */
enum { SCENE_ROCK = TALUS_SHAPE_KINDS };

typedef struct SceneSize {
    const TalusJson *json;
    double mean, spread, min, max; /* mean and spread, or min and max */
} SceneSize;

typedef struct SceneOrientation {
    const TalusJson *json;
    double quaternion[4], axis[3], degrees; /* axis 0: the quaternion is given */
    bool random;
} SceneOrientation;

/* Of a compound. */
typedef struct ScenePart {
    const TalusJson *json;
    SceneShape *shape;
    double at[3];
    SceneOrientation *orientation;
} ScenePart;

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

/* Along x, y and z from lo to hi; which are given says the JSON. */
typedef struct ScenePeriod {
    const TalusJson *json;
    double x[2], y[2], z[2];
} ScenePeriod;

typedef struct SceneSleep {
    const TalusJson *json;
    double speed;
    int64_t steps;
} SceneSleep;

/* Two groups whose bodies do not meet. */
typedef struct SceneApart {
    const TalusJson *json;
    SceneList between; /* const char * */
} SceneApart;

typedef struct SceneDrive {
    const TalusJson *json;
    TalusDriveDef def;
} SceneDrive;

typedef struct SceneBody {
    const TalusJson *json;
    const char *name, *material, *file, *group;
    SceneDrive *drive;
    double force[3], torque[3];
    SceneShape *shape;
    SceneList shapes; /* const char *; none: `shape` */
    SceneSize *radius;
    SceneOrientation *orientation;
    bool fixed;
    double density, mass, time;
    double velocity[3], spin[3], normal[3];
    int64_t tag, count, seed;
    SceneList at; /* double[3] */
    SceneLattice *lattice;
    SceneLayers *layers;
    SceneFill *fill;
} SceneBody;

typedef struct SceneEmitter {
    const TalusJson *json;
    TalusEmitterDef def; /* without radii, material and group */
    SceneSize *radius;
    const char *material, *group;
} SceneEmitter;

typedef struct SceneSink {
    const TalusJson *json;
    int axis;
    double below;
} SceneSink;

typedef struct SceneBox {
    const TalusJson *json;
    double lo[3], hi[3];
} SceneBox;

typedef struct SceneProbe {
    const TalusJson *json;
    const char *name, *body;
    SceneBox *region;
} SceneProbe;

struct TalusScene {
    const TalusJson *json;
    SceneList params; /* double; names are the keys in scope */
    const char *schema, *title, *description;
    double until, every, max_overlap;
    TalusWorldDef def; /* without friction and what follows */
    int law;
    const char *section;
    SceneSolver *solver;
    ScenePeriod *period;
    SceneSleep *sleep;
    SceneList apart;
    SceneList materials, friction, shapes, bodies, joints, emitters, sinks, probes;
    /* not of the table */
    TalusArena arena;
    TalusExprScope scope;
    const char *folder; /* of the scene file, with its slash; "" for the current one */
};

/* ---- the steps from text to world ---- */

/* Applies "name=value" to the tree. */
TalusStatus talus_scene_set(TalusArena *arena, TalusJson *root, const char *override);

/* Reads the tree into the scene by the table: types, ranges, unknown keys, expressions. */
TalusStatus talus_scene_read(TalusScene *scene, const TalusJson *root);

/* What the table cannot say: names that exist, sizes that make sense. */
TalusStatus talus_scene_check(const TalusScene *scene);

/* Index of a material in the scene; -1 for the world's own default when the scene has none. */
TalusStatus talus_scene_material(const TalusScene *scene, const TalusJson *json, const char *name,
                                 int *index);
/* The friction model of all pairs; that of a pair, which has what it leaves out from the former. Both fail at
 * a section that there is not. */
TalusStatus talus_scene_model(const TalusScene *scene, TalusFrictionModel *model);
TalusStatus talus_scene_pair_model(const TalusScene *scene, const ScenePair *pair,
                                   TalusFrictionModel *model);
/* The number of a group: 0 without a name, else from 1 on in the order of the scene. Fails at a name that no
 * entry has, and where there are too many. */
TalusStatus talus_scene_group(const TalusScene *scene, const TalusJson *json, const char *name,
                              int *group);
/* The definition behind a shape, given there or by name. */
TalusStatus talus_scene_shape(const TalusScene *scene, const SceneShape *given,
                              const SceneShape **shape);
/* How many shapes an entry has, and the definition of the k-th. */
int talus_scene_shapes(const SceneBody *body);
TalusStatus talus_scene_body_shape(const TalusScene *scene, const SceneBody *body, int k,
                                   const SceneShape **shape);
/* True for shapes that only fixed bodies have. */
bool talus_scene_is_wall(const SceneShape *shape);
/* The file of a key: beside the scene, or where a path typed after --set says. Released with talus_release. */
TalusStatus talus_scene_path(const TalusScene *scene, const TalusJson *json, const char *file,
                             char **path);
/* A vector that is meant as a direction, of a length whose square is a number. */
TalusVec3 talus_scene_direction(TalusVec3 v);
/* The turn of an orientation that is not random. */
TalusQuat talus_scene_turn(const SceneOrientation *orientation);
/* Range of sizes; for a sphere without `radius` its shape's radius. */
void talus_scene_sizes(const SceneSize *size, const SceneShape *shape, double *min, double *max);

/* Adds a shape to the world, or as many as it has forms: their indices follow one another from *first on. `radius`
 * is a sphere's. */
TalusStatus talus_scene_add_shape(const TalusScene *scene, const SceneShape *shape, double radius,
                                  TalusWorld *world, int *first);
int talus_scene_forms(const SceneShape *shape);

/* Room that the bodies of one entry take, for those who place them. */
typedef struct SceneForms {
    int count;
    double
        *bound; /* of each form: radius about its centre of mass, however it is turned; 0: sphere */
    TalusVec3 half; /* half extents of the largest body as it stands */
    double across;  /* half width of the largest body seen from above, turned about z */
} SceneForms;

/* Where and how large the bodies of one entry are. */
typedef struct ScenePlaces {
    int count;
    TalusVec3 *position;
    double *radius; /* NULL for shapes other than spheres */
    int *form;      /* NULL where there is one */
} ScenePlaces;

/* `forms` may be NULL for spheres, whose sizes `radius` of the body or of the shape gives. */
TalusStatus talus_scene_place(const TalusScene *scene, const SceneBody *body,
                              const SceneShape *shape, const SceneForms *forms, ScenePlaces *out);
void talus_scene_places_clear(ScenePlaces *places);

/* ---- descriptions made from the table; released with talus_release ---- */
TalusStatus talus_scene_schema(char **text);
TalusStatus talus_scene_reference(char **text);

#endif
