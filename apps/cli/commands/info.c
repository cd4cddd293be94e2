/* cli/commands/info.c - talus info: describes a file, recognised by its content (a surface by its suffix), or the
 * directory of a run or a report. */
#include "info.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/frames/frames.h"
#include "io/problem/problem_file.h"
#include "io/run/checkpoint.h"
#include "io/text/json.h"
#include "lab/lab.h"
#include "solvers/ipm/pointed.h"
#include "world/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* TEXT_LIMIT: maximum bytes of results.json. CONE_BLOCKS: maximum number of blocks of a problem that print_cone
 * examines, which takes seconds. CONE_SIDES: sides of the polygon that replaces a disc there; its edges are at most 2 %
 * inside. */
enum { TEXT_LIMIT = 1 << 30, CONE_BLOCKS = 20000, CONE_SIDES = 16 };

/* ---- scenes ---- */

/* Prints the numbers of moving and fixed bodies by kind of shape. Returns the exit code. */
static int print_bodies(const TalusWorld *world)
{
    TalusSnapshot s = {0};
    int64_t moving[TALUS_SHAPE_KINDS] = {0}, fixed[TALUS_SHAPE_KINDS] = {0};
    if (talus_snapshot_take(&s, world, 0) != TALUS_OK)
        return cli_fail_library();
    for (int i = 0; i < s.body_count; i++)
        (s.fixed[i] ? fixed : moving)[talus_world_shape(world, s.shape[i]).kind]++;
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++)
        if (moving[k] || fixed[k])
            info_print_fact(talus_shape_name((TalusShapeKind)k),
                            "%" PRId64 " moving, %" PRId64 " fixed", moving[k], fixed[k]);
    talus_snapshot_free(&s);
    return CLI_OK;
}

/* Prints friction law and stiffness that hold for pairs of materials without settings of their own. */
static void print_contact_settings(const TalusWorld *world)
{
    TalusFrictionModel model = talus_world_friction(world);
    double compliance = talus_world_compliance(world);
    char section[32];
    talus_section_format(model, section, sizeof section);
    info_print_fact("friction", "law %s, section %s", talus_law_name(model.law), section);
    if (compliance > 0.0)
        info_print_fact("contacts", "compliance %g, overlap at most %g of the size", compliance,
                        world->def.elastic_overlap);
    else
        info_print_fact("contacts", "rigid");
}

/* Prints a description of a scene and its bodies. Returns the exit code. */
static int info_print_scene(const char *path)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.threads = 1, .allow_overlap = true};
    int code;
    if (talus_scene_load(path, NULL, 0, &scene) != TALUS_OK ||
        talus_scene_build(scene, &choice, &world) != TALUS_OK) {
        code = cli_fail_library();
    } else {
        printf("%s: scene\n", path);
        info_print_fact("title", "%s", talus_scene_title(scene));
        info_print_fact("runs until", "%g s, a frame every %g s, h = %g s",
                        talus_scene_until(scene), talus_scene_every(scene),
                        talus_world_step_length(world));
        print_contact_settings(world);
        for (int i = 0; i < talus_scene_param_count(scene); i++)
            info_print_fact(i ? "" : "parameters", "%s = %g", talus_scene_param_name(scene, i),
                            talus_scene_param_value(scene, i));
        code = print_bodies(world);
        info_print_start(world);
    }
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return code;
}

/* ---- problems ---- */

static bool is_joint(const TalusProblem *problem, int block)
{
    return talus_problem_friction(problem, block).section == TALUS_SECTION_JOINT;
}

/* Prints the number of blocks of joints and of those with bounds; nothing if there are none. */
static void print_joints(const TalusProblem *problem)
{
    int joints = 0, bounded = 0;
    for (int i = 0; i < talus_problem_blocks(problem); i++) {
        joints += is_joint(problem, i);
        bounded += is_joint(problem, i) && isfinite(talus_problem_mu(problem, i));
    }
    if (joints)
        info_print_fact("joints", "%d of the blocks, %d of them with bounds", joints, bounded);
}

/* Prints how many contacts are compliant, and the range of E. */
static void print_compliance(TalusProblem *problem)
{
    TalusProblemDef def;
    int compliant = 0;
    double low = INFINITY, high = 0.0;
    if (talus_problem_export(problem, &def) != TALUS_OK || !def.contacts)
        return;
    for (int i = 0; i < def.contact_count; i++) {
        double e = def.contacts[i].compliance;
        compliant += e > 0.0;
        low = e > 0.0 ? fmin(low, e) : low;
        high = fmax(high, e);
    }
    if (compliant)
        info_print_fact("compliance", "of %d contacts, %.3g to %.3g /kg", compliant, low, high);
}

