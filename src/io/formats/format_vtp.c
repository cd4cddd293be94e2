/* io/formats/format_vtp.c - frames as .vtp files with .pvd collections, for ParaView and OVITO.
 *
 *   bodies    a point per body             contacts   a point per contact
 *   chains    a line per contact with normal force > 0: from centre to centre through the contact point
 *   shapes    surfaces of moving bodies that are not spheres; frames without any share an empty file
 *   walls     surfaces of fixed bodies that are not spheres; frames share a file until a wall changes
 * The script show_in_paraview.py is written beside them. Contacts and chains are written only if the snapshot has
 * them. */
#include "base/memory.h"
#include "collide/period.h"
#include "io/file/file.h"
#include "io/formats/formats.h"
#include "io/formats/frame_files.h"
#include "io/formats/vtp_surface.h"
#include "io/formats/vtp_xml.h"

#include <string.h>

/* The script was tested with ParaView 5.11, in its window and by pvpython (tests/paraview.sh). It must not be called
 * paraview.py: Python would then import it in place of ParaView's own module. */
#define SCRIPT_NAME "show_in_paraview.py"
extern const char talus_paraview_script[]; /* the text of src/io/formats/show_in_paraview.py */

/* Lines through the contacts that transmit a normal force. */
typedef struct Chains {
    TalusRows contact; /* contact of each line, its row in the snapshot */
    TalusVec3 *point;  /* 2 or 3 per line */
    float *force;      /* N, for each point, because filters such as Tube scale by point data */
    int32_t *offset;   /* [line]: index of the point after its last one */
    int points;        /* number of points */
} Chains;

/* State of a writer. */
typedef struct Vtp {
    TalusDir frames; /* DIR/frames */
    TalusSeries bodies, contacts, chains, shapes, walls;
    TalusVtpSurface shape_surface, wall_surface;
    TalusRows rows;
    Chains chain;
    uint64_t shapes_key; /* key of the last file of shapes; 0: none, or it is not to be shared */
    uint64_t walls_key;  /* key of the last file of walls; 0: none */
} Vtp;

static const char *const series_names[] = {"bodies", "contacts", "chains", "shapes", "walls"};
enum { SERIES = sizeof series_names / sizeof *series_names };

/* Returns series `index` in the order of series_names. */
static TalusSeries *get_series(Vtp *vtp, int index)
{
    TalusSeries *const all[SERIES] = {&vtp->bodies, &vtp->contacts, &vtp->chains, &vtp->shapes,
                                      &vtp->walls};
    return all[index];
}

/* ---- bodies and contacts: clouds of points ---- */

/* Writes the section Verts, with a cell for each point. */
static void write_vertices(TalusFile *file, int count)
{
    talus_file_print(file, "<Verts>\n");
    talus_vtp_write_sequence(file, "connectivity", 0, 1, count);
    talus_vtp_write_sequence(file, "offsets", 1, 1, count);
    talus_file_print(file, "</Verts>\n");
}

/* Writes a file with a point for each of rows[count] (NULL: all) and commits it. The field `where` gives positions; the
 * other fields that the snapshot has become data of the points. ParaView colours by the field `scalars` at first. */
static TalusStatus write_points(TalusFile *file, const char *scalars, const TalusFieldList *list,
                                const char *where, const TalusFramesHead *head,
                                const TalusSnapshot *snapshot, const int *rows, int count)
{
    const TalusField *position = talus_field_find(list, where);
    talus_vtp_begin(file, head, snapshot->time, 0,
                    (TalusVtpCounts){.points = count, .verts = count});
    talus_file_print(file, "<PointData Scalars=\"%s\">\n", scalars);
    for (const TalusField *field = list->field; field < list->field + list->count; field++)
        if (field != position && talus_field_present(field, snapshot))
            talus_vtp_write_field(file, field, NULL, head, snapshot, rows, count);
    talus_file_print(file, "</PointData>\n<Points>\n");
    talus_vtp_write_field(file, position, "Points", head, snapshot, rows, count);
    talus_file_print(file, "</Points>\n");
    write_vertices(file, count);
    talus_vtp_end(file);
    return talus_file_commit_unsynced(file);
}

/* Creates the next file of a series as `file`, evaluates `call`, which writes and commits `file`, and adds the file to
 * the collection of the series. */
#define WRITE_NEXT(series, snapshot, call)                            \
    do {                                                              \
        TalusFile *file;                                              \
        TALUS_TRY(talus_series_create_file((series), &file));         \
        TALUS_TRY(call);                                              \
        TALUS_TRY(talus_series_add_file((series), (snapshot)->time)); \
    } while (0)

static TalusStatus add_bodies(Vtp *vtp, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    TALUS_TRY(talus_rows_collect_bodies(&vtp->rows, head, snapshot));
    WRITE_NEXT(&vtp->bodies, snapshot,
               write_points(file, "radius", &talus_fields_of_bodies, "position", head, snapshot,
                            vtp->rows.row, vtp->rows.count));
    return TALUS_OK;
}

