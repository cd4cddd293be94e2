/* io/frames/frames_json.c - writes and reads HEAD chunks, with frames_shape.c (shapes) and frames_figure.c (arrays). */
#include "base/memory.h"
#include "collide/period.h"
#include "io/frames/frames.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- writing ---- */

/* Prints the member "period" with lo and hi of each periodic axis, and "tilt" if it is not 0; nothing if there is none. */
static void print_period(TalusText *text, const TalusPeriod *period)
{
    const double *lo = &period->lo.x, *hi = &period->hi.x;
    const char *before = "\"period\": {";
    for (int k = 0; k < 3; k++)
        if (period->on[k]) {
            talus_text_print(text, "%s\"%c\": [%.17g, %.17g]", before, "xyz"[k], lo[k], hi[k]);
            before = ", ";
        }
    if (talus_has_period(period))
        talus_text_print(text, "},\n");
    if (period->tilt != 0.0)
        talus_text_print(text, "\"tilt\": %.17g,\n", period->tilt);
}

/* Prints the member "flow" if it is not 0. */
static void print_flow(TalusText *text, const TalusGradient *g)
{
    if (g->xx != 0.0 || g->yy != 0.0 || g->zz != 0.0 || g->xy != 0.0)
        talus_text_print(text, "\"flow\": [%.17g, %.17g, %.17g, %.17g],\n", g->xx, g->yy, g->zz,
                         g->xy);
}

/* Prints the members "shapes", with their figures unless `figure` is NULL, and "materials", and ends the object. */
static void print_shapes_and_materials(TalusText *text, const TalusFramesHead *head,
                                       const TalusFigure *figure)
{
    talus_text_print(text, "\"shapes\": [");
    for (int i = 0; i < head->shape_count; i++) {
        talus_text_print(text, "%s", i ? ", " : "");
        talus_head_print_shape(text, &head->shapes[i]);
        if (figure)
            talus_head_print_figure(text, &figure[i]);
        talus_text_print(text, "}");
    }
    talus_text_print(text, "],\n\"materials\": [");
    for (int i = 0; i < head->material_count; i++) {
        talus_text_print(text, "%s{\"name\": ", i ? ", " : "");
        talus_text_quote(text, head->materials[i].name);
        talus_text_print(text, ", \"friction\": %.17g, \"density\": %.17g}",
                         head->materials[i].friction, head->materials[i].density);
    }
    talus_text_print(text, "]}\n");
}

/* Prints the member "entries"; nothing if there is none. */
static void print_entries(TalusText *text, const TalusFramesHead *head)
{
    for (int i = 0; i < head->entry_count; i++) {
        const TalusFramesEntry *entry = &head->entries[i];
        talus_text_print(text, "%s{\"name\": ", i ? ", " : "\"entries\": [");
        talus_text_quote(text, entry->name);
        talus_text_print(text, ", \"first\": %" PRId64, entry->first);
        if (entry->last > 0)
            talus_text_print(text, ", \"last\": %" PRId64, entry->last);
        talus_text_print(text, "}");
    }
    if (head->entry_count > 0)
        talus_text_print(text, "],\n");
}

/* Writes the JSON of a head to a new text, which the caller frees, also on failure. */
static TalusStatus print_head(const TalusFramesHead *head, const TalusFigure *figure,
                              TalusText *text)
{
    TalusText out = {0};
    talus_text_print(&out, "{\"producer\": \"talus %s\", \"title\": ", talus_version());
    talus_text_quote(&out, head->title);
    talus_text_print(&out, ", \"scene\": ");
    talus_text_quote(&out, head->scene);
    talus_text_print(&out, ",\n");
    talus_head_print_vector(&out, "gravity", head->gravity);
    talus_text_print(&out, ", \"step\": %.17g, \"radius\": %.17g, \"quantum\": %.17g,\n",
                     head->step, head->radius, head->quantum);
    talus_head_print_vector(&out, "origin", head->origin);
    if (isnan(head->floor))
        talus_text_print(&out, ", \"floor\": null");
    else
        talus_text_print(&out, ", \"floor\": %.17g", head->floor);
    talus_text_print(&out, ", \"detail\": \"%s\",\n", head->lean ? "lean" : "full");
    print_period(&out, &head->period);
    print_flow(&out, &head->flow);
    print_entries(&out, head);
    print_shapes_and_materials(&out, head, figure);
    if (out.status == TALUS_OK && out.size > TALUS_FRAMES_HEAD_JSON_MAX)
        out.status =
            talus_fail(TALUS_ERR_UNSUPPORTED,
                       "frames: %d shapes and %d materials take more than the %d bytes "
                       "that a head may have",
                       head->shape_count, head->material_count, TALUS_FRAMES_HEAD_JSON_MAX);
    *text = out;
    return out.status;
}

/* Packs JSON, 1 to 8 zeros and the arrays of the figures, then as many zeros as TALUS_FIGURE_PER_BYTE requires. Without
 * figures (NULL, version 1) packs the JSON alone. */
