/* lab/lab_friction.c - parsing and printing of friction laws, sections and outer loops. */
#include "lab.h"

#include "base/param.h"
#include "base/status.h"

#include <string.h>

const TalusFrictionModel lab_fclib_model = {.law = TALUS_LAW_COULOMB,
                                            .section = TALUS_SECTION_DISC};

TalusStatus lab_model_parse(const char *law, const char *section, TalusFrictionModel *out)
{
    *out = (TalusFrictionModel){0};
    if (law)
        TALUS_TRY(talus_law_parse(law, out));
    return section ? talus_section_parse(section, out) : TALUS_OK;
}

/* ---- friction of a problem ---- */

/* True for a contact that resists sliding; with 6 rows for every contact, since it may resist spinning or rolling even
 * at mu = 0. */
static bool has_friction(const TalusProblem *problem, int block)
{
    TalusSection section = talus_problem_friction(problem, block).section;
    return talus_problem_rows(problem) > 1 && section != TALUS_SECTION_NONE &&
           section != TALUS_SECTION_JOINT &&
           (talus_problem_rows(problem) == 6 || talus_problem_mu(problem, block) > 0.0);
}

void lab_friction_format(const TalusProblem *problem, char law[LAB_WORD], char section[LAB_WORD])
{
    bool found = false;
    strcpy(law, talus_law_name(TALUS_LAW_CCP));
    strcpy(section, talus_section_name(TALUS_SECTION_NONE));
    for (int i = 0; i < talus_problem_blocks(problem); i++) {
        TalusFrictionModel model = talus_problem_friction(problem, i);
        char word[LAB_WORD];
        if (!has_friction(problem, i))
            continue;
        talus_section_format(model, word, sizeof word);
        if (!found) {
            strcpy(law, talus_law_name(model.law));
            strcpy(section, word);
        }
        if (strcmp(law, talus_law_name(model.law)) != 0)
            strcpy(law, "mixed");
        if (strcmp(section, word) != 0)
            strcpy(section, "mixed");
        found = true;
    }
}

/* ---- outer loops ---- */

/* Names of outer loops, by TalusOuterKind. */
static const char *const kinds[] = {"auto", "shift", "tresca"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const TalusParam outer_params[] = {
    {"every", TALUS_PARAM_INT, offsetof(TalusOuter, every), 0, 0, 1e9, NULL, ""},
    {"share", TALUS_PARAM_REAL, offsetof(TalusOuter, share), 0, 0, 1, NULL, ""},
    {"refresh", TALUS_PARAM_INT, offsetof(TalusOuter, refresh), 0, -1, 1e6, NULL, ""},
};
enum { PARAMS = sizeof outer_params / sizeof *outer_params };

TalusStatus lab_outer_parse(const char *text, TalusOuter *out)
{
    char name[LAB_WORD];
    size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (int i = 0; i < KINDS; i++)
        if (length < sizeof name && strcmp(name, kinds[i]) == 0) {
            *out = (TalusOuter){.kind = (TalusOuterKind)i};
            return talus_params_parse(outer_params, PARAMS, "--outer",
                                      text[length] ? text + length + 1 : "", out);
        }
    return talus_reject(
        "--outer %s: expected shift, tresca or auto, with :every=N,share=X,refresh=N "
        "behind it where wanted",
        text);
}

/* Appends ":key=value", or ",key=value" if not *first, unless the value is 0. */
static void append_option(char text[LAB_TEXT], const char *key, double value, bool *first)
{
    size_t used = strlen(text);
    if (value != 0.0)
        snprintf(text + used, LAB_TEXT - used, "%c%s=%g", *first ? ':' : ',', key, value);
    *first = *first && value == 0.0;
}

void lab_outer_format(const TalusOuter *outer, char text[LAB_TEXT])
{
    bool first = true;
    snprintf(text, LAB_TEXT, "%s", kinds[outer->kind]);
    append_option(text, "every", outer->every, &first);
    append_option(text, "share", outer->share, &first);
    append_option(text, "refresh", outer->refresh, &first);
    if (outer->kind == TALUS_OUTER_AUTO && first)
        text[0] = '\0';
}
