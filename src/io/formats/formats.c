/* io/formats/formats.c - the table of formats, and the functions that call its rows. */
#include "io/formats/formats.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static const TalusFormat *const table[] = {&talus_format_vtp, &talus_format_vtkhdf,
                                           &talus_format_lammps, &talus_format_csv,
                                           &talus_format_bulk};

struct TalusFormatWriter {
    const TalusFormat *format;
    void *state;  /* struct of the format, format->state_size bytes */
    TalusDir own; /* directory opened by path; closed if the caller gave an open directory */
};

int talus_format_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

const char *talus_format_name(int index)
{
    return table[index]->name;
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

static TalusStatus fail_unknown_format(const char *name)
{
    char names[256] = "";
    size_t used = 0;
    for (int i = 0; i < talus_format_count(); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 table[i]->name);
    return talus_fail_key(name, TALUS_ERR_ARGUMENT, "no such format of frames; there are: %s",
                          names);
}

/* Finds a format by name; fails if there is none or this build lacks its library. */
static TalusStatus find_format(const char *name, const TalusFormat **out)
{
    int index = talus_format_find(name);
    if (index < 0)
        return fail_unknown_format(name);
    *out = table[index];
    if ((*out)->missing)
        return talus_fail_key(name, TALUS_ERR_UNSUPPORTED, "this build of Talus has no %s",
                              (*out)->missing);
    return TALUS_OK;
}

static void free_writer(TalusFormatWriter *writer)
{
    talus_dir_close(&writer->own);
    TALUS_RELEASE(writer->state, writer);
}

/* Allocates the state of the format and opens its files in `dir`; on failure closes them. */
static TalusStatus open_state(TalusFormatWriter *writer, TalusDir *dir, bool resume, double time)
{
    const TalusFormat *format = writer->format;
    TALUS_TRY(talus_alloc(&writer->state, 1, format->state_size, "writer of frames"));
    TalusStatus status = format->open(writer->state, dir, resume, time);
    if (status != TALUS_OK)
        (void)format->close(writer->state); /* its status is ignored: that of open is returned */
    return status;
}

/* Opens a writer in `dir` or, if that is NULL, in the directory at `path`. */
static TalusStatus open_writer(const char *name, TalusDir *dir, const char *path, bool resume,
                               double time, TalusFormatWriter **out)
{
    const TalusFormat *format = NULL;
    TalusFormatWriter *writer;
    *out = NULL;
    TALUS_TRY(find_format(name, &format));
    TALUS_TRY(TALUS_ALLOC(writer, 1, "writer of frames"));
    writer->format = format;
    TalusStatus status = dir ? TALUS_OK : talus_dir_open(path, &writer->own);
    TALUS_THEN(status, open_state(writer, dir ? dir : &writer->own, resume, time));
    if (status == TALUS_OK)
        *out = writer;
    else
        free_writer(writer);
    return status;
}

TalusStatus talus_format_open(const char *name, const char *dir, bool resume, double time,
                              TalusFormatWriter **out)
{
    return open_writer(name, NULL, dir, resume, time, out);
}

TalusStatus talus_format_open_in(const char *name, TalusDir *dir, bool resume, double time,
                                 TalusFormatWriter **out)
{
    return open_writer(name, dir, NULL, resume, time, out);
}

unsigned talus_format_fields(const TalusFormatWriter *writer)
{
    return writer->format->fields;
}

TalusStatus talus_format_add_frame(TalusFormatWriter *writer, const TalusFramesHead *head,
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
    free_writer(writer);
    return status;
}

TalusStatus talus_format_remove_all(TalusDir *dir)
{
    for (int i = 0; i < talus_format_count(); i++)
        TALUS_TRY(table[i]->remove(dir));
    return TALUS_OK;
}

TalusStatus talus_format_checksum_frames(const TalusDir *dir, const TalusEntry *entry,
                                         uint32_t *crc)
{
    for (int i = 0; i < talus_format_count(); i++)
        if (table[i]->checksum)
            return table[i]->checksum(dir, entry, crc);
    return talus_fail(TALUS_ERR_UNSUPPORTED, "%s/%s: this build of Talus has no HDF5 to read it",
                      dir->path, entry->name);
}
