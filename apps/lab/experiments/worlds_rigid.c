/* lab/experiments/worlds_rigid.c - rigid problems in files under exact Coulomb friction.
 *
 * Makes the files: sheared beds of spheres, and rocks. Every problem is written to the directory of the results. */
#include "sheared_bed.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { BEDS = 3, BEGIN = 100 };

static TalusStatus write_next(const Worlds *w, TalusWorld *world, const char *name)
{
    char path[CLI_PATH_MAX];
    TalusProblem *problem;
    TALUS_TRY(worlds_copy_problem(world, &problem));
    TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};
    TalusStatus status = talus_problem_set_friction(problem, coulomb);
    snprintf(path, sizeof path, "%s/%s.talus", w->dir, name);
    TALUS_THEN(status, talus_problem_write(path, problem));
    worlds_print(w, "%s: %d contacts", path, talus_problem_blocks(problem));
    talus_problem_destroy(problem);
    return status;
}

static TalusStatus make_bed(const Worlds *w, ShearedBed *bed)
{
    char name[LAB_TEXT];
    TalusWorld *world = NULL;
    TalusSnapshot grains = {0};
    snprintf(name, sizeof name, "sheared-%d", bed->bodies);
    TalusStatus status = sheared_bed_settle(bed, w, &world, &grains);
    for (int i = 0; status == TALUS_OK && i < BEGIN; i++) {
        status = sheared_bed_drive(bed, world, &grains);
        TALUS_THEN(status, talus_world_step(world, NULL));
        TALUS_THEN(status, worlds_check_stop(w));
    }
    TALUS_THEN(status, sheared_bed_drive(bed, world, &grains));
    TALUS_THEN(status, write_next(w, world, name));
    talus_snapshot_free(&grains);
    talus_world_destroy(world);
    return status;
}

static TalusStatus run_rigid(Worlds *w)
{
    ShearedBed bed[BEDS] = {sheared_bed(150, 0.6), sheared_bed(400, 0.75), sheared_bed(1000, 1.0)};
    for (int i = 0; i < BEDS; i++)
        TALUS_TRY(make_bed(w, &bed[i]));
    return TALUS_OK;
}

const WorldsRow worlds_rigid = {
    .name = "rigid",
    .summary = "rigid problems in files under exact Coulomb friction: sheared beds and rocks",
    .source = "held to 1e-6 and 1e-8 of the residual of zero impulses",
    .run = run_rigid};