static TalusStatus pack_payload(TalusPacker *p, const TalusText *text, const TalusFigure *figure,
                                int shapes)
{
    size_t start = p->size;
    TALUS_TRY(talus_pack_bytes(p, text->bytes, text->size));
    if (!figure)
        return TALUS_OK;
    TALUS_TRY(talus_pack_bytes(p, NULL, 8 - text->size % 8));
    TALUS_TRY(talus_head_pack_figures(p, figure, shapes));
    TALUS_TRY(
        talus_pack_bytes(p, NULL, talus_head_figure_padding(figure, shapes, p->size - start)));
    if (p->size - start > TALUS_FRAMES_HEAD_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "frames: the figures of %d shapes take more than the %d bytes that a "
                          "head may have",
                          shapes, TALUS_FRAMES_HEAD_MAX);
    return TALUS_OK;
}

/* Appends a HEAD chunk: header, payload and padding; of version 1 if `figure` is NULL. */
static TalusStatus pack_head_chunk(TalusPacker *p, const TalusFramesHead *head,
                                   const TalusFigure *figure)
{
    size_t start = p->size;
    TalusText text = {0};
    TalusChunk chunk = {.magic = TALUS_CHUNK_MAGIC, .kind = TALUS_CHUNK_HEAD};
    TalusStatus status = print_head(head, figure, &text);
    TALUS_THEN(status, talus_pack_bytes(p, NULL, sizeof chunk));
    TALUS_THEN(status, pack_payload(p, &text, figure, head->shape_count));
    talus_release(text.bytes);
    if (status != TALUS_OK)
        return status;
    chunk.size = p->size - start - sizeof chunk;
    chunk.crc = talus_chunk_crc(&chunk, p->bytes + start + sizeof chunk);
    memcpy(p->bytes + start, &chunk, sizeof chunk);
    return talus_pack_bytes(p, NULL, -chunk.size & 7);
}

TalusStatus talus_frames_head_pack(TalusPacker *packer, const TalusFramesHead *head, int version)
{
    TalusFigure *made = NULL;
    if (version > 1 && !head->figures)
        TALUS_TRY(talus_head_make_figures(head, &made));
    TalusStatus status =
        pack_head_chunk(packer, head, version > 1 ? (made ? made : head->figures) : NULL);
    talus_head_free_figures(&made, head->shape_count);
    return status;
}

/* ---- reading ---- */

/* Reads a member that is a string; *out points into the JSON tree. */
static TalusStatus read_string(const TalusJson *object, const char *key, const char **out)
{
    const TalusJson *node;
    TALUS_TRY(talus_head_find_member(object, key, TALUS_JSON_STRING, &node));
    *out = node->text;
    return TALUS_OK;
}

static TalusStatus read_shapes(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const TalusJson *list;
    TalusShapeDef *shape;
    TALUS_TRY(talus_head_find_member(root, "shapes", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, shape, list->count));
    head->shapes = shape;
    head->shape_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next)
        TALUS_TRY(talus_head_read_shape(arena, n, shape++));
    return TALUS_OK;
}

static TalusStatus read_materials(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const TalusJson *list;
    TalusFramesMaterial *material;
    TALUS_TRY(talus_head_find_member(root, "materials", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, material, list->count));
    head->materials = material;
    head->material_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next, material++) {
        if (n->kind != TALUS_JSON_OBJECT)
            return talus_json_fail(n, 0, "is not a material");
        TALUS_TRY(read_string(n, "name", &material->name));
        TALUS_TRY(talus_head_read_number(n, "friction", &material->friction));
        TALUS_TRY(talus_head_read_number(n, "density", &material->density));
    }
    return TALUS_OK;
}

/* Reads the number of a body, 1 to 2^53 - 1. */
static TalusStatus read_body_number(const TalusJson *object, const char *key, int64_t *out)
{
    double value;
    TALUS_TRY(talus_head_read_number(object, key, &value));
    if (!(value >= 1.0 && value <= 9007199254740991.0 && value == floor(value)))
        return talus_json_fail(talus_json_get(object, key), 0, "is %g; expected a body's number",
                               value);
    *out = (int64_t)value;
    return TALUS_OK;
}

/* Reads the member "entries", which may be missing. */
static TalusStatus read_entries(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const TalusJson *list;
    TalusFramesEntry *entry;
    if (!talus_json_get(root, "entries"))
        return TALUS_OK;
    TALUS_TRY(talus_head_find_member(root, "entries", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, entry, list->count));
    head->entries = entry;
    head->entry_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next, entry++) {
        if (n->kind != TALUS_JSON_OBJECT)
            return talus_json_fail(n, 0, "is not an entry");
        TALUS_TRY(read_string(n, "name", &entry->name));
        TALUS_TRY(read_body_number(n, "first", &entry->first));
        entry->last = 0;
        if (talus_json_get(n, "last"))
            TALUS_TRY(read_body_number(n, "last", &entry->last));
    }
    return TALUS_OK;
}

/* Reads a length or time above 1e-100 and below 1e100, so that quotients do not overflow. */
static TalusStatus read_scale(const TalusJson *root, const char *key, double *out)
{
    TALUS_TRY(talus_head_read_number(root, key, out));
    if (!(*out > 1.0 / TALUS_HEAD_NUMBER_MAX && *out < TALUS_HEAD_NUMBER_MAX))
        return talus_json_fail(talus_json_get(root, key), 0, "is %g; expected more than 0", *out);
    return TALUS_OK;
}

