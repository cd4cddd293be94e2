/* world/ranks/halo.c - the halo of a rank: copies of other ranks' bodies that may touch its own free ones.
 *
 * Every body has a box in which it may touch others (reach.c). Each rank tells all others the bounds of its free bodies'
 * boxes, and of all its bodies' boxes. Where these bounds overlap, it tells the other rank which cells of a grid its free
 * bodies' boxes touch, and gets the bodies whose boxes touch one of these cells. A body whose box touches many cells is
 * sent to every rank with free bodies within its box; if it is free itself, its rank asks for all bodies within its box.
 * Bodies with joints are sent to all ranks.
 *
 * Boxes have a skin, so that a halo serves for some steps (reach.c), in which the states of its bodies alone travel. */
#include "world/ranks/cells.h"
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "base/profile.h"
#include "base/runs.h"
#include "base/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the edge of a cell is the mean half width of boxes times this. */
static const double CELL_SIZE = 2.0;

/* What a rank asks of another: the bodies that touch one of `cells` cells or `boxes` boxes, which follow, boxes first. */
typedef struct Request {
    int64_t boxes, cells;
} Request;

/* A search for the bodies of the halo. It goes over all bodies of this rank or, if an engine with memory of its own has their
 * newest states, over those near other ranks' bodies, which have come from there (halo_engine.c). `body` below is an index
 * in these. */
typedef struct Search {
    TalusWorld *world;
    TalusRanks *ranks;
    const TalusDetectOptions *options;
    const TalusSolvedMotions *motions; /* NULL: before the solve */
    bool by_engine;
    int slots, rank, size;
    int bodies;    /* number of those that are searched; the first `slots` if `slot` is NULL */
    int32_t *slot; /* [bodies], ascending */
    TalusReachSummary summary;   /* by_engine: of all own bodies */
    TalusReachBox *box;          /* [bodies] */
    TalusReachBox *need, *offer; /* [size]: bounds of free bodies, and of all but unbounded ones */
    TalusCellTable table;        /* of bodies that are not large, near other ranks' bodies */
    TalusMessage *message;       /* [size] */
    int messages;
    uint32_t *sent; /* [slots]: 1 + the last rank to whom the body is sent */
    uint32_t *
        touched; /* [bodies]: 1 + the last rank that has asked for a cell or box that the body touches */
    uint8_t *jointed;  /* [slots]: 1 if the body has joints */
    uint8_t *is_large; /* [bodies] */
    int32_t *large;    /* [larges]: large bodies, and those with joints */
    int larges;
} Search;

static int slot_of(const Search *s, int body)
{
    return s->slot ? s->slot[body] : body;
}

/* ---- boxes ---- */

static const TalusReachBox nothing = {{INFINITY, INFINITY, INFINITY},
                                      {-INFINITY, -INFINITY, -INFINITY}};

static bool is_living(const Search *s, int body)
{
    return s->world->bodies.shape[slot_of(s, body)] >= 0;
}

static bool is_free(const Search *s, int body)
{
    return talus_slot_is_free(&s->world->bodies, slot_of(s, body));
}

static bool overlap(const Search *s, const TalusReachBox *a, const TalusReachBox *b)
{
    return talus_reach_boxes_overlap(&s->world->def.period, a, b);
}

static void extend_box(TalusReachBox *box, const TalusReachBox *by)
{
    box->lo =
        talus_vec3(fmin(box->lo.x, by->lo.x), fmin(box->lo.y, by->lo.y), fmin(box->lo.z, by->lo.z));
    box->hi =
        talus_vec3(fmax(box->hi.x, by->hi.x), fmax(box->hi.y, by->hi.y), fmax(box->hi.z, by->hi.z));
}

static void find_boxes(Search *s)
{
    const TalusReachOptions options = talus_ranks_reach_options(s->world, s->options);
    for (int i = 0; i < s->bodies; i++) {
        s->box[i] = nothing;
        if (!is_living(s, i))
            continue;
        const TalusReach reach = s->by_engine
                                     ? talus_reach_of(s->world, s->slot[i], &options, s->motions)
                                     : s->ranks->reach[i];
        s->box[i] = talus_reach_box(&reach);
    }
}

/* Writes the bounds of this rank's boxes. */
static void find_bounds(const Search *s, TalusReachBox *need, TalusReachBox *offer)
{
    if (s->by_engine) {
        *need = s->summary.need;
        *offer = s->summary.offer;
    }
    for (int i = 0; !s->by_engine && i < s->slots; i++) {
        if (!is_living(s, i) || isinf(s->box[i].hi.x))
            continue;
        extend_box(offer, &s->box[i]);
        if (is_free(s, i))
            extend_box(need, &s->box[i]);
    }
}

