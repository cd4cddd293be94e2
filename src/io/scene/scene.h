/* io/scene/scene.h - scene files: the table that describes the format, and the structs that it is read into.
 *
 * One table (scene_table.c) holds every key with its type, range, default and help. The reader (scene_read.c), --set
 * (scene_set.c), the JSON Schema and the reference in docs/reference/scenes.md (tests/scene_schema.h) all use it; no
 * other code knows a key that the table does not.
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
    size_t offset;      /* of the member in the struct of the object, bytes */
    const char *preset; /* default as JSON; NULL: none, the member keeps the value of init */
    bool required;
    unsigned only;     /* choices of the object's selector that allow the key, as bits; 0: all */
    unsigned needed;   /* choices of the object's selector that require the key, as bits */
    const char *group; /* exactly one key of a group is given; at most one if it begins with '?' */
    const char *needs; /* another key that this one requires */
    const char *help;
} SceneField;

struct SceneType {
    SceneKind kind;
    const char *name;           /* name of an object type: "body" */
    double min, max;            /* bounds of a number; both 0: none */
    bool above;                 /* a number must exceed min; false: min is allowed */
    bool whole;                 /* REALS: integers only */
    bool narrow;                /* INT: stored as int */
    bool or_one;                /* REALS: one number for all; LIST: one item without brackets */
    int length;                 /* REALS: how many numbers */
    int min_count, max_count;   /* LIST: number of items; max_count 0: any */
    const char *const *choices; /* NULL-terminated */
    const SceneType *item;      /* LIST, MAP: type of an item */
    const SceneField *fields;   /* OBJECT: its keys */
    int field_count;
    size_t size;
    void (*init)(void *structure); /* OBJECT: sets defaults; NULL: zeros */
    const char *selector;          /* OBJECT: the CHOICE key that `only` and `needed` refer to */
    const char *shorthand;         /* OBJECT: a value V without braces means {"shorthand": V} */
    const char *word;              /* OBJECT: flag key; the string "word" means {"word": true} */
};

/* A bound of at least this size is named only in a message about a number that breaks it. */
#define TALUS_SCENE_LARGEST 2147483647.0

extern const SceneType talus_scene_type; /* type of a whole scene */

/* Returns the key of that name in an object type, or NULL. */
const SceneField *talus_scene_field(const SceneType *object, const char *key);
/* Writes "; did you mean 'radius'?" for an unknown key, or "" if no key is similar. Returns `text`. */
const char *talus_scene_suggest(const SceneType *object, const char *key, char *text, size_t size);
static inline TalusVec3 scene_vec3(const double *v)
{
    return talus_vec3(v[0], v[1], v[2]);
}

/* Writes what a type accepts, for messages and the reference: "a number above 0", "an array of 3 numbers". */
void talus_scene_describe_type(const SceneType *type, char *text, size_t size);

/* ---- content of a scene ---- */

/* The table reads each object of the file into one of these structs. Members are named as their keys and have SI units
 * (docs/reference/scenes.md); `json` is the object in the file, for the location of errors. A pointer is NULL, and a
 * list empty, if the key is not given. */

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
    TalusPairDef def;  /* without model */
    int law;
    const char *section;
} ScenePair;

typedef struct SceneShape {
    const TalusJson *json;
    const char *name; /* reference to a named shape, then all else is zero; NULL: defined here */
    int kind;
    double half[3], radius, half_height;
    SceneList profile; /* double[2] */
    SceneList points;  /* double[3] */
    SceneList parts;   /* ScenePart */
    SceneList heights; /* rows: SceneList of double */
    const char *file;
    double scale, spacing, spread; /* 0: default */
    int64_t corners, forms, seed;
} SceneShape;

/* Shape kind that only scenes have: random hulls. */
enum { SCENE_ROCK = TALUS_SHAPE_KINDS };

typedef struct SceneSize {
    const TalusJson *json;
    double mean, spread, min, max; /* either mean and spread, or min and max */
} SceneSize;

typedef struct SceneOrientation {
    const TalusJson *json;
    double quaternion[4], axis[3], degrees; /* either quaternion, or axis and degrees */
    bool random;
} SceneOrientation;

/* Part of a compound. */
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

/* lo and hi along each axis, m; an axis is periodic if `json` has its key. */
typedef struct ScenePeriod {
    const TalusJson *json;
    double x[2], y[2], z[2];
} ScenePeriod;

typedef struct SceneSleep {
    const TalusJson *json;
    double speed;
    int64_t steps;
} SceneSleep;