/* Reads the member "floor", a number or null, which gives NAN. */
static TalusStatus read_floor(const TalusJson *root, double *out)
{
    const TalusJson *node = talus_json_get(root, "floor");
    *out = NAN;
    return node && node->kind == TALUS_JSON_NULL ? TALUS_OK
                                                 : talus_head_read_number(root, "floor", out);
}

/* Reads the members "period", [lo, hi] for each periodic axis, and "tilt"; both may be missing. */
static TalusStatus read_period(const TalusJson *root, TalusPeriod *out)
{
    static const char *const axes[] = {"x", "y", "z"};
    const TalusJson *period = talus_json_get(root, "period");
    double *lo = &out->lo.x, *hi = &out->hi.x;
    if (period && period->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(period, 0, "is %s; expected an object",
                               talus_json_kind_name(period->kind));
    for (int k = 0; period && k < 3; k++) {
        const TalusJson *side = talus_json_get(period, axes[k]);
        double between[2];
        if (!side)
            continue;
        TALUS_TRY(talus_head_read_list(side, 2, between));
        if (!(fabs(between[0]) < TALUS_HEAD_NUMBER_MAX &&
              fabs(between[1]) < TALUS_HEAD_NUMBER_MAX &&
              between[1] - between[0] > 1.0 / TALUS_HEAD_NUMBER_MAX))
            return talus_json_fail(side, 0, "is from %g to %g; expected from a smaller number",
                                   between[0], between[1]);
        lo[k] = between[0];
        hi[k] = between[1];
        out->on[k] = 1;
    }
    if (!talus_json_get(root, "tilt"))
        return TALUS_OK;
    TALUS_TRY(talus_head_read_number(root, "tilt", &out->tilt));
    if (!(out->on[0] && out->on[1] && fabs(out->tilt) <= out->hi.x - out->lo.x))
        return talus_json_fail(talus_json_get(root, "tilt"), 0,
                               "is %g; expected at most the period along x, with one along y",
                               out->tilt);
    return TALUS_OK;
}

/* Reads the member "flow", which may be missing. */
static TalusStatus read_flow(const TalusJson *root, TalusGradient *out)
{
    const TalusJson *flow = talus_json_get(root, "flow");
    double g[4];
    if (!flow)
        return TALUS_OK;
    TALUS_TRY(talus_head_read_list(flow, 4, g));
    for (int k = 0; k < 4; k++)
        if (!(fabs(g[k]) < TALUS_HEAD_NUMBER_MAX))
            return talus_json_fail(flow, 0, "has %g for a rate", g[k]);
    *out = (TalusGradient){g[0], g[1], g[2], g[3]};
    return TALUS_OK;
}

/* Reads all members of a head but the figures; its texts point into the JSON tree, which is in the arena too. */
static TalusStatus read_head_members(TalusArena *arena, const TalusJson *root,
                                     TalusFramesHead *head)
{
    const char *detail;
    if (root->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(root, 0, "is %s; expected an object",
                               talus_json_kind_name(root->kind));
    TALUS_TRY(read_string(root, "title", &head->title));
    TALUS_TRY(read_string(root, "scene", &head->scene));
    TALUS_TRY(talus_head_read_vector(root, "gravity", &head->gravity));
    TALUS_TRY(read_scale(root, "step", &head->step));
    TALUS_TRY(read_scale(root, "radius", &head->radius));
    TALUS_TRY(read_scale(root, "quantum", &head->quantum));
    TALUS_TRY(talus_head_read_vector(root, "origin", &head->origin));
    TALUS_TRY(read_floor(root, &head->floor));
    TALUS_TRY(read_period(root, &head->period));
    TALUS_TRY(read_flow(root, &head->flow));
    TALUS_TRY(read_string(root, "detail", &detail));
    head->lean = strcmp(detail, "lean") == 0;
    TALUS_TRY(read_shapes(arena, root, head));
    TALUS_TRY(read_entries(arena, root, head));
    return read_materials(arena, root, head);
}

TalusStatus talus_frames_head_read(const char *payload, size_t size, const char *source,
                                   TalusHeadStore *out)
{
    TalusJson *root;
    const char *end = memchr(payload, 0, size);
    size_t text = end ? (size_t)(end - payload) : size, arrays = (text / 8 + 1) * 8;
    talus_frames_head_clear(out);
    TalusStatus status = talus_json_parse(&out->arena, payload, text, source, true, &root);
    TALUS_THEN(status, read_head_members(&out->arena, root, &out->head));
    if (status == TALUS_OK && end) {
        TalusHeadPayload all = {source, (const unsigned char *)payload, size,
                                arrays < size ? arrays : size};
        status = talus_head_read_figures(talus_json_get(root, "shapes"), all, &out->figure);
        out->head.figures = out->figure;
    }
    if (status != TALUS_OK)
        talus_frames_head_clear(out);
    return status;
}
