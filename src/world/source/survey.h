/* world/source/survey.h - the bodies of a world at a glance, those that arrive later among them: bounds, sizes, masses, and
 * what is odd about them (survey.c). For the messages of scenes and for `talus info`. */
#ifndef TALUS_WORLD_SOURCE_SURVEY_H
#define TALUS_WORLD_SOURCE_SURVEY_H

#include "world/state.h"

/* A body: a slot, or one of a batch that waits for its time. */
typedef struct TalusWho {
    int pending; /* index of the batch; -1: it is there */
    int index;   /* slot, or place in the batch */
} TalusWho;

typedef struct TalusSurveyBody {
    TalusWho who;
    const TalusShape *shape;
    int shape_index, group;
    bool fixed; /* or driven */
    TalusVec3 position, velocity;
    TalusQuat orientation;
    double radius; /* about the centre; 0 where unbounded */
    double size;   /* radius of a sphere, least half width of others; 0 for walls */
    double mass, volume;
} TalusSurveyBody;

TalusSurveyBody talus_survey_body(const TalusWorld *world, TalusWho who);

typedef void TalusSurveyFn(void *context, const TalusSurveyBody *body);
void talus_survey_each(const TalusWorld *world, TalusSurveyFn *fn, void *context);

typedef struct TalusSurvey {
    int moving, fixed, unbounded;          /* unbounded: planes, of the fixed ones */
    TalusAabb moving_bounds, fixed_bounds; /* empty (lo above hi) where there are none */
    TalusSurveyBody smallest, largest;     /* by radius, of the moving */
    TalusSurveyBody thinnest;              /* by size */
    TalusSurveyBody lightest, heaviest, fastest;
    double mass, volume; /* of the moving, in all */
    /* sqrt(d/g), in which a body at rest falls half the width d of the thinnest; INFINITY: there is no gravity, or
     * nothing moves. */
    double fall_time;
} TalusSurvey;

void talus_world_survey(const TalusWorld *world, TalusSurvey *out);
/* Volume of the moving bodies over that of the box around them; 0 where that has none. */
double talus_survey_fill(const TalusSurvey *survey);

/* Moving bodies without joints that start beyond the bounds of all that is fixed, with nothing below them. Where a
 * plane holds whatever falls: those beside the bounds of other fixed bodies, if nine of ten start within these. None
 * without gravity and where space repeats itself. */
typedef struct TalusStrays {
    int count;
    bool held; /* by a plane */
    TalusSurveyBody first;
} TalusStrays;

TalusStatus talus_world_strays(const TalusWorld *world, TalusStrays *out);
/* The same of a box, such as an emitter's. */
bool talus_world_strays_box(const TalusWorld *world, TalusVec3 lo, TalusVec3 hi);

/* The deepest overlap that arriving batches will have with fixed bodies, or among those that arrive together; `a` is
 * of a batch. depth 0: none. */
typedef struct TalusArrivalOverlap {
    TalusWho a, b;
    double depth, size, time;
} TalusArrivalOverlap;

TalusStatus talus_world_arrival_overlap(TalusWorld *world, TalusArrivalOverlap *out);

/* Of `tries` random places in the emitter's box, how many fixed bodies leave free. */
TalusStatus talus_emitter_room(TalusWorld *world, const TalusEmitter *emitter, int tries,
                               int *free);

#endif
