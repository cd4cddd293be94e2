/* cli/study/results.c - what a study has found: tables of runs and of points, JSON. Nothing of it depends on the clock, the
 * number of processes or the order in which runs ended. */
#include "results.h"

#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *study_state_name(StudyState state)
{
    static const char *const names[] = {"waiting", "finished", "failed"};
    return names[state];
}

int study_count(const Study *study, StudyState state)
{
    int count = 0;
    for (int i = 0; i < study->runs; i++)
        count += study->run[i].state == state;
    return count;
}

StudySample study_sample(const Study *study, int point, int figure)
{
    double *value = cli_check_memory(malloc((size_t)study->seeds * sizeof *value));
    for (int s = 0; s < study->seeds; s++)
        value[s] = study->run[point * study->seeds + s].value[figure];
    const StudySample sample = study_summarise(value, study->seeds);
    free(value);
    return sample;
}

/* ---- CSV ---- */

/* Writes a cell, in quotes where it needs them. */
static void put_text(TalusFile *file, const char *text)
{
    const bool plain = !strpbrk(text, ",\"\n");
    talus_file_put(file, "\"", plain ? 0 : 1);
    for (; *text; text++)
        if (*text == '"')
            talus_file_put(file, "\"\"", 2);
        else
            talus_file_put(file, *text == '\n' ? " " : text, 1);
    talus_file_put(file, "\"", plain ? 0 : 1);
}

/* Writes a comma and a number; nothing behind the comma if it is unknown. */
static void put_number(TalusFile *file, double value)
{
    if (isnan(value))
        talus_file_print(file, ",");
    else
        talus_file_print(file, ",%.17g", value);
}

/* Writes the values of a point, each with a comma behind, or the names of the keys. */
static void put_point(TalusFile *file, const Study *study, int point)
{
    for (int a = 0; a < study->grid.axes; a++) {
        put_text(file, point < 0 ? study->grid.axis[a].key : study_value(study, point, a));
        talus_file_print(file, ",");
    }
}

static void put_run(TalusFile *file, const Study *study, const StudyRun *run)
{
    put_point(file, study, run->point);
    talus_file_print(file, "%d", run->seed > 0 ? run->seed : 0);
    for (int f = 0; f < study->figures; f++)
        put_number(file, run->value[f]);
    talus_file_print(file, ",%s,", study_state_name(run->state));
    put_text(file, run->reason ? run->reason : "");
    talus_file_print(file, ",runs/%s\n", run->key);
}

static TalusStatus write_runs(const Study *study)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/runs.csv", study->dir));
    put_point(file, study, -1);
    talus_file_print(file, "seed");
    for (int f = 0; f < study->figures; f++) {
        talus_file_print(file, ",");
        put_text(file, study->figure[f].text);
    }
    talus_file_print(file, ",state,reason,run\n");
    for (int i = 0; i < study->runs; i++)
        put_run(file, study, &study->run[i]);
    return talus_file_commit(file);
}

/* Writes the heads of the five columns of a figure. */
static void put_heads(TalusFile *file, const StudyFigure *figure)
{
    static const char *const tail[] = {"n", "mean", "deviation", "error", "interval"};
    for (int i = 0; i < 5; i++) {
        char head[2 * STUDY_NAME + 64];
        snprintf(head, sizeof head, "%s_%s", figure->text, tail[i]);
        talus_file_print(file, "%s", i ? "," : "");
        put_text(file, head);
    }
}

static TalusStatus write_points(const Study *study)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/table.csv", study->dir));
    put_point(file, study, -1);
    for (int f = 0; f < study->figures; f++) {
        talus_file_print(file, "%s", f ? "," : "");
        put_heads(file, &study->figure[f]);
    }
    talus_file_print(file, "\n");
    for (int p = 0; p < study->points; p++) {
        put_point(file, study, p);
        for (int f = 0; f < study->figures; f++) {
            const StudySample s = study_sample(study, p, f);
            talus_file_print(file, "%s%d", f ? "," : "", s.count);
            put_number(file, s.mean);
            put_number(file, s.deviation);
            put_number(file, s.error);
            put_number(file, s.interval);
        }
        talus_file_print(file, "\n");
    }
    return talus_file_commit(file);
}

/* ---- JSON ---- */

static void put_axes(JsonOut *json, const Study *study)
{
    json_open_array(json, "vary");
    for (int a = 0; a < study->grid.axes; a++) {
        const StudyAxis *axis = &study->grid.axis[a];
        json_open_object(json, NULL);
        json_write_text(json, "key", axis->key);
        json_open_array(json, "values");
        for (int i = 0; i < axis->count; i++)
            json_write_text(json, NULL, axis->value[i]);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}

/* Writes the members of a point: key by key its values. */
static void put_values(JsonOut *json, const Study *study, int point)
{
    json_open_object(json, "values");
    for (int a = 0; a < study->grid.axes; a++)
        json_write_text(json, study->grid.axis[a].key, study_value(study, point, a));
    json_close_object(json);
}

static void put_samples(JsonOut *json, const Study *study, int point)
{
    json_open_object(json, "figures");
    for (int f = 0; f < study->figures; f++) {
        const StudySample s = study_sample(study, point, f);
        json_open_object(json, study->figure[f].text);
        json_write_int(json, "n", s.count);
        json_write_real(json, "mean", s.mean);
        json_write_real(json, "deviation", s.deviation);
        json_write_real(json, "error", s.error);
        json_write_real(json, "interval", s.interval);
        json_close_object(json);
    }
    json_close_object(json);
}

static void put_run_json(JsonOut *json, const Study *study, const StudyRun *run)
{
    json_open_object(json, NULL);
    json_write_int(json, "point", run->point);
    json_write_int(json, "seed", run->seed > 0 ? run->seed : 0);
    json_write_text(json, "key", run->key);
    json_write_text(json, "state", study_state_name(run->state));
    if (run->reason)
        json_write_text(json, "reason", run->reason);
    json_open_object(json, "figures");
    for (int f = 0; f < study->figures; f++)
        json_write_real(json, study->figure[f].text, run->value[f]);
    json_close_object(json);
    json_close_object(json);
}

void study_write_json(const Study *study, JsonOut *json)
{
    json_open_object(json, NULL);
    json_write_text(json, "version", talus_version());
    json_write_text(json, "scene", study->options->scene);
    json_write_text(json, "title", study->title);
    put_axes(json, study);
    json_open_array(json, "points");
    for (int p = 0; p < study->points; p++) {
        json_open_object(json, NULL);
        put_values(json, study, p);
        put_samples(json, study, p);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "runs");
    for (int i = 0; i < study->runs; i++)
        put_run_json(json, study, &study->run[i]);
    json_close_array(json);
    json_close_object(json);
}

static TalusStatus write_json(const Study *study)
{
    TalusFile *file;
    JsonOut json;
    TALUS_TRY(cli_create_file(&file, "%s/sweep.json", study->dir));
    json_start(&json, json_to_file, file);
    study_write_json(study, &json);
    json_finish(&json);
    return talus_file_commit(file);
}

TalusStatus study_write_results(const Study *study)
{
    TALUS_TRY(write_runs(study));
    TALUS_TRY(write_points(study));
    return write_json(study);
}
