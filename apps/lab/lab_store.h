/* lab/lab_store.h - results.json: stores a set for later calls and for reading. */
#ifndef TALUS_CLI_LAB_STORE_H
#define TALUS_CLI_LAB_STORE_H

#include "lab.h"

#define LAB_STORE_NAME "results.json"

/* lab_json.c */
TalusStatus lab_store_write(const LabSet *set);
TalusStatus lab_page_write(const LabSet *set);

/* Reads the runs of DIR/results.json into set->stored, none if the file is missing (lab_store.c). */
TalusStatus lab_store_read(LabSet *set);

#endif