/* Prints whether the friction cone is pointed. If it is not, contacts can jam: press against each other without moving
 * a body. Changes the problem's friction for this test: all contacts get the section of the first contact with
 * friction, or a polygon if that is a disc. */
static void print_cone(TalusProblem *problem)
{
    TalusFrictionModel model = {.section = TALUS_SECTION_NONE};
    TalusPointed cone;
    char section[LAB_WORD];
    for (int i = talus_problem_blocks(problem) - 1; i >= 0; i--)
        if (talus_problem_rows(problem) > 1 && talus_problem_mu(problem, i) > 0.0 &&
            !is_joint(problem, i))
            model = talus_problem_friction(problem, i);
    if (model.section == TALUS_SECTION_DISC)
        model = (TalusFrictionModel){.section = TALUS_SECTION_POLYGON, .sides = CONE_SIDES};
    model.law = TALUS_LAW_CCP;
    talus_section_format(model, section, sizeof section);
    if (talus_problem_rows(problem) > 3 || talus_problem_blocks(problem) > CONE_BLOCKS)
        info_print_fact("friction cone", "not examined: for at most %d contacts of at most 3 rows",
                        CONE_BLOCKS);
    else if (talus_problem_set_friction(problem, model) != TALUS_OK ||
             talus_qp_pointed(problem, &cone, NULL) != TALUS_OK)
        info_print_fact("friction cone", "not known: %s", talus_error());
    else if (cone.pointed)
        info_print_fact("friction cone", "pointed (section %s)", section);
    else
        info_print_fact("friction cone", "not pointed (section %s): %d contacts can jam", section,
                        cone.bearing);
}

/* Prints a description of a problem file. Returns the exit code. */
static int info_print_problem(const char *path)
{
    TalusProblem *problem;
    if (talus_problem_read(path, NULL, &problem) != TALUS_OK)
        return cli_fail_library();
    TalusResidual residual;
    char law[LAB_WORD], section[LAB_WORD];
    talus_problem_residual(problem, talus_problem_gamma(problem), &residual);
    printf("%s: contact problem, sound\n", path);
    info_print_fact("blocks", "%d of %d row%s", talus_problem_blocks(problem),
                    talus_problem_rows(problem), talus_problem_rows(problem) == 1 ? "" : "s");
    if (talus_problem_bodies(problem) > 0)
        info_print_fact("form", "matrix-free, %d bodies", talus_problem_bodies(problem));
    else
        info_print_fact("form", "explicit matrix");
    print_joints(problem);
    print_compliance(problem);
    lab_friction_format(problem, law, section);
    info_print_fact("friction", "law %s, section %s", law, section);
    info_print_fact("start", "residual %.3e m/s rms, %.3e m/s max", residual.rms, residual.max);
    print_cone(problem);
    talus_problem_destroy(problem);
    return CLI_OK;
}

static void print_solution_and_guesses(const TalusFclib *f)
{
    int complete = 0;
    for (int i = 0; i < f->guess_count; i++)
        complete += f->guesses[i].r != NULL;
    const TalusFclibPoint *s = &f->solution;
    info_print_fact("solution", "%s",
                    s->r           ? "impulses and velocities"
                    : s->u || s->v ? "velocities alone"
                                   : "none");
    info_print_fact("guesses", "%d, %d with impulses", f->guess_count, complete);
}

static void print_mu_range(const TalusFclib *f)
{
    double low = f->contacts ? f->mu[0] : 0.0, high = low;
    for (int i = 1; i < f->contacts; i++) {
        low = f->mu[i] < low ? f->mu[i] : low;
        high = f->mu[i] > high ? f->mu[i] : high;
    }
    if (low == high)
        info_print_fact("mu", "%g", low);
    else
        info_print_fact("mu", "%g to %g", low, high);
}

