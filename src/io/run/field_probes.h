/* io/run/field_probes.h - tables of fields or bulk figures that a run measures as it goes on: DIR/fields-NAME.csv, in the form that
 * talus measure writes. */
#ifndef TALUS_IO_RUN_FIELD_PROBES_H
#define TALUS_IO_RUN_FIELD_PROBES_H

#include "io/file/dir.h"
#include "io/text/text.h"

#include <talus/io.h>

typedef struct TalusFieldProbes TalusFieldProbes;

/* Fails if a probe is none that can be measured, or two have one name. */
TalusStatus talus_field_probes_check(const TalusFieldProbe *probe, int count);
/* Opens the tables in `dir`, which must outlive *out; with `resume` continues them behind their rows up to `time`. Without probes
 * *out is NULL, which the other functions allow. */
TalusStatus talus_field_probes_open(TalusDir *dir, const TalusFieldProbe *probe, int count,
                                    bool resume, double time, TalusFieldProbes **out);
void talus_field_probes_close(TalusFieldProbes *probes);
/* True if a probe has a row at this time, that of the step which has ended: a multiple of its `every` has been reached since the
 * last call. To be called for each step, once. */
bool talus_field_probes_due(TalusFieldProbes *probes, double time);
/* Returns the TalusSnapshotField bits that all probes together need. */
unsigned talus_field_probes_fields(const TalusFieldProbes *probes);
/* Appends the rows of the probes that are due. The snapshot has the fields above; `pool` may be NULL. */
TalusStatus talus_field_probes_add(TalusFieldProbes *probes, const TalusFramesHead *head,
                                   const TalusSnapshot *snapshot, TalusPool *pool);
TalusStatus talus_field_probes_sync(TalusFieldProbes *probes);
TalusStatus talus_field_probes_verify(const TalusFieldProbes *probes);
/* Removes the tables of an earlier run. */
TalusStatus talus_field_probes_remove(TalusDir *dir);

/* A probe as one line of text, as a checkpoint's note keeps it, and back. The name that is read points into `line`, which is
 * changed. */
/* Sets the fields from their names, "bulk" alone: bulk figures; fails if there is no such field. */
TalusStatus talus_field_probe_set_quantities(TalusFieldProbe *probe, const char *const *names,
                                             int count);
void talus_field_probe_print(TalusText *text, const TalusFieldProbe *probe);
TalusStatus talus_field_probe_parse(char *line, TalusFieldProbe *out);

#endif
