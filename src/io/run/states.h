/* io/run/states.h - the states that a run's directory holds, each with what is known of it, from one of three sources:
 *
 *     checkpoint  one state, exact, with all contacts
 *     tables      frames of --frames csv: exact, with all contacts
 *     frames      frames.talus, of a run with --frames exact: exact, with all contacts; else positions on a grid, velocities to
 *                 8 bits, no spins, contacts above the mean force alone, and masses those of the checkpoint or, of bodies that it
 *                 lacks, unknown (NAN) */
#ifndef TALUS_IO_RUN_STATES_H
#define TALUS_IO_RUN_STATES_H

#include <talus/frames.h>

typedef enum TalusStateSource {
    TALUS_STATES_CHECKPOINT,
    TALUS_STATES_TABLES,
    TALUS_STATES_FRAMES,
    TALUS_STATE_SOURCES
} TalusStateSource;

/* Returns "checkpoint", "tables" or "frames". */
const char *talus_state_source_name(TalusStateSource source);

typedef struct TalusStates TalusStates;

/* Opens the states of one source; fails if the directory has none of it. */
TalusStatus talus_states_open(const char *dir, TalusStateSource source, TalusStates **out);
void talus_states_close(TalusStates *states);
/* True if the directory has states of a source. */
bool talus_states_exist(const char *dir, TalusStateSource source);
int talus_states_count(const TalusStates *states);
double talus_states_time(const TalusStates *states, int index);
/* True if a state has all numbers bit by bit, and all contacts. */
bool talus_states_exact(const TalusStates *states, int index);
/* True if bodies may sleep in this run, by its checkpoint: contacts between sleeping bodies are in no state. */
bool talus_states_may_sleep(const TalusStates *states);
/* Sets *snapshot and *head, which `states` owns, until the next call. */
TalusStatus talus_states_read(TalusStates *states, int index, const TalusSnapshot **snapshot,
                              const TalusFramesHead **head);

#endif