/* Prints a description of an FCLIB file. Returns the exit code. */
static int info_print_fclib(const char *path)
{
    TalusFclib *f;
    double asymmetry;
    if (talus_fclib_read(path, &f) != TALUS_OK)
        return cli_fail_library();
    printf("%s: FCLIB %s problem\n", path, f->global ? "global" : "local");
    info_print_line("title", f->title);
    info_print_line("description", f->description);
    info_print_fact("contacts", "%d in %d dimensions", f->contacts, f->dimension);
    if (f->global)
        info_print_fact("freedom", "%d degrees, %d joint rows", talus_fclib_dofs(f),
                        talus_fclib_joints(f));
    else
        info_print_fact("matrix", "W of %d rows, %d entries", f->W.rows, f->W.start[f->W.rows]);
    print_mu_range(f);
    int code = talus_fclib_asymmetry(f, &asymmetry) == TALUS_OK ? CLI_OK : cli_fail_library();
    if (code == CLI_OK)
        info_print_fact("asymmetry", "%.3g of W", asymmetry);
    print_solution_and_guesses(f);
    talus_fclib_destroy(f);
    return code;
}

/* ---- a report's directory ---- */

/* Prints title, date, problems and number of runs from the value of results.json. */
static void print_report(const char *dir, const TalusJson *root)
{
    const TalusJson *title = talus_json_get(root, "title"), *kind = talus_json_get(root, "kind");
    const TalusJson *date = talus_json_get(root, "date");
    const TalusJson *problems = talus_json_get(root, "problems");
    const TalusJson *runs = talus_json_get(root, "runs");
    printf("%s: report of `talus %s`\n", dir, kind && kind->text ? kind->text : "solve");
    if (title)
        info_print_line("title", title->text);
    if (date)
        info_print_line("date", date->text);
    for (const TalusJson *p = problems ? problems->first : NULL; p; p = p->next) {
        const TalusJson *name = p->kind == TALUS_JSON_OBJECT ? talus_json_get(p, "name") : NULL;
        if (name)
            info_print_line(p == problems->first ? "problems" : "", name->text);
    }
    info_print_fact("runs", "%d; open %s/report.html", runs ? runs->count : 0, dir);
}

/* Prints a description of a directory with results.json and writes the exit code. Returns false if there is no such
 * file. */
static bool info_print_report(const char *dir, int *code)
{
    TalusArena arena = {0};
    TalusJson *root;
    char *text = NULL, path[CLI_PATH_MAX];
    size_t size;
    snprintf(path, sizeof path, "%s/results.json", dir);
    if (access(path, F_OK) != 0)
        return false;
    *code = CLI_OK;
    if (talus_read_file(path, TEXT_LIMIT, &text, &size) != TALUS_OK ||
        talus_json_parse(&arena, text, size, path, false, &root) != TALUS_OK)
        *code = cli_fail_library();
    else if (root->kind != TALUS_JSON_OBJECT || !talus_json_get(root, "runs"))
        *code = cli_fail("%s: holds no results of Talus", path);
    else
        print_report(dir, root);
    talus_arena_clear(&arena);
    talus_release(text);
    return true;
}

/* Prints a description of a directory, of a run or of a report. Returns the exit code. */
static int info_print_directory(const char *dir)
{
    int code;
    if (info_print_run(dir, &code) || info_print_report(dir, &code))
        return code;
    return cli_fail("%s: holds neither frames.talus nor steps.csv of a run, nor results.json of a "
                    "report",
                    dir);
}

/* ---- the command ---- */

static int info_main(const CliList *operands)
{
    const char *name = operands->item[0];
    char path[CLI_PATH_MAX];
    struct stat about;
    if (stat(name, &about) == 0 && S_ISDIR(about.st_mode))
        return info_print_directory(name);
    if (!cli_find_scene(name, path, sizeof path))
        return CLI_FAILED;
    if (cli_is_surface_name(path))
        return info_print_surface(path);
    if (cli_file_starts_with(path, TALUS_CHECKPOINT_MAGIC))
        return info_print_checkpoint(path);
    if (cli_file_starts_with(path, TALUS_FRAMES_MAGIC))
        return info_print_frames(path, true);
    if (cli_file_starts_with(path, TALUS_PROBLEM_MAGIC))
        return info_print_problem(path);
    if (talus_fclib_is_hdf5(path))
        return info_print_fclib(path);
    return info_print_scene(path);
}

const CliCommand cli_info = {
    .name = "info",
    .summary =
        "Tells what a scene, frames, checkpoint, problem, FCLIB, STL or OBJ file, run or report holds.",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "FILE may also be the name of a scene that ships, or the directory of a run or report.\n"
        "Checkpoints and problem files are verified against their checksums.\n",
    .main = info_main};
