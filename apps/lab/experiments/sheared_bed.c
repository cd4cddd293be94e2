/* lab/experiments/sheared_bed.c - a bed of spheres whose top is turned as one plug (sheared_bed.h). */
#include "sheared_bed.h"

ShearedBed sheared_bed(int bodies, double vat)
{
    return (ShearedBed){.bodies = bodies,
                        .settle = bodies > 150 ? 300 : 120,
                        .radius = 0.1,
                        .vat = vat,
                        .turn = 0.5};
}

double sheared_bed_height(const TalusSnapshot *g)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < g->body_count; i++)
        if (!g->fixed[i]) {
            sum += g->position[i].z;
            count++;
        }
    return sum / count;
}

TalusStatus sheared_bed_drive(const ShearedBed *bed, TalusWorld *world, TalusSnapshot *g)
{
    TALUS_TRY(talus_snapshot_take(g, world, TALUS_SNAPSHOT_VELOCITY));
    for (int i = 0; i < g->body_count; i++) {
        TalusVec3 x = g->position[i], spin = {0.0, 0.0, bed->turn};
        TalusVec3 v = {-bed->turn * x.y, bed->turn * x.x, g->velocity[i].z};
        if (!g->fixed[i] && x.z > bed->level)
            TALUS_TRY(talus_world_set_velocity(world, g->id[i], v, spin));
    }
    return TALUS_OK;
}

TalusStatus sheared_bed_set_law(TalusWorld *world, const TalusSnapshot *g, TalusFrictionLaw law)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model.law = law;
    return talus_world_set_pair(world, g->material[0], g->material[0], &pair);
}

TalusStatus sheared_bed_settle(ShearedBed *bed, const Worlds *w, TalusWorld **out, TalusSnapshot *g)
{
    WorldsCase c = {.scene = "settle-cylinder", .backend = w->backend[0]};
    worlds_set(&c.sets, "bodies=%d", bed->bodies);
    worlds_set(&c.sets, "vat=%.17g", bed->vat);
    worlds_set(&c.sets, "mu=0.5");
    worlds_set(&c.sets, "law=ccp");
    worlds_set(&c.sets, "compliance=0");
    TALUS_TRY(worlds_open(w, &c, out));
    TALUS_TRY(worlds_advance(w, *out, bed->settle, "shear: settling", NULL, NULL, NULL));
    TALUS_TRY(talus_snapshot_take(g, *out, TALUS_SNAPSHOT_VELOCITY));
    bed->level = 1.6 * sheared_bed_height(g); /* the upper fifth of a level bed */
    return sheared_bed_set_law(*out, g, TALUS_LAW_COULOMB);
}