static TalusStatus add_contacts(Vtp *vtp, const TalusFramesHead *head,
                                const TalusSnapshot *snapshot)
{
    WRITE_NEXT(&vtp->contacts, snapshot,
               write_points(file, "normal_force", &talus_fields_of_contacts, "point", head,
                            snapshot, NULL, snapshot->contact_count));
    return TALUS_OK;
}

/* ---- chains ---- */

/* Allocates memory for so many lines of up to three points each. */
static TalusStatus reserve_chains(Chains *chain, size_t lines)
{
    TALUS_TRY(TALUS_GROW(chain->contact.row, lines, 0, "chains"));
    TALUS_TRY(TALUS_GROW(chain->offset, lines, 0, "chains"));
    TALUS_TRY(TALUS_GROW(chain->point, 3 * lines, 0, "chains"));
    return TALUS_GROW(chain->force, 3 * lines, 0, "chains");
}

/* Appends a point of the line being added. */
static void add_point(Chains *chain, TalusVec3 at, double force)
{
    chain->point[chain->points] = at;
    chain->force[chain->points++] = (float)force;
}

/* Adds a line from the centre of body a to that of b, through the contact point if the snapshot has all contacts
 * (chains read from a frames file lack the point). If b is fixed, its centre may be anywhere: the line ends at the
 * contact point. In a periodic space the line goes to the nearest image of b. */
static void add_chain(Chains *chain, const TalusFramesHead *head, const TalusSnapshot *snapshot,
                      int contact, double force)
{
    const TalusContactState *c = &snapshot->contact[contact];
    int a = snapshot->contact_a[contact], b = snapshot->contact_b[contact];
    bool ends = snapshot->fixed[b];
    bool periodic = talus_has_period(&head->period);
    TalusVec3 from = snapshot->position[a];
    TalusVec3 way =
        talus_nearest_image_vector(&head->period, talus_sub(snapshot->position[b], from));
    add_point(chain, from, force);
    if (ends || snapshot->fields & TALUS_SNAPSHOT_CONTACTS)
        add_point(chain, c->point, force);
    if (!ends)
        add_point(chain, periodic ? talus_add(from, way) : snapshot->position[b], force);
    chain->offset[chain->contact.count] = chain->points;
    chain->contact.row[chain->contact.count++] = contact;
}

/* Collects a line for each contact with a positive normal force. */
static TalusStatus collect_chains(Chains *chain, const TalusFramesHead *head,
                                  const TalusSnapshot *snapshot)
{
    TALUS_TRY(reserve_chains(chain, (size_t)snapshot->contact_count));
    chain->points = chain->contact.count = 0;
    for (int i = 0; i < snapshot->contact_count; i++) {
        double force = talus_snapshot_contact_force(snapshot, i);
        if (force > 0.0)
            add_chain(chain, head, snapshot, i, force);
    }
    return TALUS_OK;
}

/* Writes a file with the collected lines and commits it. */
static TalusStatus write_chains(TalusFile *file, const Chains *chain, const TalusFramesHead *head,
                                const TalusSnapshot *snapshot)
{
    static const char *const of_lines[] = {"id1", "id2", "normal_force"};
    int lines = chain->contact.count, points = chain->points;
    talus_vtp_begin(file, head, snapshot->time, 0,
                    (TalusVtpCounts){.points = points, .lines = lines});
    talus_file_print(file, "<PointData Scalars=\"normal_force\">\n");
    talus_vtp_write_values(file, TALUS_FIELD_F32, "normal_force", 1, chain->force, (size_t)points);
    talus_file_print(file, "</PointData>\n<CellData>\n");
    for (size_t i = 0; i < sizeof of_lines / sizeof *of_lines; i++)
        talus_vtp_write_field(file, talus_field_find(&talus_fields_of_contacts, of_lines[i]), NULL,
                              head, snapshot, chain->contact.row, lines);
    talus_file_print(file, "</CellData>\n<Points>\n");
    talus_vtp_write_values(file, TALUS_FIELD_F64, "Points", 3, chain->point, (size_t)points);
    talus_file_print(file, "</Points>\n<Lines>\n");
    talus_vtp_write_sequence(file, "connectivity", 0, 1, points);
    talus_vtp_write_values(file, TALUS_FIELD_I32, "offsets", 1, chain->offset, (size_t)lines);
    talus_file_print(file, "</Lines>\n");
    talus_vtp_end(file);
    return talus_file_commit_unsynced(file);
}

static TalusStatus add_chains(Vtp *vtp, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    TALUS_TRY(collect_chains(&vtp->chain, head, snapshot));
    WRITE_NEXT(&vtp->chains, snapshot, write_chains(file, &vtp->chain, head, snapshot));
    return TALUS_OK;
}

static void free_chains(Chains *chain)
{
    talus_rows_free(&chain->contact);
    TALUS_RELEASE(chain->point, chain->force, chain->offset);
}

/* ---- surfaces ---- */

enum { EMPTY_KEY = 1 }; /* key of a file without surfaces, which later frames may share */

