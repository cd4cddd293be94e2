/* world/joint/joint_project.h - projection of joints: rows, bodies and machines.
 *
 * A machine is a set of bodies connected by joints, named by the slot of one of them. To close a machine is to move its
 * bodies until its joints have no error. Each machine is closed by itself, so no result depends on another machine. */
#ifndef TALUS_WORLD_JOINT_JOINT_PROJECT_H
#define TALUS_WORLD_JOINT_JOINT_PROJECT_H

#include "world/state.h"

#include "linalg/eliminate.h"

/* Origin of a row of the elimination: one scalar constraint of a joint. */
typedef struct RowSource {
    int joint;
    TalusVec3 axis, offset; /* direction of the row; from the mover's joint point to the row's */
    TalusVec3 in_base;      /* the axis in the frame of the base */
} RowSource;

/* Correction of one body in a round: shift (m) and turn (rad) of its pose; impulse and moment, both times h. */
typedef struct Delta {
    TalusVec3 shift, turn, impulse, moment;
} Delta;

/* State of a body to return to in a line search. */
typedef struct SavedState {
    TalusVec3 position, spin;
    TalusQuat orientation;
} SavedState;

/* Impulses on a body in this part of a step, N s, from which joint_machines.c infers whether contacts push it. */
typedef struct ImpulseBalance {
    TalusVec3 rest; /* total impulse less those of joints */
    double size;    /* norm of the total impulse plus the norms of the joints' impulses */
} ImpulseBalance;

typedef struct Momenta {
    TalusVec3 velocity, angular; /* m/s; angular momentum per unit mass, m2/s */
} Momenta;

typedef enum MachineState {
    MACHINE_OPEN,     /* the impulses that close its joints are still searched for */
    MACHINE_CLOSED,   /* these impulses were found, or none were needed */
    MACHINE_FELL_BACK /* they were not found: the momenta of the solve stay, only poses are closed */
} MachineState;

typedef struct Machine {
    MachineState state;
    bool contact_pushed;              /* true if contacts push a body of the machine */
    double error_before, error_after; /* largest error over joint length, around a round */
    double min_length;                /* smallest joint length, m */
    double max_motion;                /* largest motion of a body in a round, m */
} Machine;

typedef struct TalusProjection {
    TalusElimination *elimination;
    TalusJointRow *row; /* owned by the elimination */
    int rows;
    RowSource *source; /* [rows] */
    double *error;     /* [rows], m */
    double *x;         /* [rows]: impulses times h of the last round */
    double *sum;       /* [rows]: sum of x over all rounds */
    Delta *delta;      /* [slots], set for jointed bodies */
    int *jointed;      /* slots of the bodies that rows move, in the order of joints */
    int jointed_count;
    int32_t *root;    /* [slots], set for jointed bodies: the slot that names their machine */
    Machine *machine; /* [slots], valid for slots that name machines */
    ImpulseBalance *balance; /* [slots], set for bodies with joints */
    SavedState *saved;       /* [jointed_count]: start of a line search */
    Momenta *momenta;        /* [jointed_count]: after the solve, before the projection */
} TalusProjection;

/* ---- joint_machines.c ---- */
/* Finds the machines: sets `jointed` and `root` from the rows. */
void talus_machines_find(TalusProjection *p);
/* After the bodies have moved: initialises all machines (lengths, errors, contacts). True if some machine is open. */
bool talus_machines_init(const TalusWorld *world, TalusProjection *p);
/* Updates the states after a round; `last`: no round follows. Returns false if no machine is open. */
bool talus_machines_update(const TalusWorld *world, TalusProjection *p, bool last);
/* Returns the sum of squared errors, m2, of machines that fell back; *worst: largest error over its joint's length. */
double talus_machines_fallback_error(const TalusWorld *world, const TalusProjection *p,
                                     double *worst);

extern const double talus_joint_closed; /* tolerance of errors, over a joint's length */

/* Returns the machine of a jointed body. */
static inline Machine *machine_of_slot(const TalusProjection *p, int slot)
{
    return &p->machine[p->root[slot]];
}

/* Returns the machine whose bodies row r connects. */
static inline Machine *machine_of_row(const TalusProjection *p, int r)
{
    const int32_t *body = p->row[r].body;
    return machine_of_slot(p, body[body[0] < 0]); /* at least one of the two moves */
}

#endif
