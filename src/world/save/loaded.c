/* world/save/loaded.c - a saved state that several ranks have loaded in pieces becomes a world on several ranks. */
#include "world/save/loaded.h"
#include "world/state.h"

#include "base/memory.h"
#include "comm/questions.h"

#include <stdlib.h>
#include <string.h>

/* ---- bodies by rows ---- */

/* What a contact, a drive or an island has to know of a body; all zero: there is none. */
typedef struct Body {
    uint64_t id;
    int32_t shape;
    uint8_t mobility;
    bool sphere;
} Body;

/* What a rank that has loaded a piece is asked. */
typedef struct Piece {
    const TalusLoaded *loaded;
    const TalusWorld *world;
} Piece;

/* Keys are rows + 1. */
static int find_rank(const void *context, uint64_t key)
{
    const TalusLoaded *l = ((const Piece *)context)->loaded;
    return talus_even_rank(l->rows.all, talus_comm_size(l->comm), (int64_t)key - 1);
}

static void answer_body(const void *context, uint64_t key, void *out)
{
    const Piece *piece = context;
    const TalusBodies *b = &piece->world->bodies;
    const int64_t slot = (int64_t)key - 1 - piece->loaded->rows.before;
    Body body;
    memset(&body, 0, sizeof body); /* padding, too: it is sent */
    if (slot >= 0 && slot < b->counts.slots && b->shape[slot] >= 0) {
        body.id = b->id[slot];
        body.shape = b->shape[slot];
        body.mobility = b->mobility[slot];
        body.sphere = talus_slot_is_sphere(piece->world, (int)slot);
    }
    memcpy(out, &body, sizeof body);
}

static Body get_body(const TalusQuestions *q, uint64_t key)
{
    const Body *body = talus_questions_get(q, key);
    return body ? *body : (Body){0};
}

/* Lists the rows that contacts, drives, exclusions and islands name. */
static TalusStatus list_rows(const TalusLoaded *l, const TalusWorld *world, uint64_t **key,
                             int64_t *count)
{
    const TalusSleep *s = &world->sleep;
    int64_t at = 0;
    TALUS_TRY(TALUS_ALLOC(
        *key, 2 * (size_t)(l->contacts + l->exclusions) + (size_t)l->drives + (size_t)s->slots + 1,
        "saved state"));
    for (int64_t k = 0; k < l->contacts; k++) {
        (*key)[at++] = l->contact[k].a;
        (*key)[at++] = l->contact[k].b;
    }
    for (int i = 0; i < l->exclusions; i++)
        for (int k = 0; k < 2; k++)
            (*key)[at++] = (uint64_t)l->excluded[i].row[k] + 1;
    for (int i = 0; i < l->drives; i++)
        (*key)[at++] = (uint64_t)l->drive[i].slot + 1;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            (*key)[at++] = (uint64_t)s->island[i] + 1;
    *count = at;
    return TALUS_OK;
}

static TalusStatus find_bodies(const TalusLoaded *l, const TalusWorld *world, TalusQuestions *q)
{
    const Piece piece = {l, world};
    const TalusAnswerer of = {find_rank, answer_body, &piece, sizeof(Body)};
    uint64_t *key = NULL;
    int64_t count = 0;
    const TalusStatus status = talus_comm_agree(l->comm, list_rows(l, world, &key, &count));
    if (status == TALUS_OK)
        return talus_questions_ask(q, l->comm, &of, key, count);
    talus_release(key);
    return status;
}

/* ---- what refers to bodies ---- */

/* Refuses the state. */
static TalusStatus refuse(const char *why)
{
    return talus_fail(TALUS_ERR_FORMAT, "saved state: %s", why);
}

static TalusStatus name_exclusions(const TalusLoaded *l, const TalusQuestions *q, TalusWorld *world)
{
    for (int i = 0; i < l->exclusions; i++) {
        const TalusExcludedRows *pair = &l->excluded[i];
        const uint64_t a = get_body(q, (uint64_t)pair->row[0] + 1).id;
        const uint64_t b = get_body(q, (uint64_t)pair->row[1] + 1).id;
        const TalusExclusion named = {{a < b ? a : b, a < b ? b : a}, pair->count};
        if (named.id[0] == 0)
            return refuse("an excluded pair is not of two bodies");
        TALUS_TRY(talus_ranks_add_exclusion(&world->ranks, named));
        if (world->ranks.exclusions != i + 1)
            return refuse("a pair is excluded twice");
    }
    return TALUS_OK;
}

