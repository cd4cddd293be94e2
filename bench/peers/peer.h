/* What the time-stepping peers share: options, the timed loop, the measurement of one sweep, the
 * result line. An engine is a short table of functions; its file holds nothing but its own API. */
#ifndef TALUS_BENCH_PEER_H
#define TALUS_BENCH_PEER_H

#include "bed.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PeerEngine {
    const char *name;
    void *(*create)(const Bed *bed);
    void (*set_iterations)(void *engine, int iterations);
    void (*step)(void *engine, double h);
    int (*contacts)(void *engine); /* that the solver saw in the last step; not timed */
    void (*positions)(void *engine, double *x);
    void (*destroy)(void *engine);
} PeerEngine;

/* main() of a peer; see peer.c for the options. */
int peer_main(const PeerEngine *engine, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
