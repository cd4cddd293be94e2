/* cli/commands/render.c - talus render: writes a still picture of one time of a run, or a film. */
#include "cli/cli.h"
#include "cli/commands/render_film.h"
#include "cli/run/run.h"

#include "base/param.h"
#include "draw/draw.h"
#include "draw/png.h"
#include "io/frames/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Values of the options, which the table at the end describes. NULL, NAN, -1: not given. */
typedef struct Options {
    CliList set;
    const char *output, *film, *size, *colour, *range, *view, *from, *container, *clip;
    double time, zoom, since, until, every, fps;
    int threads;
    bool chains, dark, transparent, plain;
} Options;

static Options options = {
    .time = NAN, .zoom = NAN, .since = NAN, .until = NAN, .every = NAN, .fps = NAN, .threads = -1};

/* ---- parsing of options ---- */

/* Values of --container, in the order of TalusContainerStyle. */
static const char *const container_names[] = {"shown", "ghost", "hidden"};

/* Values of --view. */
static const struct {
    const char *name;
    double azimuth, elevation; /* of the camera, degrees */
} views[] = {
    {"home", -60.0, 18.0}, {"front", -90.0, 0.0}, {"side", 0.0, 0.0}, {"top", -90.0, 90.0}};

/* Of a film, if --fps and --size are left out. */
enum { FILM_RATE = 25, FILM_WIDTH = 960, FILM_HEIGHT = 720 };

enum { VIEWS = sizeof views / sizeof *views, CONTAINERS = 3, NAMES_MAX = 16 };

/* Returns the index of `word` in `names`, or -1 after a message about --OPTION that lists the names. */
static int find_name(const char *option, const char *word, const char *const *names, int count)
{
    char all[256] = "";
    for (int k = 0; k < count; k++) {
        if (strcmp(names[k], word) == 0)
            return k;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", names[k]);
    }
    const char *near = talus_nearest_name(word, names, count);
    if (near)
        cli_fail_usage(&cli_render, "--%s %s: did you mean '%s'? There are %s", option, word, near,
                       all);
    else
        cli_fail_usage(&cli_render, "--%s %s: expected one of %s", option, word, all);
    return -1;
}

/* Parses exactly two finite numbers separated by the character `between`; may write *a and *b even if it returns
 * false. */
static bool parse_two_numbers(const char *text, char between, double *a, double *b)
{
    char *end;
    *a = strtod(text, &end);
    if (end == text || *end != between)
        return false;
    const char *second = end + 1;
    *b = strtod(second, &end);
    return end != second && *end == '\0' && isfinite(*a) && isfinite(*b);
}

/* Sets width and height from --size; returns false after a message. */
static bool parse_size(const char *text, TalusDrawDef *def)
{
    double width, height;
    if (!parse_two_numbers(text, 'x', &width, &height) || width != floor(width) ||
        height != floor(height) || !(width >= 1 && width <= TALUS_IMAGE_SIDE_MAX) ||
        !(height >= 1 && height <= TALUS_IMAGE_SIDE_MAX)) {
        cli_fail_usage(&cli_render,
                       "--size %s: expected WIDTHxHEIGHT such as 1600x1200, up to %d each", text,
                       TALUS_IMAGE_SIDE_MAX);
        return false;
    }
    def->width = (int)width;
    def->height = (int)height;
    return true;
}

/* Sets the quantity that colours the bodies from --colour; returns false after a message. */
static bool parse_colour(const char *text, TalusDrawDef *def)
{
    const char *names[NAMES_MAX];
    for (int k = 0; k < TALUS_COLOUR_COUNT; k++)
        names[k] = talus_colour_name((TalusColourBy)k);
    int chosen = find_name("colour", text, names, TALUS_COLOUR_COUNT);
    def->colour = (TalusColourBy)chosen;
    return chosen >= 0;
}

/* Sets the ends of the colour scale from --range; returns false after a message. */
static bool parse_range(const char *text, TalusDrawDef *def)
{
    if (parse_two_numbers(text, ':', &def->low, &def->high) && def->low < def->high)
        return true;
    cli_fail_usage(&cli_render, "--range %s: expected LOW:HIGH, two numbers, the smaller first",
                   text);
    return false;
}

/* Sets the camera's angles from the name of a view; returns false after a message. */
static bool parse_view(const char *text, TalusDrawDef *def)
{
    const char *names[VIEWS];
    for (int k = 0; k < VIEWS; k++)
        names[k] = views[k].name;
    int chosen = find_name("view", text, names, VIEWS);
    if (chosen < 0)
        return false;
    def->azimuth = views[chosen].azimuth;
    def->elevation = views[chosen].elevation;
    return true;
}

