/* cli/commands/measure_flux.c - bodies and mass that cross a plane from state to state, a row for each. */
#include "measure.h"

#include <math.h>

TalusStatus measure_flux_header(TalusFile *file)
{
    talus_file_print(file, "time,bodies,mass,total_bodies,total_mass,mass_rate\n");
    return TALUS_OK;
}

TalusStatus measure_flux_add(MeasureFlux *flux, TalusFile *file, const MeasureRequest *request,
                             TalusAssembly *assembly)
{
    const TalusFluxDef def = {request->flux_axis, request->flux_at, request->lo, request->hi};
    const double time = assembly->time;
    TalusFlux crossed = {0};
    if (flux->any)
        TALUS_TRY(talus_flux_measure(&flux->before, assembly, &def, &crossed));
    flux->total.bodies += crossed.bodies;
    flux->total.mass += crossed.mass;
    talus_file_print(file, "%.17g,%lld,%.17g,%lld,%.17g,", time, (long long)crossed.bodies,
                     crossed.mass, (long long)flux->total.bodies, flux->total.mass);
    if (flux->any && time > flux->before.time)
        talus_file_print(file, "%.17g", crossed.mass / (time - flux->before.time));
    talus_file_print(file, "\n");
    measure_flux_close(flux);
    flux->before = *assembly;
    flux->any = true;
    *assembly = (TalusAssembly){0};
    return TALUS_OK;
}

void measure_flux_close(MeasureFlux *flux)
{
    talus_assembly_free(&flux->before);
}
