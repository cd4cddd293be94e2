/* world/ranks/rest.c - on several ranks: islands of bodies that fall asleep together.
 *
 * Every rank knows the islands of its own free bodies and of those that touch them, its halo. The owner of a body and all
 * ranks that have copies of it tell each other the smallest number of the body's island and whether the island must stay
 * awake, until nothing changes: as many times as the largest island has ranks one behind the other. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

#include <string.h>

TalusStatus talus_ranks_gather_numbers(TalusComm *comm, uint64_t **number, int64_t *count)
{
    TalusInbox inbox = {0};
    uint64_t *all = NULL;
    size_t total = 0, at = 0;
    TALUS_TRY(talus_comm_gather(comm, *number, (size_t)*count * sizeof **number, &inbox));
    for (int m = 0; m < inbox.count; m++)
        total += inbox.message[m].bytes / sizeof **number;
    TalusStatus status = talus_comm_agree(comm, TALUS_ALLOC(all, total + 1, "numbers of bodies"));
    for (int m = 0; status == TALUS_OK && m < inbox.count; m++) {
        if (inbox.message[m].bytes > 0)
            memcpy(all + at, inbox.message[m].data, inbox.message[m].bytes);
        at += inbox.message[m].bytes / sizeof **number;
    }
    talus_inbox_clear(&inbox);
    talus_release(*number);
    *number = all;
    *count = (int64_t)at;
    return status;
}

/* What ranks know of an island. */
typedef struct Island {
    uint64_t least;    /* number of its bodies */
    uint64_t restless; /* 0 or 1 */
} Island;

typedef struct Join {
    const TalusWorld *world;
    const int32_t *island;
    int slots, size;       /* with the halo; of ranks */
    Island *known;         /* [slots], by island[slot] */
    Island *out, *in;      /* of all messages */
    TalusMessage *message; /* [2 * size] */
} Join;

/* Merges what another knows; true if this is news. */
static bool merge(Island *into, const Island *from)
{
    const Island before = *into;
    if (from->least < into->least)
        into->least = from->least;
    into->restless |= from->restless;
    return into->least != before.least || into->restless != before.restless;
}

/* Starts with what this rank knows alone. */
static void begin_join(Join *j, const uint8_t *restless)
{
    const TalusBodies *b = &j->world->bodies;
    for (int i = 0; i < j->slots; i++)
        j->known[i] = (Island){UINT64_MAX, 0};
    for (int i = 0; i < j->slots; i++) {
        const Island body = {b->id[i], talus_slot_is_free(b, i) ? restless[j->island[i]] : 0};
        if (talus_slot_is_free(b, i))
            merge(&j->known[j->island[i]], &body);
    }
}

/* Number of bodies in lists for, or from, all ranks. */
static size_t count_slots(const TalusSlotList *list, int ranks)
{
    size_t count = 0;
    for (int r = 0; r < ranks; r++)
        count += (size_t)list[r].count;
    return count;
}

static TalusStatus open_join(Join *j)
{
    const TalusRanks *ranks = &j->world->ranks;
    TALUS_TRY(TALUS_ALLOC(j->known, (size_t)j->slots + 1, "islands"));
    TALUS_TRY(TALUS_ALLOC(j->message, 4 * (size_t)j->size, "islands"));
    /* both ways: owners tell, and are told */
    const size_t bodies = count_slots(ranks->to, j->size) + count_slots(ranks->from, j->size);
    TALUS_TRY(TALUS_ALLOC(j->out, bodies + 1, "islands"));
    return TALUS_ALLOC(j->in, bodies + 1, "islands");
}

/* Messages of what this rank knows of the bodies that it and another rank have, and of what it gets: lists of its own, then
 * of its halo; the other rank has them the other way round. */
static void fill_messages(Join *j, int *sends, int *receives)
{
    const TalusRanks *ranks = &j->world->ranks;
    const TalusBodies *b = &j->world->bodies;
    const Island none = {UINT64_MAX, 0};
    size_t at = 0;
    *sends = *receives = 0;
    for (int r = 0; r < j->size; r++) {
        const TalusSlotList *lists[2] = {&ranks->to[r], &ranks->from[r]};
        const size_t count = (size_t)(lists[0]->count + lists[1]->count), start = at;
        if (count == 0)
            continue;
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < lists[k]->count; i++) {
                const int slot = lists[k]->slot[i];
                j->out[at++] = talus_slot_is_free(b, slot) ? j->known[j->island[slot]] : none;
            }
        j->message[(*sends)++] = (TalusMessage){j->out + start, count * sizeof *j->out, r};
        j->message[2 * j->size + (*receives)++] =
            (TalusMessage){j->in + start, count * sizeof *j->in, r};
    }
}

/* Merges what has come; true if something is news. */
static bool take_messages(Join *j, int receives)
{
    const TalusRanks *ranks = &j->world->ranks;
    bool news = false;
    for (int m = 0; m < receives; m++) {
        const TalusMessage *message = &j->message[2 * j->size + m];
        const TalusSlotList *lists[2] = {&ranks->from[message->rank], &ranks->to[message->rank]};
        const Island *island = message->data;
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < lists[k]->count; i++, island++) {
                const int slot = lists[k]->slot[i];
                if (talus_slot_is_free(&j->world->bodies, slot))
                    news |= merge(&j->known[j->island[slot]], island);
            }
    }
    return news;
}

/* Exchanges until no rank has news. */
static TalusStatus join(Join *j)
{
    TalusComm *comm = j->world->ranks.comm;
    bool news = true;
    while (news) {
        int sends, receives;
        fill_messages(j, &sends, &receives);
        TALUS_TRY(talus_comm_exchange(comm, j->message, sends, j->message + 2 * j->size, receives));
        news = talus_comm_any(comm, take_messages(j, receives));
    }
    return TALUS_OK;
}

TalusStatus talus_ranks_join_islands(const TalusWorld *world, const int32_t *island,
                                     uint8_t *restless, uint64_t *label)
{
    const int own = world->bodies.counts.slots;
    Join j = {.world = world,
              .island = island,
              .slots = own + world->ranks.halo,
              .size = talus_comm_size(world->ranks.comm)};
    TalusStatus status = talus_comm_agree(world->ranks.comm, open_join(&j));
    if (status == TALUS_OK) {
        begin_join(&j, restless);
        status = join(&j);
    }
    for (int i = 0; status == TALUS_OK && i < own; i++)
        if (talus_slot_is_free(&world->bodies, i)) {
            label[i] = j.known[island[i]].least;
            restless[island[i]] = j.known[island[i]].restless != 0;
        }
    TALUS_RELEASE(j.known, j.message, j.out, j.in);
    return status;
}
