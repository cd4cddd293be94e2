/* world/save/rows.c - the order of a saved state: the living bodies of all ranks by ascending ids. */
#include "world/save/rows.h"
#include "world/state.h"

#include "base/memory.h"
#include "comm/line.h"
#include "comm/questions.h"
#include "world/ids.h"

#include <stdlib.h>
#include <string.h>

/* ---- a whole world ---- */

/* True if all slots have bodies, by ascending ids. */
static bool is_in_order(const TalusBodies *b)
{
    bool ordered = true;
    for (int i = 0; i < b->counts.slots && ordered; i++)
        ordered = b->shape[i] >= 0 && (i == 0 || b->id[i - 1] < b->id[i]);
    return ordered;
}

/* Sets rows->slot and rows->row. */
static TalusStatus sort_slots(TalusRows *rows)
{
    const TalusBodies *b = &rows->world->bodies;
    const size_t slots = (size_t)b->counts.slots;
    TALUS_TRY(TALUS_ALLOC(rows->slot, slots + 1, "saved state"));
    TALUS_TRY(TALUS_ALLOC(rows->row, slots + 1, "saved state"));
    return talus_ids_order(b, rows->slot, rows->row);
}

/* ---- a world on several ranks ---- */

/* Makes rows->world: a copy of the world, without bodies of its own. */
static TalusStatus copy_world(const TalusWorld *world, TalusRows *rows)
{
    TalusWorld *copy;
    TALUS_TRY(TALUS_ALLOC(copy, 1, "saved state"));
    *copy = *world;
    copy->bodies = (TalusBodies){.counts = {.created = world->bodies.counts.created,
                                            .detected = world->bodies.counts.detected}};
    copy->forces = (TalusForces){0};
    copy->sleep = (TalusSleep){0};
    copy->ranks = (TalusRanks){.comm = world->ranks.comm, .elsewhere = talus_world_living(world)};
    rows->world = copy;
    return TALUS_OK;
}

static void release_copy(TalusWorld *copy)
{
    if (!copy)
        return;
    talus_bodies_clear(&copy->bodies);
    talus_forces_clear(copy);
    talus_sleep_clear(copy);
    talus_release(copy->ranks.contact);
    talus_release(copy);
}

/* Brings the bodies of this rank's rows and their contacts. */
static TalusStatus bring_piece(const TalusWorld *world, TalusRows *rows)
{
    TalusRanks *ranks = &((TalusWorld *)world)->ranks; /* messages alone change */
    TalusStatus status =
        TALUS_ALLOC(rows->first, (size_t)talus_comm_size(rows->comm), "saved state");
    TALUS_THEN(status, copy_world(world, rows));
    TALUS_TRY(talus_comm_agree(rows->comm, status));
    TALUS_TRY(talus_ranks_send_in_order((TalusWorld *)world, rows->first));
    status = talus_ranks_take_all(rows->world, &ranks->inbox);
    talus_ranks_release_messages(ranks);
    TALUS_THEN(status, talus_ranks_sort_contacts(&rows->world->ranks));
    return talus_comm_agree(rows->comm, status);
}

/* ---- where bodies are ---- */

/* Returns the place of a body of this rank's rows. */
static TalusPlace place_here(const TalusRows *rows, uint64_t id)
{
    const TalusWorld *w = rows->world;
    const int slot = talus_slot_of(w, (TalusBodyId){id});
    if (slot < 0)
        return (TalusPlace){.row = -1};
    return (TalusPlace){.row = rows->bodies.before + talus_rows_of_slot(rows, slot),
                        .mobility = w->bodies.mobility[slot],
                        .sphere = talus_slot_is_sphere(w, slot)};
}

static void answer_place(const void *context, uint64_t id, void *out)
{
    const TalusPlace place = place_here(context, id);
    TalusPlace *to = out;
    memset(to, 0, sizeof *to); /* padding, too: it is sent */
    to->row = place.row;
    to->mobility = place.mobility;
    to->sphere = place.sphere;
}