/* Shares the bounds of all ranks' boxes. */
static void share_bounds(Search *s)
{
    TalusReachBox *all = s->need; /* need and offer are one array */
    for (int r = 0; r < 2 * s->size; r++)
        all[r] = nothing;
    find_bounds(s, &s->need[s->rank], &s->offer[s->rank]);
    /* as maxima: the lower corners with the other sign, and of other ranks the smallest number */
    for (int r = 0; r < 2 * s->size; r++)
        all[r].lo = talus_neg(all[r].lo);
    talus_comm_find_maxima(s->ranks->comm, (double *)all, 12 * s->size);
    for (int r = 0; r < 2 * s->size; r++)
        all[r].lo = talus_neg(all[r].lo);
}

/* ---- cells ---- */

/* Adds up the half widths of the boxes of this rank's free bodies; returns their number. */
static int64_t add_widths(const Search *s, TalusSum *sum)
{
    int64_t count = s->by_engine ? s->summary.widths : 0;
    if (s->by_engine)
        talus_sum_add(sum, &s->summary.half_widths, 1);
    for (int i = 0; !s->by_engine && i < s->slots; i++) {
        const double half = 0.5 * (s->box[i].hi.x - s->box[i].lo.x);
        if (!is_living(s, i) || !is_free(s, i) || !isfinite(half))
            continue;
        talus_sum_add(sum, &half, 1);
        count++;
    }
    return count;
}

/* Sets the grid of cells from the mean width of all ranks' boxes. */
static TalusStatus choose_cells(Search *s)
{
    TalusSum sum = {0};
    int64_t count = add_widths(s, &sum);
    talus_comm_add_sums(s->ranks->comm, &sum, 1);
    TALUS_TRY(talus_comm_add_counts(s->ranks->comm, &count, 1));
    double edge = count > 0 ? 2.0 * CELL_SIZE * (talus_sum_value(&sum) / (double)count) : 1.0;
    if (!(edge > 0.0) || isinf(edge))
        edge = 1.0;
    s->table.grid = talus_cell_grid_make(&s->world->def.period, edge);
    return TALUS_OK;
}

static void find_large(Search *s)
{
    for (int i = 0; i < s->bodies; i++) {
        if (!is_living(s, i))
            continue;
        const TalusCellRange c = talus_cells_of_box(&s->table.grid, &s->box[i]);
        s->is_large[i] = talus_count_cells(&c) == TALUS_MANY_CELLS;
        if (s->jointed[slot_of(s, i)] || s->is_large[i])
            s->large[s->larges++] = i;
    }
}

/* Lists the other ranks whose bodies may touch this one's in near[size]; returns their number. */
static int list_near_ranks(const Search *s, int *near)
{
    int count = 0;
    for (int r = 0; r < s->size; r++)
        if (r != s->rank && overlap(s, &s->offer[s->rank], &s->offer[r]))
            near[count++] = r;
    return count;
}

/* Enters the bodies near those of other ranks in the table of cells. */
static TalusStatus enter_cells(Search *s)
{
    int *near;
    TALUS_TRY(TALUS_ALLOC(near, (size_t)s->size, "halo"));
    const double start = talus_now();
    const int nears = list_near_ranks(s, near);
    TalusStatus status = TALUS_OK;
    for (int i = 0; i < s->bodies && status == TALUS_OK; i++) {
        bool is_near = false;
        if (!is_living(s, i) || s->is_large[i])
            continue;
        for (int k = 0; k < nears && !is_near; k++)
            is_near = overlap(s, &s->box[i], &s->offer[near[k]]);
        if (is_near)
            status = talus_cell_table_add(&s->table, i, is_free(s, i), &s->box[i]);
    }
    talus_release(near);
    TALUS_THEN(status, talus_cell_table_list(&s->table));
    talus_profile_add_since("halo.c:enter_cells", start);
    return status;
}

/* ---- requests ---- */

/* Appends `bytes` bytes at the end of s->ranks->out, of which `used` are in use. */
static TalusStatus append(TalusRanks *ranks, size_t *used, const void *data, size_t bytes)
{
    TALUS_TRY(TALUS_GROW(ranks->out, *used + bytes + 1, *used, "messages"));
    if (bytes > 0)
        memcpy(ranks->out + *used, data, bytes);
    *used += bytes;
    return TALUS_OK;
}

/* Appends the boxes of large free bodies that overlap `offer`. */
static TalusStatus append_large(Search *s, const TalusReachBox *offer, size_t *used, int64_t *count)
{
    for (int k = 0; k < s->larges; k++) {
        const int i = s->large[k];
        if (!s->is_large[i] || !is_free(s, i) || !overlap(s, &s->box[i], offer))
            continue;
        TALUS_TRY(append(s->ranks, used, &s->box[i], sizeof *s->box));
        ++*count;
    }
    return TALUS_OK;
}

