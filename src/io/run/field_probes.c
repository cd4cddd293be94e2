/* io/run/field_probes.c - tables of fields or bulk figures that a run measures as it goes on.
 *
 * A row depends on the state alone, and whether it is due on the times of steps alone, so that a resumed run leaves the tables of
 * one that never stopped. The numbers are those of talus measure: both measure a snapshot by the same functions. */
#include "io/run/field_probes.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/file/growing.h"
#include "io/formats/bulk_table.h"
#include "io/formats/field_table.h"
#include "io/text/csv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "fields-"
#define SUFFIX ".csv"
#define BULK "bulk" /* in place of fields */

enum { NAME_MAX_BYTES = 64, FILE_BYTES = NAME_MAX_BYTES + sizeof PREFIX + sizeof SUFFIX };

/* A probe and its table. */
typedef struct Probe {
    TalusFieldProbe def; /* its name is not kept */
    TalusFieldTable fields;
    TalusContinuum *continuum; /* NULL: bulk figures */
    TalusGrowing table;
    bool due;
} Probe;

struct TalusFieldProbes {
    Probe *probe; /* [count] */
    int count;
    double reached; /* s: time of the last step */
    TalusText text;
};

/* ---- what can be measured ---- */

static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strlen(name);
    return length > 0 && length < NAME_MAX_BYTES && strspn(name, allowed) == length;
}

static TalusStatus check_probe(const TalusFieldProbe *p)
{
    const double *lo = &p->grid.lo.x, *hi = &p->grid.hi.x;
    if (!p->name || !is_name(p->name))
        return talus_reject(
            "probe '%s': its table is named by it: expected 1 to %d letters, digits, "
            "- and _",
            p->name ? p->name : "", NAME_MAX_BYTES - 1);
    for (int k = 0; k < 3; k++)
        if (!(lo[k] < hi[k]) || !isfinite(lo[k]) || !isfinite(hi[k]) || p->grid.cells[k] < 1)
            return talus_reject("probe '%s': expected a box with lo below hi, and 1 cell or more "
                                "along each axis",
                                p->name);
    if (!(p->every >= 0.0) || !isfinite(p->every))
        return talus_reject("probe '%s': every %g; expected 0 s or more", p->name, p->every);
    if (p->quantity_count > 0 && !(p->grid.width > 0.0 && isfinite(p->grid.width)))
        return talus_reject(
            "probe '%s': width %g; fields need the half width of their kernel, m; three "
            "median radii are usual",
            p->name, p->grid.width);
    return TALUS_OK;
}

TalusStatus talus_field_probes_check(const TalusFieldProbe *probe, int count)
{
    for (int i = 0; i < count; i++) {
        TALUS_TRY(check_probe(&probe[i]));
        for (int j = 0; j < i; j++)
            if (strcmp(probe[i].name, probe[j].name) == 0)
                return talus_reject("two probes of fields have the name '%s'", probe[i].name);
    }
    return TALUS_OK;
}

/* ---- opening and closing ---- */

static TalusStatus open_table(TalusFieldProbes *all, Probe *p, TalusDir *dir, bool resume)
{
    char name[FILE_BYTES];
    snprintf(name, sizeof name, PREFIX "%s" SUFFIX, p->def.name);
    all->text.size = 0;
    if (p->continuum)
        talus_field_table_header(&all->text, &p->fields);
    else
        talus_bulk_table_header(&all->text);
    TALUS_TRY(all->text.status);
    return resume ? talus_csv_resume(dir, name, all->text.bytes, all->reached, &p->table)
                  : talus_csv_create(dir, name, all->text.bytes, &p->table);
}

static TalusStatus open_probe(TalusFieldProbes *all, Probe *p, TalusDir *dir, bool resume)
{
    for (int q = 0; q < p->def.quantity_count; q++)
        (void)talus_field_table_add(&p->fields, p->def.quantity[q]);
    if (p->fields.count > 0)
        TALUS_TRY(talus_continuum_create(&p->def.grid, talus_field_table_bits(&p->fields),
                                         &p->continuum));
    return open_table(all, p, dir, resume);
}

TalusStatus talus_field_probes_open(TalusDir *dir, const TalusFieldProbe *probe, int count,
                                    bool resume, double time, TalusFieldProbes **out)
{
    TalusFieldProbes *all = NULL;
    *out = NULL;
    if (count == 0)
        return TALUS_OK;
    TALUS_TRY(talus_field_probes_check(probe, count));
    TALUS_TRY(TALUS_ALLOC(all, 1, "probes of fields"));
    all->reached = resume ? time : 0.0;
    TalusStatus status = TALUS_ALLOC(all->probe, (size_t)count, "probes of fields");
    for (int i = 0; status == TALUS_OK && i < count; i++) {
        all->probe[i].def = probe[i];
        all->count++;
        status = open_probe(all, &all->probe[i], dir, resume);
        all->probe[i].def.name = NULL;
    }
    if (status == TALUS_OK)
        *out = all;
    else
        talus_field_probes_close(all);
    return status;
}