static TalusStatus name_drives(const TalusLoaded *l, const TalusQuestions *q, TalusWorld *world)
{
    for (int i = 0; i < l->drives; i++) {
        TalusDrive drive = l->drive[i];
        const Body body = get_body(q, (uint64_t)drive.slot + 1);
        if (body.id == 0 || body.mobility != TALUS_MOBILITY_DRIVEN)
            return refuse("a drive does not fit its body");
        drive.body = body.id;
        drive.slot = -1; /* until the next step */
        TALUS_TRY(talus_drive_add_loaded(world, &drive, body.shape));
    }
    return TALUS_OK;
}

/* As talus_sleep_name_islands does in a whole world. */
static void name_islands(const TalusQuestions *q, TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            s->label[i] = get_body(q, (uint64_t)s->island[i] + 1).id;
}

/* ---- contacts ---- */

/* True if the bodies of a contact exist and fit its run, and its numbers are finite. */
static bool is_valid_contact(const TalusContactRecord *c, const Body *a, const Body *b)
{
    const TalusVec3 n = c->normal, p = c->impulse;
    return a->id != 0 && b->id != 0 && a->id != b->id && a->mobility == TALUS_MOBILITY_FREE &&
           talus_run_fits(c->run, a->sphere, b->sphere, b->mobility) &&
           isfinite((n.x + n.y + n.z) + (p.x + p.y + p.z) + c->gap);
}

/* Returns the rank that is to own a body. */
static int owner_of(const TalusLoaded *l, uint64_t id)
{
    return talus_owner_in_turn(talus_number_block(id), talus_comm_size(l->comm));
}

/* Names the bodies of contacts by ids. second[k]: rank that gets contact k besides the owner of its first body; -1: none. */
static TalusStatus name_contacts(TalusLoaded *l, const TalusQuestions *q, int32_t *second)
{
    for (int64_t k = 0; k < l->contacts; k++) {
        TalusContactRecord *c = &l->contact[k];
        const Body a = get_body(q, c->a), b = get_body(q, c->b);
        if (!is_valid_contact(c, &a, &b))
            return refuse("a contact does not fit its bodies");
        c->a = a.id;
        c->b = b.id;
        second[k] = b.mobility == TALUS_MOBILITY_FREE ? owner_of(l, b.id) : -1;
        if (second[k] == owner_of(l, a.id))
            second[k] = -1;
    }
    return TALUS_OK;
}

/* Contacts on their way to the ranks that compute them. */
typedef struct Parcels {
    TalusContactRecord *out;
    TalusMessage *message; /* [messages] */
    int messages;
} Parcels;

/* Writes the contacts by ranks: those of rank r end at end[r + 1]. */
static void sort_contacts(const TalusLoaded *l, const int32_t *second, int64_t *end,
                          TalusContactRecord *out)
{
    for (int64_t k = 0; k < l->contacts; k++) {
        out[end[owner_of(l, l->contact[k].a) + 1]++] = l->contact[k];
        if (second[k] >= 0)
            out[end[second[k] + 1]++] = l->contact[k];
    }
}

/* end: [ranks + 2], zeros. */
static TalusStatus pack_contacts(const TalusLoaded *l, const int32_t *second, int64_t *end,
                                 Parcels *p)
{
    const int size = talus_comm_size(l->comm);
    for (int64_t k = 0; k < l->contacts; k++) {
        end[owner_of(l, l->contact[k].a) + 2]++;
        if (second[k] >= 0)
            end[second[k] + 2]++;
    }
    for (int r = 0; r < size; r++)
        end[r + 2] += end[r + 1];
    TALUS_TRY(TALUS_ALLOC(p->out, (size_t)end[size + 1] + 1, "contacts"));
    TALUS_TRY(TALUS_ALLOC(p->message, (size_t)size, "messages"));
    sort_contacts(l, second, end, p->out);
    for (int r = 0; r < size; r++)
        if (end[r + 1] > end[r])
            p->message[p->messages++] =
                (TalusMessage){.data = p->out + end[r],
                               .bytes = (size_t)(end[r + 1] - end[r]) * sizeof *p->out,
                               .rank = r};
    return TALUS_OK;
}

