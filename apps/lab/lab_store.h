/* lab/lab_store.h - results.json: what a set has so far, for reading and for going on. */
#ifndef TALUS_CLI_LAB_STORE_H
#define TALUS_CLI_LAB_STORE_H

#include "lab.h"

#define LAB_STORE_NAME "results.json"

/* lab_json.c */
TalusStatus lab_store_write(const LabSet *set);
TalusStatus lab_page_write(const LabSet *set);

/* lab_store.c: the runs in DIR/results.json into set->stored; a missing file is none. */
TalusStatus lab_store_read(LabSet *set);

#endif