void talus_field_probes_close(TalusFieldProbes *all)
{
    if (!all)
        return;
    for (int i = 0; i < all->count; i++) {
        talus_growing_close(&all->probe[i].table);
        talus_continuum_destroy(all->probe[i].continuum);
    }
    TALUS_RELEASE(all->probe, all->text.bytes, all);
}

TalusStatus talus_field_probes_sync(TalusFieldProbes *all)
{
    for (int i = 0; all && i < all->count; i++)
        TALUS_TRY(talus_growing_sync(&all->probe[i].table));
    return TALUS_OK;
}

TalusStatus talus_field_probes_verify(const TalusFieldProbes *all)
{
    for (int i = 0; all && i < all->count; i++)
        TALUS_TRY(talus_growing_check(&all->probe[i].table));
    return TALUS_OK;
}

/* True for names of tables of probes. */
static bool is_table(const char *name)
{
    const size_t length = strlen(name), ends = strlen(PREFIX) + strlen(SUFFIX);
    return length > ends && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
           strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

TalusStatus talus_field_probes_remove(TalusDir *dir)
{
    TalusStatus status = TALUS_OK;
    const int fd = fcntl(dir->fd, F_DUPFD_CLOEXEC, 0);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    if (!listing) {
        status = talus_fail_file(dir->path, TALUS_ERR_IO, "cannot list: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    rewinddir(listing); /* `fd` shares its offset with dir->fd, which may have been read */
    for (struct dirent *entry; status == TALUS_OK && (entry = readdir(listing)) != NULL;)
        if (is_table(entry->d_name))
            status = talus_dir_remove_file(dir, entry->d_name);
    closedir(listing);
    return status;
}

/* ---- rows ---- */

/* Returns how many multiples of `every` there are up to a time; the factor admits a time that is early by rounding. */
static double count_multiples(double time, double every)
{
    return floor(time / every * (1.0 + 1e-9));
}

bool talus_field_probes_due(TalusFieldProbes *all, double time)
{
    bool any = false;
    for (int i = 0; all && i < all->count; i++) {
        Probe *p = &all->probe[i];
        p->due = p->def.every == 0.0 ||
                 count_multiples(time, p->def.every) > count_multiples(all->reached, p->def.every);
        any |= p->due;
    }
    if (all)
        all->reached = time;
    return any;
}

unsigned talus_field_probes_fields(const TalusFieldProbes *all)
{
    unsigned fields = TALUS_SNAPSHOT_MASS;
    for (int i = 0; all && i < all->count; i++) {
        const Probe *p = &all->probe[i];
        unsigned data = TALUS_ASSEMBLY_VELOCITY | TALUS_ASSEMBLY_SPIN | TALUS_ASSEMBLY_CONTACTS;
        if (p->continuum)
            data = 0;
        for (int q = 0; q < p->fields.count; q++)
            data |= talus_quantity_row(p->fields.quantity[q]).data;
        fields |= data & TALUS_ASSEMBLY_VELOCITY ? TALUS_SNAPSHOT_VELOCITY : 0;
        fields |= data & TALUS_ASSEMBLY_SPIN ? TALUS_SNAPSHOT_SPIN : 0;
        fields |= p->continuum ? 0 : TALUS_SNAPSHOT_DISSIPATED;
        fields |= data & TALUS_ASSEMBLY_CONTACTS ? TALUS_SNAPSHOT_CONTACTS : 0;
    }
    return fields;
}

/* Writes a row for each cell into the text. */
static TalusStatus write_cells(TalusFieldProbes *all, Probe *p, const TalusAssembly *assembly,
                               TalusPool *pool)
{
    const int *cells = p->def.grid.cells;
    double row[TALUS_FIELD_TABLE_MAX];
    talus_continuum_clear(p->continuum);
    TALUS_TRY(talus_continuum_add(p->continuum, assembly, pool));
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++) {
                const int count =
                    talus_field_table_row(&p->fields, p->continuum, assembly->time, i, j, k, row);
                talus_field_table_print(&all->text, row, count);
            }
    return TALUS_OK;
}

/* Writes the row of bulk figures into the text. */
static TalusStatus write_bulk(TalusFieldProbes *all, const Probe *p, const TalusAssembly *assembly)
{
    TalusBulkDef def = talus_bulk_def_default();
    double values[TALUS_BULK_TABLE_MAX];
    def.region = (TalusRegion){p->def.grid.lo, p->def.grid.hi, -1};
    TALUS_TRY(talus_bulk_table_measure(assembly, &def, values));
    talus_bulk_table_row(&all->text, assembly->time, values);
    return TALUS_OK;
}

static TalusStatus add_rows(TalusFieldProbes *all, Probe *p, const TalusFramesHead *head,
                            const TalusSnapshot *snapshot, TalusPool *pool)
{
    TalusAssembly assembly;
    all->text.size = 0;
    TALUS_TRY(talus_assembly_take(snapshot, head, p->def.tag, &assembly));
    TalusStatus status =
        p->continuum ? write_cells(all, p, &assembly, pool) : write_bulk(all, p, &assembly);
    talus_assembly_free(&assembly);
    TALUS_THEN(status, all->text.status);
    TALUS_TRY(status);
    return talus_growing_append(&p->table, all->text.bytes, all->text.size);
}

TalusStatus talus_field_probes_add(TalusFieldProbes *all, const TalusFramesHead *head,
                                   const TalusSnapshot *snapshot, TalusPool *pool)
{
    for (int i = 0; all && i < all->count; i++)
        if (all->probe[i].due)
            TALUS_TRY(add_rows(all, &all->probe[i], head, snapshot, pool));
    return TALUS_OK;
}

/* ---- as text ---- */

void talus_field_probe_print(TalusText *text, const TalusFieldProbe *p)
{
    const TalusGridDef *g = &p->grid;
    talus_text_print(text, "%s ", p->name);
    for (int q = 0; q < p->quantity_count; q++)
        talus_text_print(text, "%s%s", q ? "," : "", talus_quantity_row(p->quantity[q]).name);
    talus_text_print(text, "%s %.17g %.17g %.17g %.17g %.17g %.17g %d %d %d %.17g %.17g %d",
                     p->quantity_count ? "" : BULK, g->lo.x, g->lo.y, g->lo.z, g->hi.x, g->hi.y,
                     g->hi.z, g->cells[0], g->cells[1], g->cells[2], g->width, p->every, p->tag);
}

TalusStatus talus_field_probe_set_quantities(TalusFieldProbe *p, const char *const *names,
                                             int count)
{
    TalusFieldTable table = {.count = 0};
    p->quantity_count = 0;
    if (count == 1 && strcmp(names[0], BULK) == 0)
        return TALUS_OK;
    for (int i = 0; i < count; i++) {
        TalusQuantity quantity;
        if (!talus_quantity_find(names[i], &quantity))
            return talus_reject("'%s' is no field; `talus help measure` names them; \"bulk\" alone "
                                "stands for bulk figures",
                                names[i]);
        if (talus_quantity_row(quantity).data & TALUS_ASSEMBLY_POWER)
            return talus_reject("the field '%s' is a mean since the state before, which probes do "
                                "not keep; `talus measure` has it, of exact frames",
                                names[i]);
        if (!talus_field_table_add(&table, quantity))
            return talus_reject("the field '%s' is given twice", names[i]);
        p->quantity[p->quantity_count++] = quantity;
    }
    return TALUS_OK;
}

/* Splits a list at its commas. */
static TalusStatus parse_quantities(char *list, TalusFieldProbe *out)
{
    const char *name[TALUS_QUANTITIES + 1];
    char *rest = NULL;
    int count = 0;
    for (char *p = strtok_r(list, ",", &rest); p; p = strtok_r(NULL, ",", &rest)) {
        if (count > TALUS_QUANTITIES)
            return talus_fail(TALUS_ERR_FORMAT, "a probe has more fields than there are");
        name[count++] = p;
    }
    return talus_field_probe_set_quantities(out, name, count);
}

TalusStatus talus_field_probe_parse(char *line, TalusFieldProbe *out)
{
    char *fields = strchr(line, ' '), *numbers = fields ? strchr(fields + 1, ' ') : NULL;
    TalusGridDef *g = &out->grid;
    *out = (TalusFieldProbe){.name = line};
    if (!numbers || sscanf(numbers + 1, "%lf %lf %lf %lf %lf %lf %d %d %d %lf %lf %d", &g->lo.x,
                           &g->lo.y, &g->lo.z, &g->hi.x, &g->hi.y, &g->hi.z, &g->cells[0],
                           &g->cells[1], &g->cells[2], &g->width, &out->every, &out->tag) != 12)
        return talus_fail(TALUS_ERR_FORMAT, "'%s' is no probe of fields", line);
    *fields = *numbers = '\0';
    return parse_quantities(fields + 1, out);
}
