/* cli/run/steps.c - reads lines of steps.csv, also while a run appends to it. */
#include "steps.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The viewer's name of each column, and its name in the table. */
static const struct {
    const char *name, *column;
} columns[STEPS_COLUMNS] = {
    {"time", "time"},
    {"kinetic", "kinetic"},
    {"potential", "potential"},
    {"contacts", "contacts"},
    {"bodies", "bodies"},
    {"residual", "residual_rms"},
    {"tolerance", "tolerance"},
    {"iterations", "iterations"},
    {"penetration", "penetration_max"},
    {"missed", "missed"},
    {"overlap_mean", "overlap_mean"},
    {"overlap_p99", "overlap_p99"},
    {"overlap_max", "overlap_max"},
};

/* ---- lines ---- */

/* Reader of complete lines. Bytes from buffer[next] to buffer[used - 1] are unread. */
typedef struct Lines {
    int fd;
    uint64_t offset; /* file offset of the next line */
    size_t next, used;
    int error;        /* errno of a failed read; 0: none */
    const char *line; /* current line, valid until the next one is read */
    size_t length;    /* without the line end */
    char buffer[4 * STEPS_LINE_MAX];
} Lines;

/* Begins reading at file offset `offset`. */
static void lines_start(Lines *lines, int fd, uint64_t offset)
{
    lines->fd = fd;
    lines->offset = offset;
    lines->next = lines->used = 0;
    lines->error = 0;
}

/* Moves unread bytes to the front of the buffer and reads more after them. Returns false at the end of the file, on an
 * error, or if more than STEPS_LINE_MAX unread bytes hold no line end. */
static bool lines_fill(Lines *lines)
{
    size_t rest = lines->used - lines->next;
    memmove(lines->buffer, lines->buffer + lines->next, rest);
    lines->next = 0;
    lines->used = rest;
    if (rest > STEPS_LINE_MAX)
        return false;
    ssize_t n;
    do
        n = pread(lines->fd, lines->buffer + rest, sizeof lines->buffer - rest,
                  (off_t)(lines->offset + rest));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        lines->error = errno;
    lines->used += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Makes the next complete line the current one; returns false at the end of the file, on an error, or if the line is
 * longer than STEPS_LINE_MAX. */
static bool lines_read_next(Lines *lines)
{
    for (;;) {
        const char *start = lines->buffer + lines->next;
        const char *end = memchr(start, '\n', lines->used - lines->next);
        if (end) {
            lines->line = start;
            lines->length = (size_t)(end - start);
            if (lines->length > STEPS_LINE_MAX)
                return false;
            lines->next += lines->length + 1;
            lines->offset += lines->length + 1;
            return true;
        }
        if (!lines_fill(lines))
            return false;
    }
}

/* ---- fields ---- */

/* Writes the next field of a CSV line, without quotes, and moves *line and *left, its remaining bytes, behind the
 * field; returns false after the last field. */
static bool next_field(const char **line, size_t *left, const char **field, size_t *length)
{
    if (!*line)
        return false;
    const char *stop;
    if (*left > 0 && **line == '"' && (stop = memchr(*line + 1, '"', *left - 1)) != NULL) {
        *field = *line + 1;
        *length = (size_t)(stop - *field);
        stop = memchr(stop, ',', *left - (size_t)(stop - *line));
    } else {
        stop = memchr(*line, ',', *left);
        *field = *line;
        *length = stop ? (size_t)(stop - *line) : *left;
    }
    *left = stop ? *left - (size_t)(stop + 1 - *line) : 0;
    *line = stop ? stop + 1 : NULL;
    return true;
}

/* Returns NAN if the text is not a number. */
static double parse_number(const char *text, size_t length)
{
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy)
        return NAN;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = strtod(copy, &end);
    return end == copy + length ? value : NAN;
}

/* Finds the position of each column from the current line, the header. */
static void read_header(Steps *steps, const Lines *lines)
{
    const char *line = lines->line, *field;
    size_t left = lines->length, length;
    for (int c = 0; c < STEPS_COLUMNS; c++)
        steps->position[c] = -1;
    for (int index = 0; next_field(&line, &left, &field, &length); index++)
        for (int c = 0; c < STEPS_COLUMNS; c++)
            if (strlen(columns[c].column) == length &&
                memcmp(columns[c].column, field, length) == 0 && steps->position[c] < 0)
                steps->position[c] = index;
}

/* Reads the current line; writes its value of column c to values[c * capacity], NAN if the table lacks the column. */
static void read_row(const Steps *steps, const Lines *lines, double *values, int capacity)
{
    const char *line = lines->line, *field;
    size_t left = lines->length, length;
    for (int c = 0; c < STEPS_COLUMNS; c++)
        values[c * capacity] = NAN;
    for (int index = 0; next_field(&line, &left, &field, &length); index++)
        for (int c = 0; c < STEPS_COLUMNS; c++)
            if (steps->position[c] == index)
                values[c * capacity] = parse_number(field, length);
}

