/* engine/operations.h - every operation of an engine, once: OPERATION(result, name, arguments).
 *
 * Included several times, each time with another definition of OPERATION, for the table's fields, the declarations and
 * the entries. Only engines that work on the world's arrays have the SHARED_ONLY operations, only engines with memory
 * of their own the OWN_ONLY ones; in other tables they are NULL. */
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
OPERATION(TalusStatus, put_tables, (TalusEngine *engine, const TalusTables *tables))
/* Uploads all arrays of the bodies; a shared engine keeps pointers to the arrays. Contacts of a slot with dropped[slot]
 * nonzero lose their impulses; dropped NULL: no contact does. */
OPERATION(TalusStatus, put_bodies, (TalusEngine *engine, const TalusBodyArrays *bodies,
          const uint8_t *dropped))
/* Downloads positions, velocities, spins and orientations. */
OWN_ONLY(TalusStatus, get_bodies, (TalusEngine *engine, TalusBodyArrays *bodies))
/* Upload and download the states of the bodies in slot[count]; motion[k] belongs to slot[k]. */
OWN_ONLY(TalusStatus, put_states, (TalusEngine *engine, const int32_t *slot,
         const TalusMotion *motion, int count))
OWN_ONLY(TalusStatus, get_states, (TalusEngine *engine, const int32_t *slot, TalusMotion *motion,
         int count))
/* Uploads the pairs that do not collide; NULL: all pairs collide. */
OPERATION(TalusStatus, put_filter, (TalusEngine *engine, const TalusFilter *filter, int slots))
/* Uploads applied forces and torques of the first `count` slots; the other slots have none. */
OPERATION(TalusStatus, put_forces, (TalusEngine *engine, const TalusVec3 *force,
          const TalusVec3 *torque, int count))
/* Upload and download the contact list with its impulses. get_contacts fills the caller's arrays contact, arms and
 * impulse, of the sizes that `counts` reports. */
OPERATION(TalusStatus, put_contacts, (TalusEngine *engine, const TalusContactList *list))
OWN_ONLY(TalusStatus, get_contacts, (TalusEngine *engine, TalusContactList *list))
/* Returns the engine's contact list itself, not a copy. */
SHARED_ONLY(TalusContactList *, contact_list, (TalusEngine *engine))
/* Zeroes the impulses of the contacts of the body in `slot`. */
SHARED_ONLY(void, drop_impulses, (TalusEngine *engine, int slot))
/* Writes the numbers of contacts of the current list, and the other results of the last detection. */
OPERATION(void, get_counts, (const TalusEngine *engine, TalusEngineCounts *counts))

/* Counts the free bodies whose centre has a coordinate less than `below`, m, along axis 0, 1 or 2. */
OWN_ONLY(TalusStatus, count_below, (TalusEngine *engine, int axis, double below, int64_t *count))

/* Detects the contacts of step number `step` or of a part of it, of length options->h, with the free velocities (those
 * after gravity and applied forces) and the present spins. A contact gets the impulse of the old contact with the same
 * (a, b, feature). New contacts of a pair share evenly the impulses of the pair's old contacts that are gone; without
 * such contacts they get 0. Fails as talus_detect does, with the list unchanged; on the device the list may be empty
 * after a failure, if memory does not hold both lists or the device fails. The next step then starts from zero
 * impulses. */
OPERATION(TalusStatus, detect, (TalusEngine *engine, const TalusDetectOptions *options,
          TalusVec3 gravity, long long step, TalusEngineCounts *counts))
/* Detects contacts again, with the solved velocities and spins. If the list has general contacts, whose detection is
 * expensive, and find_missing has searched since the last solve, a shared engine adds the contacts found there to the
 * list instead. */
OPERATION(TalusStatus, redetect, (TalusEngine *engine, const TalusDetectOptions *options,
          TalusVec3 gravity, TalusEngineCounts *counts))
/* After detect, before build, on one rank: find_impacts counts the contacts with restitution that close within h, faster
 * than the threshold, and writes the largest speed at which one approaches. propagate_impacts, right after it and only if there are some, changes the velocities of free
 * bodies by the law of engine/cpu/impact.c. The caller then detects again. If probes are requested, their sums have
 * the impulses of the impacts in `impulse` and `torque`, and 0 elsewhere. */