static int find_rank(const void *context, uint64_t id)
{
    const TalusRows *rows = context;
    return talus_line_find_piece(rows->first, talus_comm_size(rows->comm), talus_number_block(id));
}

/* Finds the rows of `count` bodies, whose numbers it takes over; all ranks call this together. */
static TalusStatus find_places(const TalusRows *rows, uint64_t *id, int64_t count,
                               TalusQuestions *q)
{
    const TalusAnswerer of = {.find_rank = rows->comm ? find_rank : NULL,
                              .answer = answer_place,
                              .context = rows,
                              .bytes = sizeof(TalusPlace)};
    return talus_questions_ask(q, rows->comm, &of, id, count);
}

/* Returns the place of a body that was asked for. */
static TalusPlace get_place(const TalusQuestions *q, uint64_t id)
{
    const TalusPlace *place = talus_questions_get(q, id);
    return place ? *place : (TalusPlace){.row = -1};
}

/* ---- contacts, on several ranks ---- */

/* True if the contact can match one of the next step (save_contacts.c). */
static bool is_saved(const TalusRows *rows, const TalusContactRecord *c, TalusPlace b)
{
    const TalusWorld *w = rows->world;
    const int a = talus_slot_of(w, (TalusBodyId){c->a});
    const uint64_t detected = w->bodies.counts.detected;
    if (a < 0 || b.row < 0 || c->a > detected || c->b > detected ||
        !talus_slot_is_free(&w->bodies, a))
        return false;
    return talus_run_fits(c->run, talus_slot_is_sphere(w, a), b.sphere, b.mobility);
}

static TalusStatus list_second_bodies(const TalusRows *rows, uint64_t **id)
{
    const TalusRanks *ranks = &rows->world->ranks;
    TALUS_TRY(TALUS_ALLOC(*id, (size_t)ranks->contacts + 1, "saved contacts"));
    for (int64_t k = 0; k < ranks->contacts; k++)
        (*id)[k] = ranks->contact[k].b;
    return TALUS_OK;
}

/* Keeps the contacts that are saved, with the rows of their second bodies. */
static void keep_saved_contacts(TalusRows *rows, const TalusQuestions *q)
{
    TalusRanks *ranks = &rows->world->ranks;
    int64_t kept = 0;
    for (int64_t k = 0; k < ranks->contacts; k++) {
        const TalusContactRecord *c = &ranks->contact[k];
        const TalusPlace b = get_place(q, c->b);
        if (!is_saved(rows, c, b))
            continue;
        rows->run[c->run].count++;
        rows->second[kept] = (int32_t)b.row;
        ranks->contact[kept++] = *c;
    }
    ranks->contacts = kept;
}

static TalusStatus find_contacts(TalusRows *rows)
{
    TalusQuestions q = {0};
    uint64_t *id = NULL;
    TalusStatus status = list_second_bodies(rows, &id);
    TALUS_THEN(status, TALUS_ALLOC(rows->second, (size_t)rows->world->ranks.contacts + 1,
                                   "saved contacts"));
    status = talus_comm_agree(rows->comm, status);
    if (status != TALUS_OK) {
        talus_release(id);
        return status;
    }
    status = find_places(rows, id, rows->world->ranks.contacts, &q);
    if (status == TALUS_OK)
        keep_saved_contacts(rows, &q);
    talus_questions_close(&q);
    TALUS_TRY(status);
    TALUS_TRY(talus_comm_find_spans(rows->comm, rows->run, 3));
    const int64_t all = rows->run[0].all + rows->run[1].all + rows->run[2].all;
    if (all > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "saved state: %lld contacts; it holds at most %d",
                          (long long)all, INT32_MAX);
    return TALUS_OK;
}

/* ---- islands ---- */