/* Appends the cells that other free bodies touch within `offer`. */
static TalusStatus append_cells(Search *s, const TalusReachBox *offer, size_t *used, int64_t *count)
{
    const size_t most = (size_t)s->table.cells * sizeof *s->table.key;
    TALUS_TRY(TALUS_GROW(s->ranks->out, *used + most + 1, *used, "messages"));
    /* requests and boxes are of eight-byte words */
    *count = talus_cell_table_ask(&s->table, offer, (uint64_t *)(void *)(s->ranks->out + *used));
    *used += (size_t)*count * sizeof *s->table.key;
    return TALUS_OK;
}

/* Appends the request to rank `to`. */
static TalusStatus append_request(Search *s, int to, size_t *used)
{
    const size_t start = *used;
    Request request = {0};
    TALUS_TRY(append(s->ranks, used, &request, sizeof request));
    TALUS_TRY(append_large(s, &s->offer[to], used, &request.boxes));
    TALUS_TRY(append_cells(s, &s->offer[to], used, &request.cells));
    memcpy(s->ranks->out + start, &request, sizeof request);
    s->message[s->messages++] = (TalusMessage){NULL, *used - start, to};
    return TALUS_OK;
}

/* Sets where the messages begin whose lengths are known and whose bytes follow each other in ranks->out. */
static void place_messages(Search *s)
{
    size_t at = 0;
    for (int k = 0; k < s->messages; k++) {
        s->message[k].data = s->ranks->out + at;
        at += s->message[k].bytes;
    }
}

static TalusStatus send_messages(Search *s, TalusStatus status)
{
    TALUS_TRY(talus_comm_agree(s->ranks->comm, status));
    place_messages(s);
    return talus_comm_route(s->ranks->comm, s->message, s->messages, &s->ranks->inbox);
}

/* Asks every rank that may have bodies near this rank's free ones. */
static TalusStatus send_requests(Search *s)
{
    TalusStatus status = TALUS_OK;
    size_t used = 0;
    s->messages = 0;
    const double start = talus_now();
    for (int r = 0; r < s->size && status == TALUS_OK; r++)
        if (r != s->rank && overlap(s, &s->need[s->rank], &s->offer[r]))
            status = append_request(s, r, &used);
    talus_profile_add_since("halo.c:append_request", start);
    return send_messages(s, status);
}

/* ---- bodies ---- */

/* Marks the bodies that touch a cell or box of the request; bodies in large boxes are sent anyway. */
static void mark_touched(Search *s, const Request *request, uint32_t mark)
{
    const TalusReachBox *boxes = (const TalusReachBox *)(request + 1);
    const uint64_t *cell = (const uint64_t *)(boxes + request->boxes);
    for (int64_t k = 0; k < request->boxes; k++)
        for (int i = 0; i < s->bodies; i++)
            if (is_living(s, i) && overlap(s, &s->box[i], &boxes[k]))
                s->touched[i] = mark;
    for (int64_t k = 0; k < request->cells; k++) {
        const int32_t *body = NULL;
        const int32_t bodies = talus_cell_table_find(&s->table, cell[k], &body);
        for (int32_t i = 0; i < bodies; i++)
            s->touched[body[i]] = mark;
    }
}

static TalusStatus add_to_list(TalusSlotList *list, int slot)
{
    TALUS_TRY(TALUS_GROW(list->slot, (size_t)list->count + 1, (size_t)list->count, "halo"));
    list->slot[list->count++] = slot;
    return TALUS_OK;
}

/* Adds the bodies that rank `to` needs to its list, if they are not there already: large ones and those with joints, which
 * all ranks know (joint/joint_ranks.c), then those that it has asked for; request NULL: none. Most ranks ask for none, so
 * that few bodies are looked at for them. */
static TalusStatus list_bodies(Search *s, int to, const Request *request)
{
    const uint32_t mark = (uint32_t)to + 1;
    TalusSlotList *list = &s->ranks->to[to];
    for (int k = 0; k < list->count; k++)
        s->sent[list->slot[k]] = mark;
    for (int k = 0; k < s->larges; k++) {
        const int i = s->large[k], slot = slot_of(s, i);
        if (s->sent[slot] == mark || !(s->jointed[slot] || overlap(s, &s->box[i], &s->need[to])))
            continue;
        s->sent[slot] = mark;
        TALUS_TRY(add_to_list(list, slot));
    }
    if (request)
        mark_touched(s, request, mark);
    for (int i = 0; request && i < s->bodies; i++)
        if (s->touched[i] == mark && s->sent[slot_of(s, i)] != mark &&
            overlap(s, &s->box[i], &s->need[to]))
            TALUS_TRY(add_to_list(list, slot_of(s, i)));
    return TALUS_OK;
}

/* Lists the bodies that each rank needs, by the requests in the inbox. */
static TalusStatus list_all_bodies(Search *s)
{
    const TalusInbox *inbox = &s->ranks->inbox;
    for (int r = 0, k = 0; r < s->size; r++) {
        const Request *request = NULL;
        if (k < inbox->count && inbox->message[k].rank == r)
            request = inbox->message[k++].data;
        if (r != s->rank)
            TALUS_TRY(list_bodies(s, r, request));
    }
    return TALUS_OK;
}

