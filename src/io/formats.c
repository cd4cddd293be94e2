/* io/formats.c - the table of formats and what its rows share. */
#include "io/formats.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static const TalusFormat *const table[] = {&talus_format_vtp, &talus_format_vtkhdf,
                                           &talus_format_lammps, &talus_format_csv};

struct TalusFormatWriter {
    const TalusFormat *format;
    void *state;
};

int talus_format_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

const char *talus_format_name(int index)
{
    return table[index]->name;
}

const char *talus_format_summary(int index)
{
    return table[index]->summary;
}

const char *talus_format_missing(int index)
{
    return table[index]->missing;
}

int talus_format_find(const char *name)
{
    for (int i = 0; i < talus_format_count(); i++)
        if (strcmp(table[i]->name, name) == 0)
            return i;
    return -1;
}

static TalusStatus fail_unknown(const char *name)
{
    char names[256] = "";
    size_t used = 0;
    for (int i = 0; i < talus_format_count(); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 table[i]->name);
    return talus_fail(TALUS_ERR_ARGUMENT, "%s: no such format of frames; there are: %s", name,
                      names);
}

TalusStatus talus_format_open(const char *name, const char *dir, bool resume, double time,
                              TalusFormatWriter **out)
{
    TalusFormatWriter *writer;
    int index = talus_format_find(name);
    *out = NULL;
    if (index < 0)
        return fail_unknown(name);
    const TalusFormat *format = table[index];
    if (format->missing)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%s: this build of Talus has no %s", name,
                          format->missing);
    TALUS_TRY(TALUS_ALLOC(writer, 1, "writer of frames"));
    writer->format = format;
    TalusStatus status = talus_alloc(&writer->state, 1, format->state_size, "writer of frames");
    if (status != TALUS_OK) {
        talus_release(writer);
        return status;
    }
    status = format->open(writer->state, dir, resume, time);
    if (status != TALUS_OK) {
        (void)format->close(writer->state); /* the first failure is the one to tell */
        talus_release(writer->state);
        talus_release(writer);
        return status;
    }
    *out = writer;
    return TALUS_OK;
}

unsigned talus_format_fields(const TalusFormatWriter *writer)
{
    return writer->format->fields;
}

TalusStatus talus_format_add(TalusFormatWriter *writer, const TalusFramesHead *head,
                             const TalusSnapshot *snapshot)
{
    return writer->format->add(writer->state, head, snapshot);
}

TalusStatus talus_format_sync(TalusFormatWriter *writer)
{
    return writer->format->sync ? writer->format->sync(writer->state) : TALUS_OK;
}

TalusStatus talus_format_close(TalusFormatWriter *writer)
{
    if (!writer)
        return TALUS_OK;
    TalusStatus status = writer->format->close(writer->state);
    talus_release(writer->state);
    talus_release(writer);
    return status;
}

TalusStatus talus_format_remove_all(const char *dir)
{
    for (int i = 0; i < talus_format_count(); i++)
        TALUS_TRY(table[i]->remove(dir));
    return TALUS_OK;
}