/* Makes the contacts of the inbox this rank's. */
static TalusStatus take_contacts(TalusLoaded *l, const TalusInbox *inbox)
{
    size_t count = 0;
    for (int m = 0; m < inbox->count; m++)
        count += inbox->message[m].bytes / sizeof *l->contact;
    TALUS_TRY(TALUS_ALLOC(l->contact, count + 1, "contacts"));
    for (int m = 0; m < inbox->count; m++) {
        memcpy(l->contact + l->contacts, inbox->message[m].data, inbox->message[m].bytes);
        l->contacts += (int64_t)(inbox->message[m].bytes / sizeof *l->contact);
    }
    return TALUS_OK;
}

/* Sends each contact to the ranks that are to own its free bodies. */
static TalusStatus send_contacts(TalusLoaded *l, const int32_t *second)
{
    Parcels p = {0};
    TalusInbox inbox = {0};
    int64_t *end;
    TalusStatus status = TALUS_ALLOC(end, (size_t)talus_comm_size(l->comm) + 2, "ranks");
    TALUS_THEN(status, pack_contacts(l, second, end, &p));
    talus_release(end);
    talus_release(l->contact);
    l->contact = NULL;
    l->contacts = 0;
    status = talus_comm_agree(l->comm, status);
    TALUS_THEN(status, talus_comm_route(l->comm, p.message, p.messages, &inbox));
    TALUS_RELEASE(p.out, p.message);
    if (status == TALUS_OK)
        status = talus_comm_agree(l->comm, take_contacts(l, &inbox));
    talus_inbox_clear(&inbox);
    return status;
}

/* ---- all ---- */

/* Names bodies by ids in place of rows, and sends the contacts. */
static TalusStatus name_bodies(TalusLoaded *l, TalusWorld *world)
{
    TalusQuestions q = {0};
    int32_t *second = NULL;
    TalusStatus status = find_bodies(l, world, &q);
    if (status == TALUS_OK) {
        status = TALUS_ALLOC(second, (size_t)l->contacts + 1, "contacts");
        TALUS_THEN(status, name_exclusions(l, &q, world));
        TALUS_THEN(status, name_drives(l, &q, world));
        TALUS_THEN(status, name_contacts(l, &q, second));
        name_islands(&q, world);
        status = talus_comm_agree(l->comm, status);
    }
    talus_questions_close(&q);
    TALUS_THEN(status, send_contacts(l, second));
    talus_release(second);
    return status;
}

/* Counts what a piece does not show. */
static TalusStatus count_bodies(const TalusLoaded *l, TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    int64_t count[2] = {b->counts.living, 0};
    for (int i = 0; i < b->counts.slots; i++)
        count[1] += talus_slot_is_driven(b, i);
    TALUS_TRY(talus_comm_add_counts(l->comm, count, 2));
    if (count[1] != talus_drives_count_bodies(world))
        return refuse("a driven body has no drive");
    world->ranks.elsewhere = count[0] - b->counts.living;
    world->filters.copies_apart = talus_comm_any(l->comm, world->filters.copies_apart);
    return TALUS_OK;
}

/* Checks the bodies of joints, of which all ranks have copies. */
static TalusStatus check_joints(TalusWorld *world)
{
    TalusStatus status = TALUS_OK;
    TALUS_TRY(talus_joints_fetch_bodies(world, NULL));
    for (int i = 0; i < world->joints.count && status == TALUS_OK; i++)
        status = talus_joint_check_bodies(world, &world->joints.joint[i]);
    return talus_comm_agree(world->ranks.comm, status);
}

/* Deals bodies and contacts to their owners. */
static TalusStatus divide(TalusLoaded *l, TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    TALUS_TRY(name_bodies(l, world));
    TALUS_TRY(count_bodies(l, world));
    world->def.comm = l->comm;
    TALUS_TRY(talus_comm_agree(l->comm, talus_ranks_init(world)));
    TALUS_TRY(talus_ranks_deal_in_turn(world, false));
    talus_release(ranks->contact);
    ranks->contact = l->contact;
    ranks->contacts = l->contacts;
    l->contact = NULL;
    return check_joints(world);
}

TalusStatus talus_loaded_divide(TalusLoaded *l, TalusWorld *world)
{
    const TalusStatus status = divide(l, world);
    /* what calls reject has come from the state */
    return status == TALUS_ERR_ARGUMENT
               ? talus_fail_around(TALUS_ERR_FORMAT, "saved state: %s", talus_error())
               : status;
}

void talus_loaded_clear(TalusLoaded *l)
{
    TALUS_RELEASE(l->excluded, l->drive, l->contact);
    *l = (TalusLoaded){0};
}