/* Appends the records of a list of bodies to messages of nothing but records. */
static TalusStatus append_bodies(Search *s, const TalusSlotList *list, size_t *used)
{
    const size_t bytes = (size_t)list->count * sizeof(TalusBodyRecord);
    TALUS_TRY(TALUS_GROW(s->ranks->out, *used + bytes + 1, *used, "messages"));
    TalusBodyRecord *record = (TalusBodyRecord *)(void *)(s->ranks->out + *used);
    for (int k = 0; k < list->count; k++) {
        const int slot = list->slot[k];
        talus_body_pack(s->world, slot, &record[k]);
        if (s->motions) {
            record[k].solved_velocity = s->motions->velocity[slot];
            record[k].solved_spin = s->motions->spin[slot];
            record[k].changed = s->motions->changed[slot];
        }
    }
    *used += bytes;
    return TALUS_OK;
}

/* Packs the bodies of all lists. */
static TalusStatus pack_lists(Search *s)
{
    const double start = talus_now();
    size_t used = 0;
    s->messages = 0;
    for (int r = 0; r < s->size; r++) {
        const size_t begin = used;
        if (s->ranks->to[r].count == 0)
            continue;
        TALUS_TRY(append_bodies(s, &s->ranks->to[r], &used));
        s->message[s->messages++] = (TalusMessage){NULL, used - begin, r};
    }
    talus_profile_add_since("halo.c:pack_lists", start);
    return TALUS_OK;
}

static TalusStatus send_bodies(Search *s)
{
    const double start = talus_now();
    TalusStatus status = list_all_bodies(s);
    talus_profile_add_since("halo.c:list_all_bodies", start);
    TALUS_THEN(status, pack_lists(s));
    return send_messages(s, status);
}

/* Prepares the inbox for the bodies of the present halo. */
static TalusStatus expect_bodies(TalusRanks *ranks, int size)
{
    TalusInbox *inbox = &ranks->inbox;
    size_t room = 0;
    int count = 0;
    for (int r = 0; r < size; r++) {
        count += ranks->from[r].count > 0;
        room += talus_message_room((size_t)ranks->from[r].count * sizeof(TalusBodyRecord));
    }
    TALUS_TRY(talus_inbox_reserve(inbox, count, room));
    room = 0;
    for (int r = 0, k = 0; r < size; r++) {
        const size_t bytes = (size_t)ranks->from[r].count * sizeof(TalusBodyRecord);
        if (bytes > 0)
            inbox->message[k++] = (TalusMessage){inbox->data + room, bytes, r};
        room += talus_message_room(bytes);
    }
    return TALUS_OK;
}

/* Sends the bodies of the present lists again, whose receivers know how many come. */
static TalusStatus resend_bodies(Search *s)
{
    TalusRanks *ranks = s->ranks;
    TalusStatus status = pack_lists(s);
    TALUS_THEN(status, expect_bodies(ranks, s->size));
    TALUS_TRY(talus_comm_agree(ranks->comm, status));
    place_messages(s);
    return talus_comm_exchange(ranks->comm, s->message, s->messages, ranks->inbox.message,
                               ranks->inbox.count);
}

/* ---- arrival ---- */

static int count_records(const TalusMessage *message)
{
    return (int)(message->bytes / sizeof(TalusBodyRecord));
}

/* Writes the bodies of a message to their slots: those of the list to theirs, further ones to new slots. */
static TalusStatus place_bodies(TalusWorld *world, const TalusMessage *message)
{
    TalusRanks *ranks = &world->ranks;
    TalusSlotList *list = &ranks->from[message->rank];
    const TalusBodyRecord *record = message->data;
    for (int k = 0; k < count_records(message); k++) {
        if (k == list->count) {
            ranks->owner[ranks->halo] = message->rank;
            TALUS_TRY(add_to_list(list, world->bodies.counts.slots + ranks->halo++));
        }
        TALUS_TRY(talus_body_unpack(world, &record[k], list->slot[k]));
    }
    return TALUS_OK;
}

/* Adds the bodies of the inbox to the halo, or renews them. */
static TalusStatus place_all_bodies(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    const TalusInbox *inbox = &ranks->inbox;
    size_t halo = (size_t)ranks->halo;
    for (int k = 0; k < inbox->count; k++)
        halo +=
            (size_t)(count_records(&inbox->message[k]) - ranks->from[inbox->message[k].rank].count);
    TALUS_TRY(TALUS_GROW(ranks->owner, halo + 1, (size_t)ranks->halo, "halo"));
    const size_t own = (size_t)world->bodies.counts.slots;
    TALUS_TRY(talus_bodies_reserve_keeping(&world->bodies, own + halo, own + (size_t)ranks->halo));
    for (int k = 0; k < inbox->count; k++)
        TALUS_TRY(place_bodies(world, &inbox->message[k]));
    return TALUS_OK;
}