/* ---- refresh ---- */

void steps_clear(Steps *steps)
{
    talus_release(steps->mark);
    *steps = (Steps){0};
}

/* True if the file still begins with the rows that were read earlier, or if none were read. Compares the last of these
 * rows only: a row contains measured seconds, which differ from run to run. */
static bool has_same_rows(const Steps *steps, int fd, const struct stat *about, Lines *lines)
{
    if (steps->end == 0)
        return true;
    if (steps->device != (uint64_t)about->st_dev || steps->inode != (uint64_t)about->st_ino ||
        (uint64_t)about->st_size < steps->end)
        return false;
    lines_start(lines, fd, steps->last_start);
    return lines_read_next(lines) && lines->offset == steps->end &&
           talus_hash(TALUS_HASH_SEED, lines->line, lines->length) == steps->last_hash;
}

/* Counts a row that begins at file offset `start`; notes the offset of every STEPS_MARK-th row. */
static TalusStatus index_row(Steps *steps, uint64_t start)
{
    if (steps->rows % STEPS_MARK == 0) {
        size_t index = (size_t)(steps->rows / STEPS_MARK);
        TALUS_TRY(TALUS_GROW(steps->mark, index + 1, index, "rows of steps.csv"));
        steps->mark[index] = start;
    }
    steps->rows++;
    return TALUS_OK;
}

/* Indexes the rows from steps->end on, the header first if nothing was read yet. */
static TalusStatus read_rows(Steps *steps, int fd, Lines *lines)
{
    lines_start(lines, fd, steps->end);
    for (uint64_t start = steps->end; lines_read_next(lines); start = lines->offset) {
        if (start == 0)
            read_header(steps, lines);
        else
            TALUS_TRY(index_row(steps, start));
        steps->end = lines->offset;
        steps->last_start = start;
        steps->last_hash = talus_hash(TALUS_HASH_SEED, lines->line, lines->length);
    }
    if (lines->error)
        return talus_fail(TALUS_ERR_IO, "steps.csv: cannot read: %s", strerror(lines->error));
    return TALUS_OK;
}

TalusStatus steps_refresh(Steps *steps, int fd, bool *anew)
{
    struct stat about;
    Lines *lines;
    if (fstat(fd, &about) != 0)
        return talus_fail(TALUS_ERR_IO, "steps.csv: cannot read: %s", strerror(errno));
    TALUS_TRY(TALUS_ALLOC(lines, 1, "buffer of steps.csv"));
    if (!has_same_rows(steps, fd, &about, lines)) {
        steps_clear(steps);
        *anew = true;
    }
    steps->device = (uint64_t)about.st_dev;
    steps->inode = (uint64_t)about.st_ino;
    TalusStatus status = read_rows(steps, fd, lines);
    talus_release(lines);
    return status;
}

/* ---- values ---- */

/* Reads every `stride`-th row of the file lines->fd from row `first` on, `capacity` rows in all, into `values` as
 * read_row does. Returns the number of rows read, smaller than `capacity` if the file was truncated or cannot be
 * read. */
static int read_values(const Steps *steps, int64_t first, int64_t stride, Lines *lines,
                       double *values, int capacity)
{
    int rows = 0;
    lines_start(lines, lines->fd, steps->mark[first / STEPS_MARK]);
    for (int64_t row = first / STEPS_MARK * STEPS_MARK; rows < capacity && lines_read_next(lines);
         row++)
        if (row >= first && (row - first) % stride == 0)
            read_row(steps, lines, values + rows++, capacity);
    return rows;
}

/* Number of rows from `first` on at the distance `stride`, at most STEPS_ROWS_MAX. */
static int count_wanted_rows(const Steps *steps, int64_t first, int64_t stride)
{
    int64_t rows = first < steps->rows ? (steps->rows - first - 1) / stride + 1 : 0;
    return rows < STEPS_ROWS_MAX ? (int)rows : STEPS_ROWS_MAX;
}

TalusStatus steps_write_json(const Steps *steps, int fd, int64_t first, int64_t stride,
                             JsonOut *json)
{
    double *values = NULL;
    Lines *lines = NULL;
    int capacity = count_wanted_rows(steps, first, stride), rows = 0;
    TalusStatus status =
        TALUS_ALLOC(values, (size_t)(STEPS_COLUMNS * capacity), "values of steps.csv");
    TALUS_THEN(status, TALUS_ALLOC(lines, 1, "buffer of steps.csv"));
    if (status == TALUS_OK) {
        lines->fd = fd;
        if (capacity > 0)
            rows = read_values(steps, first, stride, lines, values, capacity);
        json_write_int(json, "rows", rows);
        json_write_int(json, "first", first);
        json_write_int(json, "stride", stride);
        json_write_int(json, "total", steps->rows);
        for (int c = 0; c < STEPS_COLUMNS; c++)
            json_write_reals(json, columns[c].name, values + c * capacity, (size_t)rows);
    }
    TALUS_RELEASE(lines, values);
    return status;
}
