/* io/frames/frames_parts.c - lean frames in parts: bodies by blocks of their numbers. Of each part its state in the frame
 * before is kept, so that it can be encoded without the others. */
#include "base/memory.h"
#include "io/frames/frames.h"

#include <string.h>

/* Frees the states of the parts from `first` on and forgets these parts. */
static void drop_parts(TalusPartList *list, int first)
{
    for (int i = first; i < list->count; i++) {
        talus_frame_state_clear(&list->part[i].before);
        talus_frame_state_clear(&list->part[i].now);
    }
    list->count = list->count < first ? list->count : first;
}

void talus_parts_clear(TalusPartList *list)
{
    drop_parts(list, 0);
    talus_release(list->part);
    *list = (TalusPartList){0};
}

/* Appends an empty part to the list. */
static TalusStatus append_part(TalusPartList *list, uint64_t number)
{
    size_t count = (size_t)list->count;
    TALUS_TRY(TALUS_GROW(list->part, count + 1, count, "frames"));
    list->part[list->count++] = (TalusFramePart){.number = number};
    return TALUS_OK;
}

TalusStatus talus_parts_take(TalusPartList *list, const TalusFrameState *state)
{
    for (int row = 0; row < state->count;) {
        const uint64_t number = talus_frame_part_of(state->id[row]);
        const TalusFrameState rows = talus_frame_state_part(state, number, &row);
        TALUS_TRY(append_part(list, number));
        TALUS_TRY(talus_frame_state_copy(&rows, &list->part[list->count - 1].before));
    }
    return TALUS_OK;
}

void talus_parts_begin(TalusPartList *list)
{
    list->at = 0;
    list->made = (TalusPartCounts){0};
    for (int i = 0; i < list->count; i++)
        list->part[i].now.count = 0;
}

/* Sets list->at to the place of a part, behind those of lower numbers; the part is added if it is not there. */
static TalusStatus find_part(TalusPartList *list, uint64_t number)
{
    while (list->at < list->count && list->part[list->at].number < number)
        list->at++;
    if (list->at < list->count && list->part[list->at].number == number)
        return TALUS_OK;
    TALUS_TRY(append_part(list, number));
    const TalusFramePart added = list->part[list->count - 1];
    for (int i = list->count - 1; i > list->at; i--)
        list->part[i] = list->part[i - 1];
    list->part[list->at] = added;
    return TALUS_OK;
}

TalusStatus talus_parts_encode(TalusPartList *list, TalusFrameEncoder *e,
                               const TalusFramesHead *head, const TalusSnapshot *rows, bool *key)
{
    const TalusFrameState before = e->before, now = e->now;
    TALUS_TRY(find_part(list, talus_frame_part_of(rows->id[0])));
    TalusFramePart *part = &list->part[list->at];
    e->before = part->before;
    e->now = part->now;
    const TalusStatus status = talus_frame_encode_part(e, head, rows, part->number, key);
    part->before = e->before;
    part->now = e->now;
    e->before = before;
    e->now = now;
    list->made.parts++;
    list->made.bodies += rows->body_count;
    list->made.clamped += e->clamped;
    return status;
}

TalusStatus talus_parts_encode_end(const TalusPartCounts *made, TalusPacker *packer, double time,
                                   int64_t step, int64_t contacts, bool key)
{
    const TalusFrameHead frame = {.bodies = (uint32_t)made->bodies,
                                  .contacts = (uint32_t)contacts,
                                  .part = (uint32_t)made->parts};
    if (made->bodies > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "frames: %lld bodies; a frame holds at most %d",
                          (long long)made->bodies, TALUS_FRAMES_COUNT_MAX);
    return talus_frame_encode_end(packer, &frame, time, step, key);
}

void talus_parts_commit(TalusPartList *list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusFramePart part = list->part[i];
        list->part[i] = list->part[kept];
        list->part[kept] =
            (TalusFramePart){.number = part.number, .before = part.now, .now = part.before};
        kept += part.now.count > 0;
    }
    drop_parts(list, kept);
}

TalusSnapshot talus_snapshot_next_part(const TalusSnapshot *s, int first)
{
    TalusSnapshot rows = {.fields = s->fields,
                          .time = s->time,
                          .step = s->step,
                          .length = s->length,
                          .contact_total = s->contact_total};
    const uint64_t number = talus_frame_part_of(s->id[first]);
    int end = first;
    while (end < s->body_count && talus_frame_part_of(s->id[end]) == number)
        end++;
    rows.body_count = end - first;
    rows.id = s->id + first;
    rows.position = s->position + first;
    rows.orientation = s->orientation + first;
    rows.radius = s->radius + first;
    rows.shape = s->shape + first;
    rows.material = s->material + first;
    rows.tag = s->tag + first;
    rows.fixed = s->fixed + first;
    rows.speed = s->speed + first;
    rows.force = s->force + first;
    rows.dissipated = s->dissipated ? s->dissipated + first : NULL;
    rows.layer = s->layer ? s->layer + first : NULL;
    return rows;
}