/* Sets the camera's angles from --from; returns false after a message. */
static bool parse_from(const char *text, TalusDrawDef *def)
{
    if (parse_two_numbers(text, ',', &def->azimuth, &def->elevation) &&
        fabs(def->elevation) <= 90.0)
        return true;
    cli_fail_usage(&cli_render,
                   "--from %s: expected AZIMUTH,ELEVATION in degrees, the second from -90 to 90",
                   text);
    return false;
}

/* Sets the clipping plane from --clip; returns false after a message. */
static bool parse_clip(const char *text, TalusDrawDef *def)
{
    char *end = NULL;
    if (text[0] >= 'x' && text[0] <= 'z' && text[1] == ':') {
        def->clip = true;
        def->clip_axis = text[0] - 'x';
        def->clip_at = strtod(text + 2, &end);
        if (end != text + 2 && *end == '\0' && isfinite(def->clip_at))
            return true;
    }
    cli_fail_usage(&cli_render, "--clip %s: expected AXIS:AT such as y:0, the axis x, y or z",
                   text);
    return false;
}

/* Sets how fixed bodies are drawn from --container; returns false after a message. */
static bool parse_container(const char *text, TalusDrawDef *def)
{
    int chosen = find_name("container", text, container_names, CONTAINERS);
    def->container = (TalusContainerStyle)chosen;
    return chosen >= 0;
}

/* Sets `def` from the options that are texts; returns false after a message if one is wrong. */
static bool parse_texts(const Options *o, TalusDrawDef *def)
{
    return (!o->size || parse_size(o->size, def)) && (!o->colour || parse_colour(o->colour, def)) &&
           (!o->range || parse_range(o->range, def)) && (!o->view || parse_view(o->view, def)) &&
           (!o->from || parse_from(o->from, def)) && (!o->clip || parse_clip(o->clip, def)) &&
           (!o->container || parse_container(o->container, def));
}

/* Returns false after a message if neither -o nor --film is given, -o is not a .png name, --zoom is 0, or options
 * contradict each other. */
static bool check_options(const Options *o)
{
    bool times = !isnan(o->since) || !isnan(o->until) || !isnan(o->every) || !isnan(o->fps);
    if (!o->output == !o->film)
        cli_fail_usage(&cli_render, "expected either -o FILE.png or --film OUT");
    else if (o->film && !isnan(o->time))
        cli_fail_usage(&cli_render, "--time is for a picture; a film has --since and --until");
    else if (o->output && times)
        cli_fail_usage(&cli_render, "--since, --until, --every and --fps are for --film");
    else if (o->output && !cli_ends_with(o->output, ".png"))
        cli_fail_usage(&cli_render,
                       "-o %s: pictures are PNG files; expected a name that ends in .png",
                       o->output);
    else if (o->chains && o->colour)
        cli_fail_usage(&cli_render, "--chains colours by chain force; leave out --colour");
    else if (o->view && o->from)
        cli_fail_usage(&cli_render, "--view and --from both place the camera; give one");
    else if (o->zoom == 0.0)
        cli_fail_usage(&cli_render, "--zoom 0: expected a number above 0");
    else
        return true;
    return false;
}

/* ---- source of the picture ---- */

/* Content of the picture: the bodies at one time, and shapes and materials in the head. */
typedef struct PictureSource {
    TalusSnapshot snapshot;
    const TalusFramesHead *head;
    TalusFrames *frames;  /* the open frames file, which holds the head; NULL: a scene */
    TalusHeadStore store; /* memory of the head of a scene */
} PictureSource;

static void free_source(PictureSource *source)
{
    talus_snapshot_free(&source->snapshot);
    talus_frames_close(source->frames);
    talus_frames_head_clear(&source->store);
}

/* Writes the index of the last frame at or before `time`; NAN: of the last frame. Returns false with a message if there
 * is no frame, or the time is before the first or after the last by more than the time between the last two. */
static bool find_frame(const char *path, const TalusFrames *frames, double time, int *index)
{
    int count = talus_frames_count(frames);
    if (count == 0) {
        cli_fail("%s: holds no frame yet", path);
        return false;
    }
    double first = talus_frames_info(frames, 0).time;
    double last = talus_frames_info(frames, count - 1).time;
    double apart = count > 1 ? last - talus_frames_info(frames, count - 2).time : 0.0;
    double slack = 1e-9 * fmax(fabs(last), fabs(first));
    *index = isnan(time) ? count - 1 : talus_frames_at(frames, time + slack);
    if (isnan(time) || (time >= first - slack && time <= last + apart + slack))
        return true;
    cli_fail("%s: --time %g is outside its frames, which go from %g to %g s", path, time, first,
             last);
    return false;
}