SHARED_ONLY(TalusStatus, find_impacts, (TalusEngine *engine, const TalusImpactOptions *options,
            int64_t *count, double *fastest))
SHARED_ONLY(TalusStatus, propagate_impacts, (TalusEngine *engine,
            const TalusImpactOptions *options, TalusEngineImpacts *out))
/* Sets the joints of all problems that are built later; NULL: none. */
OPERATION(TalusStatus, put_joints, (TalusEngine *engine, const TalusEngineJoints *joints))
/* Downloads, after a solve, the impulses of the joints to gamma, three per block, and the problem's present records
 * (op->body) of the bodies in slot[count] to record. */
OPERATION(TalusStatus, get_joint_results, (TalusEngine *engine, double *gamma, const int32_t *slot,
          double (*record)[8], int count))
/* Builds the problem of the step in the backend's memory; the caller may use op and gamma until the next detect. Rows
 * per block: 6 if some contact has moments, else 3 if some has friction or there are joints, else 1. Estimates are 0
 * and offsets without De Saxce's shift. A shared engine fills its setup's problem and sets *op and *gamma to NULL. */
OPERATION(TalusStatus, build, (TalusEngine *engine, const TalusBuildOptions *options,
          TalusOperator **op, double **gamma, TalusBuildReport *report))
/* After a solve: computes the solved velocities v_f + M^-1 D gamma, which the operations below use. *changed: true if
 * some free body's linear velocity differs by more than `limit`, m/s, from the velocity that detection used.
 * *overlap_ratio: the largest overlap after the step (talus_elastic_overlap) over its limit, elastic_overlap times
 * size, of contacts with relative compliance, except those with an overlap error (TalusHardening); 0 if there are
 * none. */
OPERATION(TalusStatus, compute_velocities, (TalusEngine *engine, double limit, bool *changed,
          double *overlap_ratio))
/* Searches for missing contacts of the bodies whose velocities changed by more than `limit`, m/s. *missing: true if the
 * list lacks a contact whose gap, moved by the solved velocities, ends below -h `tolerance` (m/s); redetect then adds
 * the contacts found, on a shared engine and if the list has general contacts. Pairs that have a contact are not
 * searched if each body is convex or a plane. */
OPERATION(TalusStatus, find_missing, (TalusEngine *engine, const TalusDetectOptions *options,
          double limit, double tolerance, bool *missing))
/* On several ranks, before find_missing: stores the solved motions of this rank's own bodies; solved_motions lends the
 * host's arrays, which have an element for every slot, also if put_bodies has added slots since. With a shared engine the
 * caller fills in those of other ranks' bodies; others have them in their own memory (get_motions, unpack_halo). */
OPERATION(TalusStatus, store_motions, (TalusEngine *engine, double limit))
OPERATION(TalusStatus, solved_motions, (TalusEngine *engine, TalusSolvedMotions *out))
/* Gives the contacts of the list other slots (talus_detector_renumber). */
SHARED_ONLY(void, renumber_contacts, (TalusEngine *engine, const int32_t *slot))

/* On several ranks, for world/ranks/halo_engine.c. Bodies whose reaches are meant are this rank's own; `solved`: with the
 * motions that store_motions has stored. */
/* Adds up the motions of free bodies since note_reaches, in a space that has deformed since then. */
OWN_ONLY(TalusStatus, sum_motions, (TalusEngine *engine, TalusReachSpace space,
         TalusReachMotion *out))
/* serves[k]: all bodies pass test[k] against the reaches of note_reaches. */
OWN_ONLY(TalusStatus, test_reaches, (TalusEngine *engine, const TalusReachTest *test,
         TalusVec3 gravity, bool solved, bool *serves))
/* Stores the bodies' reaches. */
OWN_ONLY(TalusStatus, note_reaches, (TalusEngine *engine, const TalusReachOptions *options,
         TalusVec3 gravity, bool solved, TalusReachSummary *out))
/* Sets the bits of the cells that the bodies' boxes touch, but for unbounded ones: bit[TALUS_NEAR_WORDS], all 0 before. */
OWN_ONLY(TalusStatus, mark_cells, (TalusEngine *engine, const TalusNearGrid *grid, uint32_t *bit))
/* Lends the slots, in ascending order, of the bodies whose boxes touch a cell with its bit set, and of unbounded ones, until
 * the next call. */