/* Adds the bodies of the inbox to the halo, and what depends on which bodies are there. */
static TalusStatus settle_halo(TalusWorld *world)
{
    const double start = talus_now();
    TALUS_TRY(place_all_bodies(world));
    TALUS_TRY(talus_ranks_index_copies(world, world->bodies.counts.slots, world->ranks.halo));
    TALUS_TRY(talus_ranks_place_exclusions(world));
    talus_profile_add_since("halo.c:settle_halo", start);
    return TALUS_OK;
}

/* ---- search ---- */

static void empty_halo(TalusRanks *ranks)
{
    ranks->halo = 0;
    for (int r = 0; r < talus_comm_size(ranks->comm); r++)
        ranks->to[r].count = ranks->from[r].count = 0;
}

/* Reserves what a search has of each of its bodies, and finds their boxes. */
static TalusStatus open_bodies(Search *s)
{
    const size_t bodies = (size_t)s->bodies;
    TALUS_TRY(TALUS_ALLOC(s->box, bodies + 1, "halo"));
    TALUS_TRY(TALUS_ALLOC(s->touched, bodies + 1, "halo"));
    TALUS_TRY(TALUS_ALLOC(s->is_large, bodies + 1, "halo"));
    TALUS_TRY(TALUS_ALLOC(s->large, bodies + 1, "halo"));
    find_boxes(s);
    return TALUS_OK;
}

/* Notes the reaches of this rank's bodies where their newest states are. */
static TalusStatus open_search(Search *s)
{
    const TalusReachOptions reach = talus_ranks_reach_options(s->world, s->options);
    TALUS_TRY(TALUS_ALLOC(s->sent, (size_t)s->slots + 1, "halo"));
    TALUS_TRY(TALUS_ALLOC(s->jointed, (size_t)s->slots + 1, "halo"));
    talus_joints_mark_own(s->world, s->jointed);
    TALUS_TRY(TALUS_ALLOC(s->need, 2 * (size_t)s->size, "halo"));
    s->offer = s->need + s->size;
    s->ranks->reaches = 0;
    if (s->by_engine)
        return s->world->engine.ops->note_reaches(
            s->world->engine.self, &reach, s->world->def.gravity, s->motions != NULL, &s->summary);
    const double start = talus_now();
    TALUS_TRY(talus_ranks_note_reaches(s->world, s->options, s->motions));
    TALUS_TRY(open_bodies(s));
    talus_profile_add_since("halo.c:open_bodies", start);
    return TALUS_OK;
}

/* Sets the bodies that are searched to those in near[nears], ascending, and those with joints. */
static TalusStatus take_bodies(Search *s, const int32_t *near, int nears)
{
    int jointed = 0, at = 0;
    for (int i = 0; s->world->joints.count > 0 && i < s->slots; i++)
        jointed += s->jointed[i];
    TALUS_TRY(TALUS_ALLOC(s->slot, (size_t)(nears + jointed) + 1, "halo"));
    for (int i = 0; jointed > 0 && i < s->slots; i++) {
        const bool is_near = at < nears && near[at] == i;
        at += is_near;
        if (is_near || s->jointed[i])
            s->slot[s->bodies++] = i;
    }
    if (jointed > 0)
        return TALUS_OK;
    if (nears > 0)
        memcpy(s->slot, near, (size_t)nears * sizeof *near);
    s->bodies = nears;
    return TALUS_OK;
}

/* Brings the bodies of this rank to the host that are near those of other ranks, and those that are sent already. */
static TalusStatus bring_near_bodies(Search *s, const TalusNearGrid *grid, const uint32_t *others)
{
    TalusWorld *world = s->world;
    const int32_t *near = NULL;
    int nears = 0;
    TALUS_TRY(world->engine.ops->find_near(world->engine.self, grid, others, &near, &nears));
    TALUS_TRY(take_bodies(s, near, nears));
    TALUS_TRY(talus_halo_fetch_sent(world, s->motions != NULL));
    TALUS_TRY(talus_halo_fetch(world, s->slot, s->bodies, s->motions != NULL));
    return open_bodies(s);
}

/* The same for all ranks, which find out first where the others are. */
static TalusStatus bring_bodies(Search *s)
{
    TalusReachBox bounds = nothing;
    TalusNearGrid grid;
    uint32_t *others = NULL;
    for (int r = 0; r < s->size; r++)
        extend_box(&bounds, &s->offer[r]);
    TalusStatus status =
        talus_comm_agree(s->ranks->comm, TALUS_ALLOC(others, TALUS_NEAR_WORDS, "halo"));
    TALUS_THEN(status, talus_halo_share_cells(s->world, &bounds, &grid, others));
    TALUS_THEN(status, talus_comm_agree(s->ranks->comm, bring_near_bodies(s, &grid, others)));
    talus_release(others);
    return status;
}

