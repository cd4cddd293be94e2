/* collide/narrow.c - narrow phase on the host: passes the points of pair_table.h to a function. */
#include "collide/narrow.h"

/* Passes manifold points to fn(context, point). */
typedef struct Sink {
    TalusManifoldRoute route;
    TalusManifoldReceiver *fn;
    void *context;
} Sink;

#define TALUS_MANIFOLD_SINK Sink
#define TALUS_MANIFOLD_RECEIVE(sink, touch) (sink)->fn((sink)->context, (touch))
#include "collide/pair_table.h"

bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusManifoldReceiver *fn,
                  void *context)
{
    Sink sink = {.fn = fn, .context = context};
    return talus_manifold_of_pair(a, b, reach, &sink);
}
