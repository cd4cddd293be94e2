/* world/joint/joint_project.h - the projection of joints inside: rows, bodies and machines.
 *
 * A machine is what hangs together by joints; a body stands for it. Machines are closed one by one, so that what
 * happens to one does not depend on another. */
#ifndef TALUS_WORLD_JOINT_JOINT_PROJECT_H
#define TALUS_WORLD_JOINT_JOINT_PROJECT_H

#include "world/joint/joint.h"
#include "world/state.h"

#include "linalg/eliminate.h"

/* What a row of the elimination belongs to. */
typedef struct RowPlace {
    int joint;
    TalusVec3 axis, offset; /* of the row; of its point from the joint's on the mover */
    TalusVec3 in_base;      /* the axis, in the frame of the base */
} RowPlace;

/* Of one body: shift, turn, impulse and moment. */
typedef struct Delta {
    TalusVec3 shift, turn, impulse, moment;
} Delta;

typedef struct Kept {
    TalusVec3 position, spin;
    TalusQuat orientation;
} Kept;

/* Impulses on a body in this step: what is left of them without those of joints, and the size of all. */
typedef struct Load {
    TalusVec3 rest;
    double size;
} Load;

typedef struct Momenta {
    TalusVec3 velocity, angular; /* angular: per unit mass */
} Momenta;

typedef enum MachineState {
    MACHINE_OPEN,     /* the impulses that close it are being sought */
    MACHINE_CLOSED,   /* they are found */
    MACHINE_FELL_BACK /* they are not: momenta are those of the solve, poses are closed alone */
} MachineState;

typedef struct Machine {
    MachineState state;
    bool loaded;          /* contacts push it */
    double before, after; /* worst error over length, around a round */
    double least;         /* length */
    double far;           /* how far a round moves a body */
} Machine;

typedef struct TalusProjection {
    TalusElimination *elimination;
    TalusJointRow *row; /* the elimination's */
    int rows;
    RowPlace *place; /* [rows] */
    double *error;   /* [rows] */
    double *x;       /* [rows]: of the last round */
    double *sum;     /* [rows]: of all rounds */
    Delta *delta;    /* [slots], of touched bodies */
    int *touched;    /* slots, in the order of joints */
    int touched_count;
    int *machine;     /* [slots]: of touched bodies, the body that stands for their machine */
    Machine *facts;   /* [slots], of those */
    Load *load;       /* [slots], of bodies in blocks */
    Kept *kept;       /* [touched], in their order: where a line search began */
    Momenta *momenta; /* [touched]: as the solve left them */
} TalusProjection;

/* ---- joint_machines.c ---- */
/* Which bodies rows move, and which of them hang together. */
void talus_machines_find(TalusProjection *p);
/* All machines anew, once the bodies have moved: lengths, errors, whether contacts push them. False: all are
 * closed. */
bool talus_machines_open(const TalusWorld *world, TalusProjection *p);
/* After a round, the last of them or not: which machines are closed, which fall back. False: none is open. */
bool talus_machines_judge(const TalusWorld *world, TalusProjection *p, bool last);
/* The sum of squared errors of machines that fell back; the worst of these over length. */
double talus_machines_error(const TalusWorld *world, const TalusProjection *p, double *worst);

extern const double talus_joint_closed; /* of a joint's length: an error that is none */

static inline Machine *machine_of_slot(const TalusProjection *p, int slot)
{
    return &p->facts[p->machine[slot]];
}

static inline Machine *machine_of_row(const TalusProjection *p, int r)
{
    const int32_t *body = p->row[r].body;
    return machine_of_slot(p, body[body[0] < 0]); /* one of the two moves */
}

#endif
