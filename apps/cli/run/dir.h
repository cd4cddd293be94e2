/* cli/run/dir.h - what the directory of a run says of the run, and how to tell a run what to do.
 *
 * run.json  the state, rewritten as a whole while the run goes on
 * run.lock  locked as long as the run's process lives: the system unlocks it whatever ends the process
 * control   one word for the run, which takes the file away when it obeys
 *
 * docs/reference/output.md describes the three. Reading needs no right to write and stops no run. */
#ifndef TALUS_CLI_DIR_H
#define TALUS_CLI_DIR_H

#include <stdbool.h>
#include <stdint.h>

enum { RUN_TEXT_MAX = 512 };

typedef struct RunState {
    /* "running", "paused", "finished", "stopped", "failed"; "died": it says that it runs, but no process
     * holds the lock; "unknown": there is no sound run.json, and `message` says why. */
    const char *state;
    bool alive; /* a process runs it and heeds `control` */
    char scene[RUN_TEXT_MAX], title[RUN_TEXT_MAX], message[RUN_TEXT_MAX];
    int64_t step;
    double time, until, every; /* simulated seconds */
    double steps_per_second;
    int bodies;
} RunState;

/* False where the state is "unknown". */
bool run_state_read(const char *dir, RunState *state);
/* The same of a directory that is open: no link is followed and no other directory can be read. */
bool run_state_read_at(int dir, RunState *state);
/* Into the open directory, beside the file and then renamed: a reader never meets half of it. Not brought to the
 * disk: after a crash of the machine nothing runs anyway. */
bool run_state_write(int dir, const RunState *state);

/* The words of `control`. */
#define RUN_PAUSE "pause"
#define RUN_GO_ON "run"
#define RUN_STOP "stop"

/* Puts a word into the open directory for the run to take; one that was not taken yet is replaced. False
 * with errno. */
bool run_control_write(int dir, const char *word);
/* Takes a word away and copies it; false if there is none. */
bool run_control_take(int dir, char *word, int size);

/* The rows of a table of the run below its header, -1 without one; links are not followed. */
int64_t run_table_rows(const char *dir, const char *name);

/* The lock of a process that writes to a directory. */
typedef enum RunLock {
    RUN_LOCKED,
    RUN_LOCK_HELD,   /* by another process */
    RUN_LOCK_ABSENT, /* this file system has no locks: errno */
    RUN_LOCK_FAILED  /* the file cannot be made: errno */
} RunLock;

/* *fd is to be kept open for as long as the run goes on; -1 unless RUN_LOCKED. */
RunLock run_lock_take(int dir, int *fd);

#endif
