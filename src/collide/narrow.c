/* collide/narrow.c - touches of two shapes on the host: those of touch.h, handed to a function. */
#include "collide/narrow.h"

typedef struct Sink {
    TalusTouchRoute route;
    TalusTouchFn *fn;
    void *context;
} Sink;

#define TALUS_TOUCH_SINK Sink
#define TALUS_TOUCH_TAKE(sink, touch) (sink)->fn((sink)->context, (touch))
#include "collide/touch.h"

bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusTouchFn *fn,
                  void *context)
{
    Sink sink = {.fn = fn, .context = context};
    return talus_touches(a, b, reach, &sink);
}