/* Writes the collected surfaces as the next file of a series. */
static TalusStatus add_surface(TalusSeries *series, TalusVtpSurface *surface, uint64_t key,
                               bool lasting, const TalusFramesHead *head,
                               const TalusSnapshot *snapshot)
{
    WRITE_NEXT(series, snapshot,
               talus_vtp_write_surface(surface, file, head, snapshot, key, lasting));
    return TALUS_OK;
}

/* Writes the surfaces of moving bodies; a frame without any shares the file of the frame before, if that is empty
 * too. */
static TalusStatus add_shapes(Vtp *vtp, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    TALUS_TRY(talus_vtp_collect_shapes(&vtp->shape_surface, head, snapshot));
    uint64_t key = vtp->shape_surface.part_count == 0 ? EMPTY_KEY : 0;
    if (key && key == vtp->shapes_key)
        return talus_series_repeat_file(&vtp->shapes, snapshot->time);
    TALUS_TRY(add_surface(&vtp->shapes, &vtp->shape_surface, key, false, head, snapshot));
    vtp->shapes_key = key;
    return TALUS_OK;
}

/* Writes the surfaces of fixed bodies; the frame shares the file of the frame before if no fixed body has changed. */
static TalusStatus add_walls(Vtp *vtp, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    uint64_t key = talus_walls_key(head, snapshot);
    if (key == vtp->walls_key)
        return talus_series_repeat_file(&vtp->walls, snapshot->time);
    TALUS_TRY(talus_vtp_collect_walls(&vtp->wall_surface, head, snapshot));
    TALUS_TRY(add_surface(&vtp->walls, &vtp->wall_surface, key, true, head, snapshot));
    vtp->walls_key = key;
    return TALUS_OK;
}

/* ---- the format ---- */

/* Writes the script, the same in every run. A resumed run only lists it if it is in the list of the checkpoint and
 * unchanged. */
static TalusStatus write_script(TalusDir *dir)
{
    TalusFile *file;
    const TalusEntry *before = talus_dir_unchanged_entry(dir, SCRIPT_NAME);
    if (before)
        return talus_dir_add_entry(dir, SCRIPT_NAME, *before, NULL);
    TALUS_TRY(talus_dir_create_file(dir, SCRIPT_NAME, &file));
    talus_file_put(file, talus_paraview_script, strlen(talus_paraview_script));
    return talus_file_commit(file);
}

/* Opens all series, reads the keys of the last files of shapes and walls, and writes the script. */
static TalusStatus open_vtp(void *state, TalusDir *dir, bool resume, double time)
{
    Vtp *vtp = state;
    TALUS_TRY(talus_dir_open_folder(dir, TALUS_FRAMES_FOLDER, &vtp->frames));
    for (int i = 0; i < SERIES; i++)
        TALUS_TRY(talus_series_open(get_series(vtp, i), dir, &vtp->frames, series_names[i], resume,
                                    time));
    TALUS_TRY(talus_series_read_last_key(&vtp->shapes, &vtp->shapes_key));
    TALUS_TRY(talus_series_read_last_key(&vtp->walls, &vtp->walls_key));
    return write_script(dir);
}

static TalusStatus add_vtp(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    Vtp *vtp = state;
    TALUS_TRY(add_bodies(vtp, head, snapshot));
    if (snapshot->fields & TALUS_SNAPSHOT_CONTACTS)
        TALUS_TRY(add_contacts(vtp, head, snapshot));
    if (snapshot->fields & (TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS))
        TALUS_TRY(add_chains(vtp, head, snapshot));
    TALUS_TRY(add_shapes(vtp, head, snapshot));
    return add_walls(vtp, head, snapshot);
}

static TalusStatus sync_vtp(void *state)
{
    for (int i = 0; i < SERIES; i++)
        TALUS_TRY(talus_series_sync(get_series(state, i)));
    return TALUS_OK;
}

static TalusStatus close_vtp(void *state)
{
    Vtp *vtp = state;
    for (int i = 0; i < SERIES; i++)
        talus_series_close(get_series(vtp, i));
    talus_dir_close(&vtp->frames);
    talus_vtp_surface_free(&vtp->shape_surface);
    talus_vtp_surface_free(&vtp->wall_surface);
    talus_rows_free(&vtp->rows);
    free_chains(&vtp->chain);
    return TALUS_OK;
}

static TalusStatus remove_vtp(TalusDir *dir)
{
    for (int i = 0; i < SERIES; i++) {
        TALUS_TRY(talus_series_remove_collection(dir, series_names[i]));
        TALUS_TRY(talus_frame_files_remove(dir, series_names[i], "vtp"));
    }
    return talus_dir_remove_file(dir, SCRIPT_NAME);
}

const TalusFormat talus_format_vtp = {
    .name = "vtp",
    .fields = TALUS_SNAPSHOT_ALL & ~(unsigned)TALUS_SNAPSHOT_CHAINS,
    .state_size = sizeof(Vtp),
    .open = open_vtp,
    .add = add_vtp,
    .sync = sync_vtp,
    .close = close_vtp,
    .remove = remove_vtp,
};
