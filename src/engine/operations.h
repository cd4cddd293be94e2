/* engine/operations.h - every operation of an engine, once: OPERATION(result, name, arguments).
 *
 * Included several times, each time with a definition of OPERATION, as backend/operations.h. SHARED_ONLY are operations
 * of engines that work on the world's arrays, OWN_ONLY those of engines with memory of their own; the others have NULL
 * there. */
#ifndef SHARED_ONLY
#define SHARED_ONLY OPERATION
#endif
#ifndef OWN_ONLY
#define OWN_ONLY OPERATION
#endif

/* clang-format off */

OPERATION(TalusStatus, create, (const TalusEngineSetup *setup, TalusEngine **out))
OPERATION(void, destroy, (TalusEngine *engine))

/* Sets shapes and laws. */
OPERATION(TalusStatus, tables, (TalusEngine *engine, const TalusTables *tables))
/* Uploads all arrays of the bodies. Contacts of slots with `dropped` [slots] lose their impulses; NULL: none. */
OPERATION(TalusStatus, put_bodies, (TalusEngine *engine, const TalusBodyArrays *bodies,
          const uint8_t *dropped))
/* Downloads positions, velocities, spins and orientations. */
OWN_ONLY(TalusStatus, get_bodies, (TalusEngine *engine, TalusBodyArrays *bodies))
/* Upload and download the states of a subset of bodies. */
OWN_ONLY(TalusStatus, put_states, (TalusEngine *engine, const int32_t *slot,
         const TalusMotion *motion, int count))
OWN_ONLY(TalusStatus, get_states, (TalusEngine *engine, const int32_t *slot, TalusMotion *motion,
         int count))
/* Uploads the pairs that do not collide; NULL: all pairs collide. */
OPERATION(TalusStatus, put_filter, (TalusEngine *engine, const TalusFilter *filter, int slots))
/* Uploads applied forces and torques of the first `count` slots; the others have none. */
OPERATION(TalusStatus, put_forces, (TalusEngine *engine, const TalusVec3 *force,
          const TalusVec3 *torque, int count))
/* Upload and download the contact list of the last detection with its impulses. The caller owns the arrays
 * contact, arms and impulse that get_contacts fills, of the sizes that `counts` reports. */
OPERATION(TalusStatus, put_contacts, (TalusEngine *engine, const TalusContactList *list))
OWN_ONLY(TalusStatus, get_contacts, (TalusEngine *engine, TalusContactList *list))
/* Returns the contact list itself. */
SHARED_ONLY(TalusContactList *, contacts, (TalusEngine *engine))
/* Zeroes the impulses of a body's contacts. */
SHARED_ONLY(void, forget, (TalusEngine *engine, int slot))
/* Reports the numbers of the last detection. */
OPERATION(void, counts, (const TalusEngine *engine, TalusEngineCounts *counts))

/* Counts the moving bodies whose centre is below `below` along `axis`. */
OWN_ONLY(TalusStatus, below, (TalusEngine *engine, int axis, double below, int64_t *count))

/* Detects the contacts of step number `step` or of a part of it, of length options->h, with the free velocities.
 * Impulses are transferred by key. Fails as talus_detect does, with the list unchanged. Exception: if memory does
 * not hold both lists, the list may be empty after a failure, and the next step starts cold. */
OPERATION(TalusStatus, detect, (TalusEngine *engine, const TalusDetectOptions *options,
          TalusVec3 gravity, long long step, TalusEngineCounts *counts))
/* Detects contacts again, with the solved velocities. After find_missed the contacts found there are added to the list
 * instead. */
OPERATION(TalusStatus, redetect, (TalusEngine *engine, const TalusDetectOptions *options,
          TalusVec3 gravity, TalusEngineCounts *counts))
/* Sets the joints of all problems that are built later; NULL: none. */
OPERATION(TalusStatus, put_joints, (TalusEngine *engine, const TalusEngineJoints *joints))
/* Downloads the impulses of the joints after a solve, three per block, and the problem's records of some bodies. */
OPERATION(TalusStatus, get_joints, (TalusEngine *engine, double *gamma, const int32_t *slot,
          double (*record)[8], int count))
/* Builds the problem of the step in the backend's memory; op and gamma are lent until the next detect. Rows per
 * block: 6 if some contact has moments, else 3 if some has friction, else 1. Models, bounds and offsets are as
 * talus_problem_finish leaves them. A shared engine fills the problem of its setup and sets *op to NULL. */
OPERATION(TalusStatus, build, (TalusEngine *engine, const TalusBuildOptions *options,
          TalusOperator **op, double **gamma, TalusBuildReport *report))
/* After a solve: computes the velocities v_f + M^-1 D gamma for the operations below. `changed`: true if some
 * moving body's velocity differs by more than `limit` from the one that detection used. */
OPERATION(TalusStatus, solved, (TalusEngine *engine, double limit, bool *changed))
/* Searches around the bodies whose velocities `solved` finds changed. *missed: true if the list lacks a contact whose gap,
 * moved by the solved velocities, ends below -h `tolerance`; tolerance in m/s. An engine without this operation cannot
 * tell, and the caller assumes a missed contact. */
SHARED_ONLY(TalusStatus, find_missed, (TalusEngine *engine, const TalusDetectOptions *options,
            double limit, double tolerance, bool *missed))
/* Probes of the solved step: sum_probes before the bodies move, get_probes after. */
OPERATION(TalusStatus, sum_probes, (TalusEngine *engine, const TalusEngineProbe *probe, int count))
OPERATION(TalusStatus, get_probes, (TalusEngine *engine, TalusProbeSums *sums, int count))
/* Stores gamma in the contact list, as impulses in the world frame. */
OPERATION(TalusStatus, store_impulses, (TalusEngine *engine))
/* Stores impulses and moves the bodies by h. First checks that the solved velocities lead to a finite state; if
 * not, returns TALUS_ERR_NUMERIC with the slot in the message and changes nothing. Afterwards the problem's
 * records hold the mean of free and solved velocities. */
OPERATION(TalusStatus, integrate, (TalusEngine *engine, double h, TalusVec3 gravity, long long step,
          TalusEngineLedger *ledger))

/* Moves bodies that have left the period back into it; *lifted: the change of their potential energy, J. Engines
 * with TALUS_ENGINE_PERIODS only. */
OPERATION(TalusStatus, wrap, (TalusEngine *engine, TalusVec3 gravity, double *lifted))

/* Copies bodies and contacts inside the engine; restores that copy, once per snapshot. For halved steps. */
OPERATION(TalusStatus, snapshot, (TalusEngine *engine))
OPERATION(TalusStatus, rollback, (TalusEngine *engine))

/* clang-format on */

#undef OPERATION
#undef SHARED_ONLY
#undef OWN_ONLY
