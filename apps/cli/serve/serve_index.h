/* cli/serve/serve_index.h - index of the frames in a growing frames file, from its chunk headers alone.
 *
 * Relies only on the chunk layout in docs/reference/frames.md and decodes nothing. Takes an open descriptor: the server
 * opens the file itself, so that it can be no other. Payloads are not read; a damaged one is found by the decoder. */
#ifndef TALUS_CLI_SERVE_INDEX_H
#define TALUS_CLI_SERVE_INDEX_H

#include "io/frames/frames.h"

enum { SERVE_FRAMES_MAX = 1000000 };

typedef struct ServePlace {
    uint64_t offset, size; /* of a chunk with its header and padding */
} ServePlace;

typedef struct ServeFrame {
    ServePlace place;
    double time;
    int64_t step;
    uint32_t bodies;
    bool key;
} ServeFrame;

/* Zero-initialised: no file yet. */
typedef struct ServeIndex {
    int frame_count, head_count;
    ServeFrame *frames;
    ServePlace *heads;
    uint64_t end;           /* end of the last complete chunk before an index */
    uint64_t size;          /* size of the valid part: `end`, or the file size if complete */
    bool complete;          /* the file ends with an index */
    uint64_t device, inode; /* identity of the file */
    uint64_t last;          /* offset of the last chunk before `end`; 0: none */
    TalusChunk check;       /* header of that chunk, with the checksum of its payload */
} ServeIndex;

/* Reads chunks appended since the last call. If the file was replaced, truncated before `end` or rewritten, reads
 * all chunks again and sets *anew; otherwise leaves *anew unchanged. */
TalusStatus serve_index_refresh(ServeIndex *index, int fd, bool *anew);
/* Releases the index. */
void serve_index_clear(ServeIndex *index);

#endif
