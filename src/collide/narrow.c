/* collide/narrow.c - narrow phase on the host: passes the points of pair_table.h to a function. */
#include "collide/narrow.h"

typedef struct Sink {
    TalusManifoldRoute route;
    TalusManifoldFn *fn;
    void *context;
} Sink;

#define TALUS_MANIFOLD_SINK Sink
#define TALUS_MANIFOLD_TAKE(sink, touch) (sink)->fn((sink)->context, (touch))
#include "collide/pair_table.h"

bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusManifoldFn *fn,
                  void *context)
{
    Sink sink = {.fn = fn, .context = context};
    return talus_manifold_points(a, b, reach, &sink);
}
