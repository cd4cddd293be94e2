/* engine/cpu/sums.c - sums over bodies and over contacts, by the groups of backend/groups.h. */
#include "engine/cpu/engine.h"

#include "base/sum.h"

#include <string.h>

/* Contacts are grouped by their first body, a. */
TalusStatus cpu_group_contacts(CpuEngine *e)
{
    const TalusContactList *list = e->contacts;
    const int spheres = list->sphere_sphere + list->sphere_fixed;
    const int run_end[3] = {list->sphere_sphere, spheres, list->count};
    const TalusFirstBodies first = {list->contact, sizeof *list->contact, {e->bodies.id, NULL}};
    TALUS_TRY(talus_groups_cut_contacts(&e->groups, &first, run_end));
    TALUS_TRY(cpu_reserve_partials(e, talus_chunks(list->count, CPU_GRAIN)));
    return cpu_reserve_partials(e, e->groups.count);
}

void cpu_sum_partials(const CpuEngine *e, int64_t rows, int columns, double *sum)
{
    TalusSum column[CPU_PARTIALS];
    for (int j = 0; j < columns; j++) {
        column[j] = (TalusSum){0};
        for (int64_t i = 0; i < rows; i++)
            talus_sum_add(&column[j], &e->partial[i][j], 1);
    }
    talus_comm_add_sums(e->bodies.comm, column, columns);
    for (int j = 0; j < columns; j++)
        sum[j] = talus_sum_value(&column[j]);
}

void cpu_drop_foreign_groups(CpuEngine *e)
{
    for (int64_t g = 0; e->bodies.halo > 0 && g < e->groups.count; g++)
        if (!cpu_counts_group(e, g))
            memset(e->partial[g], 0, sizeof *e->partial);
}

TalusStatus cpu_group_bodies(CpuEngine *e)
{
    const TalusBodyArrays *b = &e->bodies;
    TALUS_TRY(talus_groups_cut_bodies(&e->body_groups, b->id, b->at_rank, b->slots));
    return cpu_reserve_partials(e, e->body_groups.count);
}

void cpu_sum_bodies_named(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum,
                          const char *name)
{
    talus_groups_for_each_named(&e->body_groups, e->pool, fn, context, name);
    cpu_sum_partials(e, e->body_groups.count, columns, sum);
}

void cpu_sum_contacts_named(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum,
                            const char *name)
{
    talus_groups_for_each_named(&e->groups, e->pool, fn, context, name);
    cpu_drop_foreign_groups(e);
    cpu_sum_partials(e, e->groups.count, columns, sum);
}
