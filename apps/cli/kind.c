/* kind.c - recognises files and names on the command line and checks whether a command supports them. */
#include "cli.h"

#include "io/file/file.h"
#include "io/problem/problem_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool cli_file_starts_with(const char *path, const char *magic)
{
    char head[8] = "";
    size_t length = strlen(magic);
    return length <= sizeof head && talus_read_start(path, head, length) == length &&
           memcmp(head, magic, length) == 0;
}

bool cli_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool cli_is_fclib_name(const char *path)
{
    return cli_ends_with(path, ".hdf5") || cli_ends_with(path, ".h5");
}

bool cli_is_surface_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".stl") == 0 || strcasecmp(dot, ".obj") == 0);
}

bool cli_is_problem(const char *path)
{
    return cli_file_starts_with(path, TALUS_PROBLEM_MAGIC) || talus_fclib_is_hdf5(path);
}

bool cli_refuse_problem(const char *path)
{
    if (!cli_is_problem(path))
        return false;
    cli_fail("%s is a contact problem: `talus solve %s --solver all`", path, path);
    return true;
}

TalusStatus cli_read_reference(const char *path, bool exact, const TalusFclib *problem,
                               TalusFclibPoint *out)
{
    bool relaxed = !exact && talus_fclib_has(path, "ccp_solution");
    const char *group = relaxed ? "ccp_solution" : "solution";
    return talus_fclib_read_point(path, group, problem, out);
}

int cli_fail_by_domain(const CliCommand *command)
{
    const TalusError *e = talus_error_record();
    if (e->domain == TALUS_DOMAIN_OVERRIDE ||
        (e->code == TALUS_ERR_ARGUMENT && e->domain != TALUS_DOMAIN_SCENE))
        return cli_fail_usage(command, "%s", e->text);
    return cli_fail_library();
}

int cli_check_solver(const CliCommand *command, const char *spec)
{
    TalusSolver *solver;
    TalusStatus status = spec ? talus_solver_create(spec, &solver) : TALUS_OK;
    if (status != TALUS_OK)
        return cli_fail_by_domain(command);
    if (spec)
        talus_solver_destroy(solver);
    return CLI_OK;
}

bool cli_supports(const char *spec, const TalusProblem *problem)
{
    TalusSolver *solver;
    if (talus_solver_create(spec, &solver) != TALUS_OK)
        return false;
    bool supports = talus_solver_supports(solver, problem) == TALUS_OK;
    talus_solver_destroy(solver);
    return supports;
}

int cli_fail_unsupported(const TalusProblem *problem)
{
    char why[512], text[512] = "";
    size_t used = 0, size = sizeof text;
    snprintf(why, sizeof why, "%s", talus_error());
    for (int i = 1; i < talus_solver_count() && used < size; i++) { /* index 0 is "auto" */
        TalusSolverRow row = talus_solver_row(i);
        if (!row.missing && cli_supports(row.name, problem))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", row.name);
    }
    return cli_fail("%s; these can: %s", why, used ? text : "none");
}
