/* base/profile.h - where the time of a program goes, by stage and loop; off unless talus_profile_start was called.
 *
 * A loop is a parallel loop of the host, named by its function, or a kernel of a GPU. While a profile is on, kernels are
 * started one by one and waited for, so that a step takes longer than without one. */
#ifndef TALUS_BASE_PROFILE_H
#define TALUS_BASE_PROFILE_H

#include <talus/base.h>

/* All calls of a loop in one stage. */
typedef struct TalusProfileRow {
    const char *stage, *loop;
    int64_t calls;
    double seconds;
    /* bytes that the loop must move if each of its arrays comes from memory once, and the seconds of the calls for which
     * they are known */
    double bytes, known_seconds;
} TalusProfileRow;

/* Forgets what was measured, and measures from now on. */
void talus_profile_start(void);
void talus_profile_stop(void);
bool talus_profile_is_on(void);

/* Sets the stage of the loops that this thread starts from now on and returns the previous one; "" at first. The text
 * must stay valid. */
const char *talus_profile_set_stage(const char *stage);
/* Tells how many bytes the next loop of this thread must move. Later loops have none unless told again. */
void talus_profile_expect_bytes(double bytes);
/* Returns what was told; 0 while no profile is on. */
double talus_profile_expected_bytes(void);
/* Adds a call of a loop. The name must stay valid; equal names are one loop. */
void talus_profile_add(const char *loop, double seconds);
/* The same while a profile is on, of what has been done since `begun` (talus_now), outside of loops. */
void talus_profile_add_since(const char *name, double begun);

/* Writes up to `limit` rows, by falling seconds; returns how many were written. */
int talus_profile_rows(TalusProfileRow *row, int limit);

#endif
