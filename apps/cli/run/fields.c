/* cli/run/fields.c - the probes of fields of a run: from the scene or the note of a checkpoint to the output. Both ways lead through
 * one line of text for each probe, so that a resumed run measures exactly what it did. */
#include "run.h"

#include "base/memory.h"
#include "io/run/field_probes.h"

#include <stdlib.h>
#include <string.h>

TalusStatus run_fields_of_scene(const TalusScene *scene, CliList *fields)
{
    *fields = (CliList){0};
    for (int i = 0; i < talus_scene_field_probe_count(scene); i++) {
        const TalusFieldProbe probe = talus_scene_field_probe(scene, i);
        TalusText text = {0};
        talus_field_probe_print(&text, &probe);
        if (text.status != TALUS_OK) {
            talus_release(text.bytes);
            return text.status;
        }
        cli_list_add(fields, cli_check_memory(strdup(text.bytes)));
        talus_release(text.bytes);
    }
    return TALUS_OK;
}

TalusStatus run_fields_parse(const CliList *fields, RunFields *out)
{
    const size_t count = (size_t)fields->count;
    *out = (RunFields){.count = 0};
    if (count == 0)
        return TALUS_OK;
    out->count = fields->count;
    out->probe = cli_check_memory(calloc(count, sizeof *out->probe));
    out->line = cli_check_memory(calloc(count, sizeof *out->line));
    for (int i = 0; i < out->count; i++) {
        out->line[i] = cli_check_memory(strdup(fields->item[i]));
        TALUS_TRY(talus_field_probe_parse(out->line[i], &out->probe[i]));
    }
    return TALUS_OK;
}

void run_fields_free(RunFields *fields)
{
    for (int i = 0; i < fields->count; i++)
        free(fields->line[i]);
    free(fields->line);
    free(fields->probe);
}