/* Reads the frame at `time` of a frames file. */
static int read_frames(const char *path, double time, PictureSource *source)
{
    int index;
    if (talus_frames_open(path, &source->frames) != TALUS_OK)
        return cli_fail_library();
    if (!find_frame(path, source->frames, time, &index))
        return CLI_FAILED;
    if (talus_frames_read(source->frames, index, &source->snapshot) != TALUS_OK)
        return cli_fail_library();
    source->head = talus_frames_head(source->frames, index);
    return source->head ? CLI_OK : cli_fail_library();
}

/* Simulates the scene to o->time (NAN: its start) and takes the picture's source from its world. */
static TalusStatus simulate_scene(const TalusScene *scene, const char *path, const Options *o,
                                  PictureSource *source)
{
    TalusWorld *world;
    char name[128];
    TalusSceneChoice choice = {.threads = cli_convert_threads(o->threads)};
    TalusStatus status = talus_scene_build(scene, &choice, &world);
    if (status != TALUS_OK)
        return status;
    double time = isnan(o->time) ? 0.0 : o->time;
    while (status == TALUS_OK && talus_world_next_length(world, time) > 0.0)
        status = talus_world_step_to(world, time, NULL);
    run_format_scene_name(path, name, sizeof name);
    TalusFramesDef def = {.title = talus_scene_title(scene), .scene = name};
    TALUS_THEN(status, talus_snapshot_take(&source->snapshot, world, TALUS_SNAPSHOT_ALL));
    TALUS_THEN(status, talus_frames_head_of_world(world, &def, &source->snapshot, &source->store));
    source->head = &source->store.head;
    talus_world_destroy(world);
    return status;
}

/* Loads and simulates a scene. Returns the exit code. */
static int read_scene(const char *path, const Options *o, PictureSource *source)
{
    TalusScene *scene = NULL;
    TalusStatus status = talus_scene_load(path, o->set.item, o->set.count, &scene);
    TALUS_THEN(status, simulate_scene(scene, path, o, source));
    talus_scene_destroy(scene);
    return status == TALUS_OK ? CLI_OK : cli_fail_by_domain(&cli_render);
}

/* Sets path[CLI_PATH_MAX] to the frames file that `name`, a run's directory or that file itself, stands for; to "" if it
 * is neither, hence a scene. Returns the exit code. */
static int find_frames_file(const char *name, char *path)
{
    struct stat about;
    bool there = stat(name, &about) == 0;
    path[0] = '\0';
    if (there && S_ISDIR(about.st_mode)) {
        snprintf(path, CLI_PATH_MAX, "%s/frames.talus", name);
        if (stat(path, &about) != 0)
            return cli_fail("%s: holds no frames.talus; `talus run SCENE --out %s` writes one",
                            name, name);
    } else if (there && cli_file_starts_with(name, TALUS_FRAMES_MAGIC)) {
        snprintf(path, CLI_PATH_MAX, "%s", name);
    }
    return CLI_OK;
}

/* Reads the frame at o->time of a run's directory or a frames file, or simulates a scene. Returns the exit code. */
static int read_source(const char *name, const Options *o, PictureSource *source)
{
    char path[CLI_PATH_MAX];
    if (find_frames_file(name, path) != CLI_OK)
        return CLI_FAILED;
    if (path[0] == '\0') {
        if (!cli_has_scene(name, path, sizeof path) && strchr(name, '/'))
            return cli_fail("%s: no such run directory, frames file or scene", name);
        if (!cli_find_scene(name, path, sizeof path) || cli_refuse_problem(path))
            return CLI_FAILED;
        return read_scene(path, o, source);
    }
    if (o->set.count > 0)
        return cli_fail_usage(&cli_render, "--set is for scenes; %s has its frames already", name);
    return read_frames(path, o->time, source);
}

/* ---- the command ---- */

/* Draws the source and writes the PNG file `path`. */
static TalusStatus draw_picture(const PictureSource *source, const TalusDrawDef *def, int threads,
                                const char *path)
{
    TalusPool *pool;
    TalusImage image;
    TalusStatus status = talus_pool_create(threads > 0 ? threads : 0, &pool);
    if (status != TALUS_OK)
        return status;
    status = talus_draw(source->head, &source->snapshot, def, pool, &image);
    talus_pool_destroy(pool);
    if (status != TALUS_OK)
        return status;
    status = talus_png_write(path, &image);
    talus_image_free(&image);
    return status;
}

static int draw_still(const char *name, const Options *o, const TalusDrawDef *def)
{
    PictureSource source = {.head = NULL};
    int code = read_source(name, o, &source);
    if (code == CLI_OK && draw_picture(&source, def, o->threads, o->output) != TALUS_OK)
        code = cli_fail_library();
    if (code == CLI_OK)
        printf("%s: %d x %d pixels, t = %g s\n", o->output, def->width, def->height,
               source.snapshot.time);
    free_source(&source);
    return code;
}