/* Sets the lowest row of each island of a whole world, whose islands are named by slots. */
static TalusStatus name_islands_by_slots(TalusRows *rows)
{
    const TalusWorld *w = rows->world;
    int32_t *lowest;
    TALUS_TRY(TALUS_ALLOC(lowest, (size_t)w->bodies.counts.slots + 1, "sleeping bodies"));
    for (int64_t k = rows->bodies.count - 1; k >= 0; k--)
        if (talus_slot_is_asleep(&w->bodies, talus_rows_slot(rows, k)))
            lowest[w->sleep.island[talus_rows_slot(rows, k)]] = (int32_t)k;
    for (int64_t k = 0; k < rows->bodies.count; k++) {
        const int slot = talus_rows_slot(rows, k);
        rows->island[k] =
            talus_slot_is_asleep(&w->bodies, slot) ? lowest[w->sleep.island[slot]] : (int32_t)k;
    }
    talus_release(lowest);
    return TALUS_OK;
}

/* The same on several ranks, where an island is named by the smallest number of its bodies. */
static TalusStatus name_islands_by_numbers(TalusRows *rows)
{
    const TalusWorld *w = rows->world;
    TalusQuestions q = {0};
    uint64_t *id;
    TalusStatus status = talus_comm_agree(
        rows->comm, TALUS_ALLOC(id, (size_t)rows->bodies.count + 1, "sleeping bodies"));
    if (status != TALUS_OK) {
        talus_release(id);
        return status;
    }
    for (int64_t k = 0; k < rows->bodies.count; k++)
        id[k] = talus_slot_is_asleep(&w->bodies, (int)k) ? w->sleep.label[k] : 0;
    status = find_places(rows, id, rows->bodies.count, &q);
    for (int64_t k = 0; status == TALUS_OK && k < rows->bodies.count; k++) {
        const bool asleep = talus_slot_is_asleep(&w->bodies, (int)k);
        rows->island[k] =
            (int32_t)(asleep ? get_place(&q, w->sleep.label[k]).row : rows->bodies.before + k);
    }
    talus_questions_close(&q);
    return status;
}

static TalusStatus find_islands(TalusRows *rows)
{
    TalusWorld *w = rows->world;
    if (w->def.sleep_speed == 0.0)
        return TALUS_OK;
    TalusStatus status =
        TALUS_ALLOC(rows->island, (size_t)rows->bodies.count + 1, "sleeping bodies");
    TALUS_THEN(status, talus_sleep_reserve(w)); /* including bodies added since the last step */
    TALUS_TRY(talus_comm_agree(rows->comm, status));
    return rows->comm ? name_islands_by_numbers(rows) : name_islands_by_slots(rows);
}

/* ---- applied forces ---- */

/* Sets rows->forces on all ranks. */
static void find_forces(TalusRows *rows)
{
    const TalusForces *f = &rows->world->forces;
    double last = 0.0;
    for (int64_t k = 0; k < rows->bodies.count; k++) {
        const int slot = talus_rows_slot(rows, k);
        if (slot < f->count &&
            (talus_norm(f->force[slot]) != 0.0 || talus_norm(f->torque[slot]) != 0.0))
            last = (double)(rows->bodies.before + k + 1);
    }
    talus_comm_find_maxima(rows->comm, &last, 1);
    rows->forces = last > 0.0 ? (int64_t)last : 0; /* NaN: a rank has failed */
}

/* ---- drives and exclusions, which rank 0 writes ---- */

/* Sets pair `i` of excluded bodies and its count. */
static void get_exclusion(const TalusRows *rows, const TalusWorld *world, int i,
                          TalusExclusion *out)
{
    const TalusFilters *f = &world->filters;
    if (rows->comm)
        *out = world->ranks.exclusion[i];
    else
        *out = (TalusExclusion){
            .id = {world->bodies.id[f->excluded[i][0]], world->bodies.id[f->excluded[i][1]]},
            .count = f->exclusions[i]};
}

static int compare_excluded(const void *a, const void *b)
{
    const TalusExcludedRows *x = a, *y = b;
    if (x->row[0] != y->row[0])
        return x->row[0] < y->row[0] ? -1 : 1;
    return (x->row[1] > y->row[1]) - (x->row[1] < y->row[1]);
}

