/* cli/serve/serve_index.h - where the frames of a growing frames file are, from its chunk headers alone.
 *
 * Knows no more of the file than docs/reference/frames.md says of chunks, decodes nothing, and asks nothing but
 * an open descriptor: the server opens the file itself, so that it can be no other. Payloads are not
 * read, so a damaged one is found by whoever decodes it. */
#ifndef TALUS_CLI_SERVE_INDEX_H
#define TALUS_CLI_SERVE_INDEX_H

#include "io/frames/frames.h"

enum { SERVE_FRAMES_MAX = 1000000 };

typedef struct ServePlace {
    uint64_t offset, size; /* of a chunk with its header and its zeros */
} ServePlace;

typedef struct ServeFrame {
    ServePlace place;
    double time;
    int64_t step;
    uint32_t bodies;
    bool key;
} ServeFrame;

/* Zeroed: of no file yet. */
typedef struct ServeIndex {
    int frame_count, head_count;
    ServeFrame *frames;
    ServePlace *heads;
    uint64_t end;           /* of the last whole chunk before an index; where looking goes on */
    uint64_t size;          /* of all that is whole: `end`, or the file where it is complete */
    bool complete;          /* an index ends the file */
    uint64_t device, inode; /* of the file */
    uint64_t last;          /* where the last chunk before `end` is; 0: none */
    TalusChunk check;       /* its header, which holds the checksum of its payload */
} ServeIndex;

/* Takes up the chunks that have come since. Where it is another file, or was cut back behind `end` or
 * written anew, all is read again and *anew is true; it is left alone otherwise. */
TalusStatus serve_index_refresh(ServeIndex *index, int fd, bool *anew);
/* Forgets the file. */
void serve_index_clear(ServeIndex *index);

#endif
