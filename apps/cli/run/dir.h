/* cli/run/dir.h - state and control files in the directory of a run.
 *
 * run.json  state, rewritten as a whole during the run
 * run.lock  locked while the run's process lives; the system unlocks it however the process ends
 * control   one command word for the run, which removes the file when it obeys
 *
 * docs/reference/output.md describes the three. Reading requires no write permission and stops no run. */
#ifndef TALUS_CLI_DIR_H
#define TALUS_CLI_DIR_H

#include <stdbool.h>
#include <stdint.h>

enum { RUN_TEXT_MAX = 512 }; /* bytes of a text of RunState */

typedef struct RunState {
    /* "running", "paused", "finished", "stopped", "failed"; "died": run.json says running or paused, but no
     * process holds the lock; "unknown": no valid run.json, reason in `message`. */
    const char *state;
    /* A process executes the run and obeys the command words of the file `control`, or the lock cannot be tested. */
    bool alive;
    char scene[RUN_TEXT_MAX], title[RUN_TEXT_MAX], message[RUN_TEXT_MAX];
    int64_t step;
    int64_t seed;              /* of the scene; 0: none */
    double time, until, every; /* simulated seconds: now, at the end of the run, between frames */
    double steps_per_second;
    int64_t bodies;
    /* Overlaps of loaded contacts in the last step, over the size of the smaller body, and the stiffness number kappa;
     * NAN: run.json lacks them; kappa is NAN also where nothing overlaps. */
    double overlap_mean, overlap_p99, overlap_max, kappa;
} RunState;

/* Reads the state of the run in `dir`, relative to the open directory `at` as for openat(); follows no link to a file.
 * Fills *state in any case; returns false if the state is "unknown". */
bool run_state_read(int at, const char *dir, RunState *state);
/* Writes run.json in the open directory `dir`, under a temporary name that is then changed, so that readers never
 * see a partial file; returns false on failure. Does not sync to disk: after a crash of the machine no run is alive
 * anyway. */
bool run_state_write(int dir, const RunState *state);

/* Command words in `control`. */
#define RUN_PAUSE "pause"
#define RUN_CONTINUE "run"
#define RUN_STOP "stop"

/* Writes a command word to the file `control`, in place of a word that the run has not read yet. Returns false, with
 * errno, on failure. */
bool run_control_write(int dir, const char *word);
/* Reads the first word of the file `control`, at most size - 1 bytes, and removes the file. Returns false if the file
 * is missing, empty or not regular; the word is "" if the file cannot be read or begins with a blank. */
bool run_control_take(int dir, char *word, int size);

/* Returns the number of complete rows below the header of the table `name` of the run, such as "steps.csv"; -1: there
 * is no such regular file. Follows no links. */
int64_t run_table_count_rows(const char *dir, const char *name);

/* Result of run_lock_take. */
typedef enum RunLock {
    RUN_LOCKED,
    RUN_LOCK_HELD,   /* by another process */
    RUN_LOCK_ABSENT, /* the file system has no locks: errno */
    RUN_LOCK_FAILED  /* the file cannot be opened or created: errno */
} RunLock;

/* Locks run.lock in the open directory `dir`. The lock lasts while *fd is open; *fd is -1 unless RUN_LOCKED. */
RunLock run_lock_take(int dir, int *fd);

#endif
