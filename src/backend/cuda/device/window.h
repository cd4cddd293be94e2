/* backend/cuda/device/window.h - device memory of a rank that the other ranks of its process read.
 *
 * Ranks that are threads of one process share its address space, and devices that see each other share theirs. Each rank
 * has a window: what it wants others to know, written by its kernels and read by theirs. The host carries nothing; all
 * ranks meet (cu_windows_meet), which makes the stream of each wait for what the streams of all others had been given
 * before. No rank waits for a device there.
 *
 * Messages and boards are there twice, for meetings of even and of odd number. What is written before meeting m is read
 * after it, and written again before meeting m + 2 at the earliest. By then the writer's stream has waited, at meeting
 * m + 1, for all that read it.
 *
 * A window is freed when neither its rank nor another one holds it: a rank that has failed takes nothing away from
 * others. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_WINDOW_H
#define TALUS_BACKEND_CUDA_DEVICE_WINDOW_H

#include "backend/cuda/device/reduce.h"

/* Tallies of a window, for a kernel's steps of even and of odd number (iterate.cu). */
enum { CU_WINDOW_TALLIES = 16 };

/* Addresses in a rank's window. */
struct CuWindowView {
    double2 *message[2]; /* by parity of the meeting, as board */
    CuBoard *board[2];
    CuTally *tally; /* [CU_WINDOW_TALLIES] */
};

/* Makes the window of this context's rank, with messages of `words` double2, known to all ranks, and theirs to it. Called
 * by all ranks together, once per problem, each with its status so far; a failure of one is one of all. Afterwards windows
 * are open if ranks share memory and their devices see each other's; else messages travel through the host. */
TalusStatus cu_windows_open(CuContext *cu, TalusComm *comm, int64_t words, TalusStatus status);
void cu_windows_close(CuContext *cu);
/* True if windows are open. The functions below need that. */
bool cu_windows_are_open(const CuContext *cu);

/* Returns the window of this rank, and those of all ranks in device memory, [ranks]. */
const CuWindowView *cu_window_own(const CuContext *cu);
const CuWindowView *cu_window_all(const CuContext *cu);
/* Returns the parity of the next meeting. */
int cu_windows_turn(const CuContext *cu);
/* Makes all that this stream is given from now on follow what the streams of all ranks had been given before. Called by all
 * ranks. False on all of them if one has an error that cu_check has still to report; cu_check then reports one on each. */
bool cu_windows_meet(CuContext *cu);

/* Returns the sum, or with `max` the largest, of what `word` returns for the windows of all ranks. */
template <class F>
static __device__ inline unsigned long long cu_add_words(const CuWindowView *window, int ranks,
                                                         bool max, F word)
{
    unsigned long long all = 0;
    for (int r = 0; r < ranks; r++) {
        const unsigned long long v = word(window[r]);
        all = !max ? all + v : v > all ? v : all;
    }
    return all;
}

/* Writes to to[count] the tallies first to first + count - 1 of all ranks, added up; `maximum` is the index in `to` of a
 * maximum, -1: there is none. */
void cu_windows_add_tallies(CuContext *cu, int first, int count, int maximum, CuTally *to);

#endif