/* Writes the pairs whose bodies both live. */
static void place_exclusions(TalusRows *rows, const TalusWorld *world, int pairs,
                             const TalusQuestions *q)
{
    for (int i = 0; i < pairs; i++) {
        TalusExclusion pair;
        get_exclusion(rows, world, i, &pair);
        const int64_t a = get_place(q, pair.id[0]).row, b = get_place(q, pair.id[1]).row;
        if (a >= 0 && b >= 0)
            rows->excluded[rows->exclusions++] = (TalusExcludedRows){
                .row = {(uint32_t)(a < b ? a : b), (uint32_t)(a < b ? b : a)}, .count = pair.count};
    }
    if (rows->exclusions > 0)
        qsort(rows->excluded, (size_t)rows->exclusions, sizeof *rows->excluded, compare_excluded);
}

/* Finds the rows of driven bodies and of excluded pairs. */
static TalusStatus find_references(TalusRows *rows, const TalusWorld *world)
{
    const bool asks = talus_comm_rank(rows->comm) == 0;
    const int drives = asks ? world->drives : 0;
    const int listed = rows->comm ? world->ranks.exclusions : world->filters.count;
    const int pairs = asks ? listed : 0;
    TalusQuestions q = {0};
    uint64_t *id = NULL;
    int64_t count = 0;
    TalusStatus status = TALUS_ALLOC(id, (size_t)drives + 2 * (size_t)pairs + 1, "saved state");
    TALUS_THEN(status, TALUS_ALLOC(rows->drive, (size_t)world->drives + 1, "drives"));
    TALUS_THEN(status, TALUS_ALLOC(rows->excluded, (size_t)pairs + 1, "excluded pairs"));
    status = talus_comm_agree(rows->comm, status);
    if (status != TALUS_OK) {
        talus_release(id);
        return status;
    }
    for (int i = 0; i < drives; i++)
        id[count++] = world->drive[i].body;
    for (int i = 0; i < pairs; i++) {
        TalusExclusion pair;
        get_exclusion(rows, world, i, &pair);
        id[count++] = pair.id[0];
        id[count++] = pair.id[1];
    }
    status = find_places(rows, id, count, &q);
    if (status == TALUS_OK) {
        for (int i = 0; i < world->drives; i++)
            rows->drive[i] = (int32_t)get_place(&q, world->drive[i].body).row;
        place_exclusions(rows, world, pairs, &q);
    }
    talus_questions_close(&q);
    return status;
}

/* ---- all ---- */

static TalusStatus find_bodies(const TalusWorld *world, TalusRows *rows)
{
    if (rows->comm) {
        TALUS_TRY(bring_piece(world, rows));
    } else {
        rows->world = (TalusWorld *)world; /* sleep alone is extended */
        if (!is_in_order(&world->bodies))
            TALUS_TRY(sort_slots(rows));
    }
    rows->bodies.count = rows->world->bodies.counts.living;
    TALUS_TRY(talus_comm_find_spans(rows->comm, &rows->bodies, 1));
    if (rows->bodies.all > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "saved state: %lld bodies; it holds at most %d",
                          (long long)rows->bodies.all, INT32_MAX);
    return TALUS_OK;
}

TalusStatus talus_rows_open(const TalusWorld *world, TalusRows *rows)
{
    *rows = (TalusRows){.comm = world->ranks.comm};
    TalusStatus status = find_bodies(world, rows);
    if (rows->comm)
        TALUS_THEN(status, find_contacts(rows));
    TALUS_THEN(status, find_islands(rows));
    if (status == TALUS_OK)
        find_forces(rows);
    TALUS_THEN(status, find_references(rows, world));
    if (status != TALUS_OK)
        talus_rows_close(rows);
    return status;
}

void talus_rows_close(TalusRows *rows)
{
    if (rows->comm)
        release_copy(rows->world);
    TALUS_RELEASE(rows->slot, rows->row, rows->first, rows->island, rows->drive, rows->excluded,
                  rows->second);
    *rows = (TalusRows){0};
}