/* Finds and sends the bodies of all halos. */
static TalusStatus search_bodies(Search *s)
{
    TALUS_TRY(talus_comm_agree(s->ranks->comm, open_search(s)));
    share_bounds(s);
    TALUS_TRY(choose_cells(s));
    if (s->by_engine)
        TALUS_TRY(bring_bodies(s));
    find_large(s);
    TALUS_TRY(talus_comm_agree(s->ranks->comm, enter_cells(s)));
    TALUS_TRY(send_requests(s));
    return send_bodies(s);
}

/* ---- what is exchanged ---- */

/* What travels for the bodies of all halos: the states of the present ones, from engine to engine; their records; or those of
 * other bodies, which are searched for. */
typedef enum Travel { STATES, RECORDS, SEARCH } Travel;

/* Sets *serves, the same on all ranks: true if all bodies of all ranks pass the same test. */
static TalusStatus halo_serves(const Search *s, bool *serves)
{
    bool passes[TALUS_REACH_TESTS];
    TalusStatus status = TALUS_OK;
    if (s->by_engine)
        status = talus_halo_test(s->world, s->options, s->motions != NULL, passes);
    TALUS_TRY(talus_comm_agree(s->ranks->comm, status));
    *serves = false;
    for (int k = 0; k < TALUS_REACH_TESTS && !*serves; k++) {
        if (!s->by_engine)
            passes[k] = talus_ranks_halo_passes(s->world, s->options, s->motions, k);
        *serves = !talus_comm_any(s->ranks->comm, !passes[k]);
    }
    return TALUS_OK;
}

/* Sets *travel, the same on all ranks. changed: this rank's records have changed. */
static TalusStatus choose_travel(const Search *s, bool changed, Travel *travel)
{
    bool serves;
    TALUS_TRY(halo_serves(s, &serves));
    if (!serves)
        *travel = SEARCH;
    else if (!s->by_engine || talus_comm_any(s->ranks->comm, changed))
        *travel = RECORDS;
    else
        *travel = STATES;
    return TALUS_OK;
}

/* Sends the records of the bodies of present or new halos, and takes those that come. */
static TalusStatus exchange_records(Search *s, bool search)
{
    TalusRanks *ranks = s->ranks;
    const bool solved = s->motions != NULL;
    TalusStatus status = TALUS_OK;
    if (!search && s->by_engine)
        status = talus_comm_agree(ranks->comm, talus_halo_fetch_sent(s->world, solved));
    TALUS_THEN(status, search ? search_bodies(s) : resend_bodies(s));
    TALUS_TRY(status);
    status = settle_halo(s->world);
    if (s->by_engine)
        TALUS_THEN(status, talus_halo_upload(s->world, solved));
    TALUS_TRY(talus_comm_agree(ranks->comm, status));
    if (search)
        talus_ranks_note_halo(s->world);
    ranks->searches += search;
    return TALUS_OK;
}

static void close_search(Search *s)
{
    talus_cell_table_clear(&s->table);
    TALUS_RELEASE(s->box, s->sent, s->touched, s->large, s->is_large, s->jointed, s->message,
                  s->need, s->slot);
}

/* Brings the present state of the bodies of all halos: of the present ones if they serve still, else of all that are
 * needed; `add`: in addition to the present ones. by_engine: an engine with memory of its own has the newest states, and its
 * halo is made. */
static TalusStatus exchange_bodies(TalusWorld *world, const TalusDetectOptions *options,
                                   const TalusSolvedMotions *motions, bool by_engine, bool changed,
                                   bool add)
{
    TalusRanks *ranks = &world->ranks;
    Search s = {.world = world,
                .ranks = ranks,
                .options = options,
                .motions = motions,
                .by_engine = by_engine,
                .slots = world->bodies.counts.slots,
                .rank = talus_comm_rank(ranks->comm),
                .size = talus_comm_size(ranks->comm)};
    s.bodies = by_engine ? 0 : s.slots;
    Travel travel = STATES;
    TalusStatus status =
        talus_comm_agree(ranks->comm, TALUS_ALLOC(s.message, (size_t)s.size, "messages"));
    TALUS_THEN(status, choose_travel(&s, changed, &travel));
    if (status == TALUS_OK && travel == SEARCH && !add)
        empty_halo(ranks);
    if (status == TALUS_OK)
        status = travel == STATES ? talus_halo_exchange_states(world, motions != NULL)
                                  : exchange_records(&s, travel == SEARCH);
    if (status != TALUS_OK)
        ranks->reaches = 0; /* the halo may be incomplete */
    close_search(&s);
    return status;
}

/* ---- the contact list ---- */