OWN_ONLY(TalusStatus, find_near, (TalusEngine *engine, const TalusNearGrid *grid,
         const uint32_t *bit, const int32_t **slot, int *count))
/* Writes the solved motions of the bodies in slot[count] to the arrays that solved_motions lends. */
OWN_ONLY(TalusStatus, get_motions, (TalusEngine *engine, const int32_t *slot, int count))
/* Uploads the bodies of the halo behind this rank's own, which stay, and what the order of ids is with them. */
OWN_ONLY(TalusStatus, put_halo, (TalusEngine *engine, const TalusBodyArrays *bodies))
/* Renews what the engine keeps of the host's arrays (id, at_rank, owner), which may have moved. */
OWN_ONLY(void, refer_to, (TalusEngine *engine, const TalusBodyArrays *bodies))
/* Gives the contacts of the list other slots; those with dropped[slot] nonzero, by the former ones, lose their impulses
 * before. dropped NULL: no contact does. */
OWN_ONLY(TalusStatus, move_contacts, (TalusEngine *engine, const TalusSlotChange *change,
         const uint8_t *dropped))
/* Sets which bodies pack_halo sends and unpack_halo receives, in the order of their records in messages. */
OWN_ONLY(TalusStatus, put_halo_lists, (TalusEngine *engine, const TalusHaloLists *lists))
/* Writes the states, or the solved motions, of the bodies that are sent to the memory for messages, which it lends. */
OWN_ONLY(TalusStatus, pack_halo, (TalusEngine *engine, bool solved, TalusHaloRecords *out))
/* Takes over what has come to that memory. */
OWN_ONLY(TalusStatus, unpack_halo, (TalusEngine *engine, bool solved))
/* Probes of the solved step: request_probes, before integrate, gives the engine the probes whose sums it is to compute,
 * probe[0 .. count - 1]; the array must stay valid until integrate has returned. get_probes, after integrate, writes
 * the sums. */
OPERATION(TalusStatus, request_probes, (TalusEngine *engine, const TalusEngineProbe *probe, int count))
OPERATION(TalusStatus, get_probes, (TalusEngine *engine, TalusProbeSums *sums, int count))
/* Stores the solved impulses gamma in the contact list, as impulses on b in the world frame, less attractive ones. */
OPERATION(TalusStatus, store_impulses, (TalusEngine *engine))
/* Stores gamma in the contact list, computes the requested probes, moves the bodies by h and fills the ledger. First
 * checks that the solved velocities lead to a finite state; if not, returns TALUS_ERR_NUMERIC, with a body's id in the
 * message if some speed is not below 1e150, and leaves bodies and contacts as they were. Afterwards the problem's
 * records of free bodies hold the mean of solved velocities and free velocities (without attraction and motors). */
OPERATION(TalusStatus, integrate, (TalusEngine *engine, double h, TalusVec3 gravity, long long step,
          TalusEngineLedger *ledger))

/* Sets the cell before detect, and after integrate, moved. Engines with TALUS_ENGINE_CELL, which share the arrays. */
SHARED_ONLY(void, put_cell, (TalusEngine *engine, const TalusCell *cell))
/* As wrap_bodies, in a cell that deforms: bodies that cross its sides change their velocities, too. */
SHARED_ONLY(TalusStatus, wrap_in_cell, (TalusEngine *engine, TalusVec3 gravity, TalusCellSums *sums))
/* In periodic space: moves free bodies that have left the period by whole periods, back into it. *lifted: the change of
 * their potential energy, J. Engines with TALUS_ENGINE_PERIODS only. */
OPERATION(TalusStatus, wrap_bodies, (TalusEngine *engine, TalusVec3 gravity, double *lifted))

/* snapshot_contacts copies the contact list inside the engine, snapshot_states the states of all bodies. rollback, after
 * a step that has failed, restores the list and, with `states`, the states, at most once per snapshot. If rollback
 * fails, the impulses of the list are lost. */
OPERATION(TalusStatus, snapshot_contacts, (TalusEngine *engine))
OPERATION(TalusStatus, snapshot_states, (TalusEngine *engine))
OPERATION(TalusStatus, rollback, (TalusEngine *engine, bool states))

/* clang-format on */

#undef OPERATION
#undef SHARED_ONLY
#undef OWN_ONLY