/* Two groups whose bodies do not collide. */
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
    SceneList shapes; /* const char *; empty: `shape` is used */
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
    SceneList params; /* double; the scope has their names */
    const char *schema, *title, *description;
    double until, every, max_overlap;
    TalusWorldDef def; /* except what the members below define */
    int law;
    const char *section;
    SceneSolver *solver;
    ScenePeriod *period;
    SceneSleep *sleep;
    SceneList apart;
    SceneList materials, friction, shapes, bodies, joints, emitters, sinks, probes;
    /* members that are no keys of the file */
    TalusArena arena;
    TalusExprScope scope; /* names and values of the parameters */
    const char *folder;   /* folder of the scene file, with '/'; "": current folder */
};

/* ---- from text to world ---- */

/* Applies an assignment of --set to the tree: "name=value" for a parameter, "bodies[0].radius=value" for any key. */
TalusStatus talus_scene_set(TalusArena *arena, TalusJson *root, const char *override);

/* Reads the tree into the scene and checks types, ranges, unknown keys and expressions against the table. */
TalusStatus talus_scene_read(TalusScene *scene, const TalusJson *root);

/* Checks what the table cannot express: that names exist and sizes are consistent. */
TalusStatus talus_scene_check(const TalusScene *scene);

/* Sets *index to the material of that name; -1, the world's default, if the scene has none. `json` locates errors. */
TalusStatus talus_scene_material(const TalusScene *scene, const TalusJson *json, const char *name,
                                 int *index);
/* Make the friction model of the scene, and that of one pair, which takes from the scene what it does not give. Both
 * fail on an unknown section. */
TalusStatus talus_scene_model(const TalusScene *scene, TalusFrictionModel *model);
TalusStatus talus_scene_pair_model(const TalusScene *scene, const ScenePair *pair,
                                   TalusFrictionModel *model);
/* Sets *group to the number of a collision group: 0 if name is NULL, else from 1 in the order of the scene. Fails on a
 * name that no entry has and on too many groups. */
TalusStatus talus_scene_group(const TalusScene *scene, const TalusJson *json, const char *name,
                              int *group);
/* Returns the index of the first entry of `bodies` with this name, or -1. */
int talus_scene_entry(const TalusScene *scene, const char *name);
/* Finds the definition of a shape, which is given inline or by name. */
TalusStatus talus_scene_shape(const TalusScene *scene, const SceneShape *given,
                              const SceneShape **shape);
/* Return the number of shapes that an entry of `bodies` draws from, and the definition of the k-th. */
int talus_scene_shape_count(const SceneBody *body);
TalusStatus talus_scene_body_shape(const TalusScene *scene, const SceneBody *body, int k,
                                   const SceneShape **shape);
/* True for shapes that only fixed bodies can have. */
bool talus_scene_is_wall(const SceneShape *shape);
/* Sets *path to the path of a file named in the scene: relative to the folder of the scene, or to the current folder if
 * it was given by --set. Free with talus_release. */
TalusStatus talus_scene_path(const TalusScene *scene, const TalusJson *json, const char *file,
                             char **path);
/* Returns v, scaled by a power of 2 if its squared length would overflow or underflow. */
TalusVec3 talus_scene_direction(TalusVec3 v);
/* Returns the rotation of an orientation that is not random. */
TalusQuat talus_scene_rotation(const SceneOrientation *orientation);
/* Sets the range of radii: of `size`; if that is NULL, of the shape (NULL: 0). */
void talus_scene_size_range(const SceneSize *size, const SceneShape *shape, double *min,
                            double *max);

/* Adds a shape to the world; *first is its index. A rock has several random forms, added with consecutive indices;
 * talus_scene_form_count is their number, 1 for other shapes. `radius` is for spheres. */
TalusStatus talus_scene_add_shape(const TalusScene *scene, const SceneShape *shape, double radius,
                                  TalusWorld *world, int *first);
int talus_scene_form_count(const SceneShape *shape);

/* Extents of the bodies of one entry, for placing them. */
typedef struct SceneForms {
    int count;
    double *bound;  /* [count]: bounding radius of each form about its centre of mass; 0: wall */
    TalusVec3 half; /* half extents of the largest body in its orientation */
    double across;  /* largest half width seen from above, for any rotation about z */
} SceneForms;

/* Positions and sizes of the bodies of one entry. */
typedef struct ScenePlacement {
    int count;
    TalusVec3 *position;
    double *radius; /* NULL for shapes other than spheres */
    int *form;      /* [count]: form of each body; NULL if there is only one */
} ScenePlacement;

/* Writes positions and sizes of the bodies of an entry into `out`. `forms` has the extents of bodies other than
 * spheres; NULL for spheres, whose radii come from the body or the shape. */
TalusStatus talus_scene_place(const TalusScene *scene, const SceneBody *body,
                              const SceneShape *shape, const SceneForms *forms,
                              ScenePlacement *out);
void talus_scene_placement_clear(ScenePlacement *places);

#endif
