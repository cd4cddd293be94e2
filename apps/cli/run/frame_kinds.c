/* cli/run/frame_kinds.c - splits and checks the list of --frames, the additional kinds of frames that a run writes. */
#include "run.h"

#include "io/formats/formats.h"
#include "io/frames/frames.h"

#include <string.h>

#define VIEW "view" /* frames of the viewer, which a run always writes */

bool frame_kinds_split(const char *list, FrameKinds *kinds)
{
    char *rest;
    kinds->count = 0;
    if (!list)
        return true;
    if (snprintf(kinds->text, sizeof kinds->text, "%s", list) >= (int)sizeof kinds->text)
        return false;
    for (char *p = strtok_r(kinds->text, ",", &rest); p; p = strtok_r(NULL, ",", &rest)) {
        if (strcmp(p, VIEW) == 0)
            continue;
        if (kinds->count == FRAME_KINDS_MAX)
            return false;
        kinds->item[kinds->count++] = p;
    }
    return true;
}

/* Prints a message that suggests the nearest kind or, if none is near, names all; returns CLI_USAGE. */
static int fail_unknown_kind(const CliCommand *command, const char *word)
{
    const char *names[FRAME_KINDS_MAX + 2] = {VIEW, TALUS_FRAMES_EXACT};
    int count = 2;
    for (int i = 0; i < talus_format_count() && count < FRAME_KINDS_MAX + 2; i++)
        names[count++] = talus_format_name(i);
    char all[256] = "; there are ";
    for (int i = 0; i < count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    return cli_fail_usage(command, "--frames %s: no such kind of frames%s", word,
                          cli_did_you_mean(word, names, count, all));
}

/* Checks that kind `index` of the list is `exact` or a format of this build, and not named before. Returns the exit code. */
static int check_kind(const CliCommand *command, const FrameKinds *kinds, int index)
{
    const char *word = kinds->item[index];
    for (int i = 0; i < index; i++)
        if (strcmp(kinds->item[i], word) == 0)
            return cli_fail_usage(command, "--frames: '%s' is named twice", word);
    if (strcmp(word, TALUS_FRAMES_EXACT) == 0)
        return CLI_OK;
    int format = talus_format_find(word);
    if (format < 0)
        return fail_unknown_kind(command, word);
    if (talus_format_missing(format))
        return cli_fail_usage(command, "--frames %s: is not in this build, which lacks %s", word,
                              talus_format_missing(format));
    return CLI_OK;
}

int frame_kinds_check(const CliCommand *command, const char *list)
{
    FrameKinds kinds;
    if (!frame_kinds_split(list, &kinds))
        return cli_fail_usage(command, "--frames: names more kinds than there are");
    if (list && list[strspn(list, ",")] == '\0')
        return cli_fail_usage(command, "--frames: expected kinds of frames, such as vtp,csv");
    for (int i = 0; i < kinds.count; i++) {
        int code = check_kind(command, &kinds, i);
        if (code != CLI_OK)
            return code;
    }
    return CLI_OK;
}
