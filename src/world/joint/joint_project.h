/* world/joint/joint_project.h - projection of joints: rows, bodies and machines.
 *
 * A machine is a set of bodies connected by joints, represented by one of its bodies. Machines are closed one by one,
 * so that the result of one does not depend on another. */
#ifndef TALUS_WORLD_JOINT_JOINT_PROJECT_H
#define TALUS_WORLD_JOINT_JOINT_PROJECT_H

#include "world/state.h"

#include "linalg/eliminate.h"

/* Origin of a row of the elimination. */
typedef struct RowPlace {
    int joint;
    TalusVec3 axis, offset; /* axis of the row; offset of its point from the joint's on the mover */
    TalusVec3 in_base;      /* the axis in the frame of the base */
} RowPlace;

/* Change of one body. */
typedef struct Delta {
    TalusVec3 shift, turn, impulse, moment;
} Delta;

typedef struct Kept {
    TalusVec3 position, spin;
    TalusQuat orientation;
} Kept;

/* Impulse on a body in this step, N s. */
typedef struct Load {
    TalusVec3 rest; /* without the impulses of joints */
    double size;    /* of the total impulse */
} Load;

typedef struct Momenta {
    TalusVec3 velocity, angular; /* angular: per unit mass */
} Momenta;

typedef enum MachineState {
    MACHINE_OPEN,     /* search for the closing impulses goes on */
    MACHINE_CLOSED,   /* closing impulses found */
    MACHINE_FELL_BACK /* not found: momenta of the solve, only poses are closed */
} MachineState;

typedef struct Machine {
    MachineState state;
    bool loaded;          /* contacts push it */
    double before, after; /* largest error over length, before and after a round */
    double least;         /* smallest joint length, m */
    double far;           /* largest motion of a body in a round, m */
} Machine;

typedef struct TalusProjection {
    TalusElimination *elimination;
    TalusJointRow *row; /* owned by the elimination */
    int rows;
    RowPlace *place; /* [rows] */
    double *error;   /* [rows] */
    double *x;       /* [rows]: solution of the last round */
    double *sum;     /* [rows]: sum over all rounds */
    Delta *delta;    /* [slots], of touched bodies */
    int *touched;    /* slots of bodies in rows, in the order of joints */
    int touched_count;
    int32_t *machine; /* [slots], of touched bodies: the body that represents their machine */
    Machine *facts;   /* [slots], of representing bodies */
    Load *load;       /* [slots], of bodies in blocks */
    Kept *kept;       /* [touched]: start of a line search */
    Momenta *momenta; /* [touched]: after the solve */
} TalusProjection;

/* ---- joint_machines.c ---- */
/* Finds the bodies that rows move, and the machines they form. */
void talus_machines_find(TalusProjection *p);
/* Initialises all machines after the bodies have moved: lengths, errors, contacts. Returns false if all are closed. */
bool talus_machines_open(const TalusWorld *world, TalusProjection *p);
/* Updates the states after a round; `last`: no round follows. Returns false if no machine is open. */
bool talus_machines_update(const TalusWorld *world, TalusProjection *p, bool last);
/* Returns the sum of squared errors of machines that fell back, and the largest of these errors over length. */
double talus_machines_error(const TalusWorld *world, const TalusProjection *p, double *worst);

extern const double talus_joint_closed; /* tolerance of errors, over a joint's length */

static inline Machine *machine_of_slot(const TalusProjection *p, int slot)
{
    return &p->facts[p->machine[slot]];
}

static inline Machine *machine_of_row(const TalusProjection *p, int r)
{
    const int32_t *body = p->row[r].body;
    return machine_of_slot(p, body[body[0] < 0]); /* at least one of the two moves */
}

#endif