static int draw_film(const char *name, const Options *o, TalusDrawDef *def)
{
    char path[CLI_PATH_MAX];
    FilmDef film = {.output = o->film,
                    .range = {.every = o->every, .from = o->since, .until = o->until},
                    .rate = isnan(o->fps) ? FILM_RATE : o->fps,
                    .threads = o->threads};
    if (!o->size) {
        def->width = FILM_WIDTH;
        def->height = FILM_HEIGHT;
    }
    int code = film_check(&cli_render, &film, def);
    if (code == CLI_OK)
        code = find_frames_file(name, path);
    if (code != CLI_OK)
        return code;
    if (path[0] == '\0')
        return cli_fail("%s: no run directory or frames file; a film is made of a run: `talus run "
                        "SCENE --out DIR`, then `talus render DIR --film %s`",
                        name, o->film);
    if (o->set.count > 0)
        return cli_fail_usage(&cli_render, "--set is for scenes; %s has its frames already", name);
    return film_draw(path, &film, def);
}

static int render_main(const CliList *operands)
{
    const Options *o = &options;
    TalusDrawDef def = talus_draw_def_default();
    if (!check_options(o) || !parse_texts(o, &def))
        return CLI_USAGE;
    def.zoom = isnan(o->zoom) ? 1.0 : o->zoom;
    def.chains = o->chains;
    def.dark = o->dark;
    def.transparent = o->transparent;
    def.plain = o->plain;
    return o->film ? draw_film(operands->item[0], o, &def) : draw_still(operands->item[0], o, &def);
}

static const CliOption render_options[] = {
    {"output", 'o', CLI_TEXT, &options.output, "FILE.png", "the picture to write"},
    {"film", 0, CLI_TEXT, &options.film, "OUT",
     "a film of the run in place of one picture: FILE.png (animated),\nFILE.mp4 or FILE.webm (by "
     "ffmpeg), or DIR/ for numbered pictures"},
    {"since", 0, CLI_REAL, &options.since, "T", "film: frames from time T on"},
    {"until", 0, CLI_REAL, &options.until, "T", "film: frames up to time T"},
    {"every", 0, CLI_REAL, &options.every, "DT", "film: frames at least DT apart"},
    {"fps", 0, CLI_REAL, &options.fps, "N", "film: frames a second, 25 if left out"},
    {"time", 0, CLI_REAL, &options.time, "T",
     "the last frame at or before T seconds; the last of all\nif left out. Of a scene: simulate until "
     "T; its start"},
    {"size", 0, CLI_TEXT, &options.size, "WxH",
     "pixels, 1600x1200 if left out, 960x720 for a film"},
    {"colour", 0, CLI_TEXT, &options.colour, "NAME",
     "speed (if left out), force, touching, id, layer,\nmaterial, tag or dissipated"},
    {"range", 0, CLI_TEXT, &options.range, "LOW:HIGH",
     "ends of the colour scale; from the frame if left out"},
    {"view", 0, CLI_TEXT, &options.view, "NAME", "home (if left out), front, side or top"},
    {"from", 0, CLI_TEXT, &options.from, "AZIMUTH,ELEVATION",
     "where the camera stands, degrees: -90,0 is the front,\n0,0 the side, home is -60,18"},
    {"zoom", 0, CLI_REAL, &options.zoom, "FACTOR", "1 fits all; more is nearer"},
    {"container", 0, CLI_TEXT, &options.container, "HOW",
     "fixed bodies: ghost (if left out), shown or hidden"},
    {"clip", 0, CLI_TEXT, &options.clip, "AXIS:AT",
     "cut away what lies on the camera's side of a plane, such\nas y:0"},
    {"chains", 0, CLI_FLAG, &options.chains, NULL, "force chains: contacts above the mean force"},
    {"dark", 0, CLI_FLAG, &options.dark, NULL, "dark background"},
    {"transparent", 0, CLI_FLAG, &options.transparent, NULL, "no background at all"},
    {"plain", 0, CLI_FLAG, &options.plain, NULL, "no caption"},
    {"set", 0, CLI_LIST, &options.set, "NAME=VALUE",
     "a parameter of the scene, where a scene is drawn"},
    {"threads", 0, CLI_COUNT, &options.threads, "N", "threads to use, 0 for one per processor"},
};

const CliCommand cli_render = {
    .name = "render",
    .summary = "Draws a moment of a run as a PNG picture, or a film of it.",
    .operands = "DIR|FRAMES|SCENE",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "DIR is what `talus run SCENE --out DIR` wrote; a frames file or a scene will do as well.\n"
        "No display is needed. docs/how-to/render.md shows what the options do and defines the colours.\n",
    CLI_OPTIONS(render_options),
    .main = render_main};