/* Gives the contacts of the host's list, whose slots ranks->list describes, the present slots of the halo. */
static TalusStatus renumber_contacts(TalusWorld *world)
{
    const TalusListSlots *list = &world->ranks.list;
    const int own = world->bodies.counts.slots;
    int32_t *slot;
    TALUS_TRY(TALUS_ALLOC(slot, (size_t)(list->own + list->halo) + 1, "halo"));
    for (int i = 0; i < list->own; i++)
        slot[i] = i < own ? i : -1; /* a rollback has removed the body */
    for (int k = 0; k < list->halo; k++)
        slot[list->own + k] = talus_ranks_slot_of_copy(world, list->id[k]);
    world->host.ops->renumber_contacts(world->host.self, slot);
    talus_release(slot);
    return TALUS_OK;
}

static int compare_contacts(const void *a, const void *b)
{
    const TalusContactRecord *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

TalusStatus talus_ranks_sort_contacts(TalusRanks *ranks)
{
    int64_t kept = 0;
    TALUS_TRY(talus_sort_runs(ranks->contact, (size_t)ranks->contacts, sizeof *ranks->contact,
                              compare_contacts));
    for (int64_t k = 0; k < ranks->contacts; k++)
        if (kept == 0 || compare_contacts(&ranks->contact[k], &ranks->contact[kept - 1]) != 0)
            ranks->contact[kept++] = ranks->contact[k];
    ranks->contacts = kept;
    return TALUS_OK;
}

/* Writes the contacts to a list, which has room for them, with the slots of their bodies. */
static void fill_list(const TalusWorld *world, TalusContactList *list)
{
    const TalusRanks *ranks = &world->ranks;
    int *run[3] = {&list->sphere_sphere, &list->sphere_fixed, &list->general};
    for (int64_t k = 0; k < ranks->contacts; k++) {
        const TalusContactRecord *r = &ranks->contact[k];
        const int a = talus_ranks_slot_near(world, (TalusBodyId){r->a});
        const int b = talus_ranks_slot_near(world, (TalusBodyId){r->b});
        if (a < 0 || b < 0)
            continue;
        TalusContact c = {.a = (uint32_t)a,
                          .b = (uint32_t)b,
                          .feature = r->feature,
                          .normal = r->normal,
                          .gap = r->gap};
        if (r->run == 2) {
            c.general = (uint32_t)list->general;
            list->arms[list->general] = r->arms;
        }
        list->contact[list->count] = c;
        list->impulse[list->count++] = r->impulse;
        ++*run[r->run];
    }
}

TalusStatus talus_ranks_put_contacts(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    const size_t count = (size_t)ranks->contacts + 1;
    TalusContactList list = {0};
    TalusStatus status = talus_ranks_sort_contacts(ranks);
    TALUS_THEN(status, TALUS_ALLOC(list.contact, count, "contacts"));
    TALUS_THEN(status, TALUS_ALLOC(list.arms, count, "contacts"));
    TALUS_THEN(status, TALUS_ALLOC(list.impulse, count, "contacts"));
    if (status == TALUS_OK) {
        fill_list(world, &list);
        status = world->host.ops->put_contacts(world->host.self, &list);
        world->mirror.contacts_dirty = !talus_world_shares_arrays(world);
        world->mirror.contacts_stale = false;
    }
    TALUS_RELEASE(list.contact, list.arms, list.impulse, ranks->contact);
    ranks->contact = NULL;
    ranks->contacts = 0;
    ranks->moved = false;
    return status;
}

/* Reserves memory for the present slots; those that are stored stay. */
static TalusStatus reserve_list_slots(TalusWorld *world)
{
    TalusListSlots *list = &world->ranks.list;
    return TALUS_GROW(list->id, (size_t)world->ranks.halo + 1, (size_t)list->halo, "halo");
}

/* Stores the present slots as those of the contact list. */
static TalusStatus store_list_slots(TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    TalusListSlots *list = &world->ranks.list;
    const int own = world->bodies.counts.slots;
    TALUS_TRY(reserve_list_slots(world));
    memcpy(list->id, world->bodies.id + own, (size_t)ranks->halo * sizeof *list->id);
    list->own = own;
    list->halo = ranks->halo;
    return TALUS_OK;
}

/* True if the contact list has the present slots. */
static bool has_present_slots(const TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusListSlots *list = &ranks->list;
    const int own = world->bodies.counts.slots;
    return list->own == own && list->halo <= ranks->halo &&
           (list->halo == 0 ||
            memcmp(list->id, world->bodies.id + own, (size_t)list->halo * sizeof *list->id) == 0);
}

TalusStatus talus_ranks_download(const TalusWorld *world)
{
    TALUS_TRY(talus_world_download_bodies(world));
    return world->ranks.moved ? TALUS_OK : talus_world_download_contacts(world);
}

/* True if the host has the list that the next detection starts from. */
static bool contacts_are_on_host(const TalusWorld *world)
{
    return talus_world_shares_arrays(world) || world->mirror.contacts_dirty;
}

/* Gives the contacts of the host's list the present slots. An engine with memory of its own gets them with the next upload;
 * the list then knows the dropped ones, too. */
static TalusStatus move_contacts(TalusWorld *world)
{
    TALUS_TRY(renumber_contacts(world));
    talus_mirror_forget_dropped(world);
    world->mirror.contacts_dirty = !talus_world_shares_arrays(world);
    return TALUS_OK;
}

static TalusStatus update_contacts(TalusWorld *world)
{
    const double start = talus_now();
    TALUS_TRY(reserve_list_slots(world)); /* once contacts have moved, their slots are stored */
    if (world->ranks.moved)
        TALUS_TRY(talus_ranks_put_contacts(world));
    else if (!has_present_slots(world) || world->mirror.any_dropped)
        TALUS_TRY(contacts_are_on_host(world) ? move_contacts(world)
                                              : talus_halo_move_contacts(world));
    talus_profile_add_since("halo.c:update_contacts", start);
    return store_list_slots(world);
}

/* ---- what the step calls ---- */

TalusStatus talus_ranks_gather_halo(TalusWorld *world, const TalusDetectOptions *options)
{
    return exchange_bodies(world, options, NULL, false, true, false);
}

TalusStatus talus_ranks_make_halo(TalusWorld *world, const TalusDetectOptions *options)
{
    const bool by_engine = !talus_world_shares_arrays(world), moved = world->ranks.moved;
    const double start = talus_now();
    TalusComm *comm = world->ranks.comm;
    bool changed = true;
    if (!comm)
        return TALUS_OK;
    TalusStatus status = TALUS_OK;
    if (by_engine)
        status = talus_comm_agree(comm, talus_halo_prepare(world, &changed));
    TALUS_THEN(status, talus_ranks_find_drift(world, by_engine));
    if (status != TALUS_OK)
        world->ranks.reaches = 0; /* changes of some ranks are noted nowhere else */
    TALUS_TRY(status);
    TALUS_TRY(exchange_bodies(world, options, NULL, by_engine, changed, false));
    TALUS_TRY(talus_comm_agree(comm, update_contacts(world)));
    if (moved)
        world->ranks.work.dealing += talus_now() - start;
    return TALUS_OK;
}

/* Writes the solved motions of the halo, which has come with the last messages, to the engine's arrays. */
static TalusStatus put_motions(TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    TalusSolvedMotions motions;
    TALUS_TRY(world->engine.ops->solved_motions(world->engine.self, &motions));
    for (int m = 0; m < ranks->inbox.count; m++) {
        const TalusMessage *message = &ranks->inbox.message[m];
        const TalusBodyRecord *record = message->data;
        const TalusSlotList *list = &ranks->from[message->rank];
        for (int k = 0; k < list->count; k++) {
            motions.velocity[list->slot[k]] = record[k].solved_velocity;
            motions.spin[list->slot[k]] = record[k].solved_spin;
            motions.changed[list->slot[k]] = record[k].changed;
        }
    }
    return TALUS_OK;
}

TalusStatus talus_ranks_widen_halo(TalusWorld *world, const TalusDetectOptions *options,
                                   double change_limit)
{
    TalusRanks *ranks = &world->ranks;
    TalusSolvedMotions motions;
    if (!ranks->comm)
        return TALUS_OK;
    TalusStatus status = world->engine.ops->store_motions(world->engine.self, change_limit);
    TALUS_THEN(status, world->engine.ops->solved_motions(world->engine.self, &motions));
    const bool by_engine = !talus_world_shares_arrays(world);
    TALUS_TRY(talus_comm_agree(ranks->comm, status));
    TALUS_TRY(exchange_bodies(world, options, &motions, by_engine, false, true));
    status = store_list_slots(world);
    TALUS_THEN(status, talus_mirror_upload(world));
    if (!by_engine)
        TALUS_THEN(status, put_motions(world));
    return talus_comm_agree(ranks->comm, status);
}

/* ---- snapshot ---- */

static TalusStatus copy_slots(TalusListSlots *to, const TalusListSlots *from)
{
    TALUS_TRY(TALUS_GROW(to->id, (size_t)from->halo + 1, (size_t)to->halo, "halo"));
    if (from->halo > 0)
        memcpy(to->id, from->id, (size_t)from->halo * sizeof *to->id);
    to->own = from->own;
    to->halo = from->halo;
    return TALUS_OK;
}

TalusStatus talus_ranks_snapshot(TalusWorld *world)
{
    return copy_slots(&world->ranks.list_before, &world->ranks.list);
}

void talus_ranks_rollback(TalusWorld *world)
{
    TalusListSlots now = world->ranks.list;
    world->ranks.list = world->ranks.list_before;
    world->ranks.list_before = now;
}
