/* comm/mpi_module.h - interface between libtalus and the module talus_mpi.so, which alone is linked with MPI.
 *
 * The module (apps/plugins/mpi.c) carries messages between processes and ends the calls of all if one fails; comm/mpi.c
 * makes the calls of a communicator of them. The module uses no symbol of libtalus, libtalus uses none of MPI. One thread
 * at a time uses the module. */
#ifndef TALUS_COMM_MPI_MODULE_H
#define TALUS_COMM_MPI_MODULE_H

#include "comm/comm.h"

/* TALUS_MPI_VERSION increases with every change of this header. TALUS_MPI_TEXT: size of a text. */
enum { TALUS_MPI_VERSION = 2, TALUS_MPI_TEXT = 512 };

typedef struct TalusMpiModule {
    int version;

    /* True if the program itself has started MPI. */
    bool (*is_started)(void);
    /* Starts MPI unless that has been done; sets the number of this rank and the number of ranks. False on failure: `text`
     * has the reason. */
    bool (*open)(int *rank, int *size, char text[TALUS_MPI_TEXT]);

    /* A run of the ranks begins; all ranks have begun it when one receives the first message. */
    void (*begin_run)(void);
    /* A call begins. All ranks begin the same calls in the same order. */
    void (*begin_call)(void);
    /* Begins to send and to receive messages; both ends know the number of bytes. */
    void (*begin_transfer)(const TalusMessage *send, int sends, const TalusMessage *receive,
                           int receives);
    /* Lets the messages get on, without waiting; true if finish_transfer would not wait. */
    bool (*advance_transfer)(void);
    /* Waits until all messages have come and gone. In this and the next two: false: the run is broken, because a rank has
     * left it before it had completed the call, or because the number of bytes was wrong. */
    bool (*finish_transfer)(void);
    /* Sends messages and waits for `count` messages of any other ranks; writes their ranks, rising, and bytes to
     * `found`. */
    bool (*find)(const TalusMessage *send, int sends, int count, TalusMessage *found);
    /* Receives what has been found; messages of this rank to itself are passed over. */
    bool (*take)(const TalusMessage *into, int count);
    /* Leaves the run in the middle of a call; returns when all ranks have left it. */
    void (*leave)(void);
    /* Leaves the run after the last call and waits for all ranks. If a rank has failed, replaces status and error, of
     * `bytes` bytes, by those of the first rank that did not fail because of others. */
    void (*end_run)(int *status, void *error, size_t bytes);
} TalusMpiModule;

/* Name and type of the only function that the module exports; it returns the module's table. */
#define TALUS_MPI_SYMBOL "talus_mpi_module"
typedef const TalusMpiModule *TalusMpiEntry(void);

#endif
