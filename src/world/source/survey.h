/* world/source/survey.h - summary of a world's bodies, including later arrivals: bounds, sizes, masses and anomalies
 * (survey.c). For messages about scenes and for `talus info`.
 *
 * On several ranks all call these functions together, unless it says otherwise, and get the same answers as one rank. */
#ifndef TALUS_WORLD_SOURCE_SURVEY_H
#define TALUS_WORLD_SOURCE_SURVEY_H

#include "world/state.h"

/* Name of a body that exists or of one in a delayed batch. */
typedef struct TalusBodyRef {
    int pending; /* index of the batch; -1: the body exists */
    int index;   /* slot, or index in the batch */
} TalusBodyRef;

/* Data of one body; SI units. */
typedef struct TalusSurveyBody {
    TalusBodyRef who; /* on the rank that has the body */
    /* Of the body; of one in a delayed batch that which it would have if all batches came now. It is the order of bodies. */
    uint64_t number;
    const TalusShape *shape;
    int shape_index, group;
    bool fixed; /* true if fixed or driven */
    TalusVec3 position, velocity;
    TalusQuat orientation;
    double radius; /* bounding radius about the centre; 0 if unbounded */
    double size;   /* radius of a sphere, else smallest half extent; 0 for walls such as planes */
    double mass;   /* 0 if fixed */
    double volume; /* 0 for walls such as planes */
} TalusSurveyBody;

/* Returns the data of the body, of this rank or of a delayed batch, that `who` names; any rank may call this alone. */
TalusSurveyBody talus_survey_body(const TalusWorld *world, TalusBodyRef who);
/* Sets *out to the data of the living body with this id. */
TalusStatus talus_survey_find(const TalusWorld *world, TalusBodyId id, TalusSurveyBody *out);

/* Calls fn for each living body in the order of slots, then for each body of the delayed batches. On several ranks: for
 * those of this rank; rank 0 has the delayed batches. */
typedef void TalusSurveyFn(void *context, const TalusSurveyBody *body);
void talus_survey_each(const TalusWorld *world, TalusSurveyFn *fn, void *context);

/* A body that a rank has found, with the largest `key`. */
typedef struct TalusSurveyFind {
    bool any; /* false: none; the rest is then 0 */
    double key;
    TalusSurveyBody body;
} TalusSurveyFind;

/* Replaces *find by that of all ranks with the largest key, of equal ones that with the smallest number. */
TalusStatus talus_survey_share(const TalusWorld *world, TalusSurveyFind *find);
/* Replaces *find by `body` if that has a larger key, or the same and a smaller number. */
void talus_survey_take(TalusSurveyFind *find, double key, const TalusSurveyBody *body);

/* Summary of all bodies. The bodies smallest to fastest are valid only if `moving` is above 0. */
typedef struct TalusSurvey {
    int64_t moving, fixed, unbounded; /* numbers of bodies; unbounded: planes among the fixed */
    TalusAabb moving_bounds, fixed_bounds; /* without planes; empty (lo above hi) if no body */
    TalusAabb centres;                     /* of the bodies that exist, planes included */
    TalusSurveyBody smallest, largest;     /* by radius; moving bodies */
    TalusSurveyBody thinnest;              /* by size; moving bodies */
    TalusSurveyBody lightest, heaviest, fastest; /* moving bodies */
    double mass, volume;                         /* totals of the moving bodies, rounded once */
    /* sqrt(d/g), s: time in which a body falls from rest by half the width d of the thinnest. INFINITY without gravity
     * or moving bodies. */
    double fall_time;
} TalusSurvey;

/* Fails on several ranks alone, if one of them has failed. */
TalusStatus talus_world_survey(const TalusWorld *world, TalusSurvey *out);
/* Returns the volume of the moving bodies over that of their bounding box; 0 if the box has none. */
double talus_survey_packing(const TalusSurvey *survey);

/* Strays: moving bodies without joints that start beside or below the bounds of all fixed bodies other than planes;
 * down is along gravity. If a plane that faces up supports everything, strays count only if at least nine times as many
 * bodies start within the bounds. Without gravity and in periodic space there are no strays. */
typedef struct TalusStrays {
    int64_t count;
    bool held;             /* true if a plane that faces up supports everything */
    TalusSurveyBody first; /* that with the smallest number; valid if count is above 0 */
} TalusStrays;

TalusStatus talus_world_strays(const TalusWorld *world, TalusStrays *out);
/* True if the box [lo, hi], such as an emitter's, is beside or below the bounds of the fixed bodies (TalusStrays).
 * False if a plane supports everything, without gravity and in periodic space. */
bool talus_box_is_stray(const TalusWorld *world, TalusVec3 lo, TalusVec3 hi);

/* The overlap, of bodies of arriving batches with fixed bodies or with simultaneous arrivals, that has the largest
 * depth over size; body `a` is of a batch. depth 0: no overlap. Lengths in m, time of the arrival in s. */
typedef struct TalusArrivalOverlap {
    TalusSurveyBody a, b;
    double depth, size, time;
} TalusArrivalOverlap;

TalusStatus talus_world_arrival_overlap(TalusWorld *world, TalusArrivalOverlap *out);

/* Sets *free to the number of positions, of `tries` random ones in the emitter's box, at which a sphere of its
 * smallest radius overlaps no fixed body. */
TalusStatus talus_emitter_count_free(TalusWorld *world, const TalusEmitter *emitter, int tries,
                                     int *free);

#endif
