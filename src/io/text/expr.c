/* io/text/expr.c - evaluation of expressions by recursive descent: one function for each rule of io/text/expr.h. */
#include "io/text/expr.h"

#include "base/param.h"
#include "io/text/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_DEPTH = 64,  /* maximum nesting of eval_signed */
    MAX_NAMES = 128, /* maximum of names among which a similar one is suggested */
    MAX_POWER = 1000 /* maximum absolute value of an exponent */
};

/* State of an evaluation. */
typedef struct Eval {
    const char *text;
    int at;    /* offset of the next character */
    int depth; /* nesting of eval_signed, at most MAX_DEPTH */
    const TalusExprScope *scope;
    TalusExprError *error; /* set if `failed` */
    bool failed;
} Eval;

/* ---- text ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool talus_expr_is_name(const char *text)
{
    size_t n = 0;
    while (is_letter(text[n]) || is_digit(text[n]))
        n++;
    return is_letter(*text) && text[n] == '\0' && n <= TALUS_EXPR_NAME_MAX;
}

/* Stores a failure, unless there is an earlier one. Returns 0, as a value with which callers may go on. */
static double store_failure(Eval *e, int offset, const char *format, ...) TALUS_PRINTF(3, 4);

static double store_failure(Eval *e, int offset, const char *format, ...)
{
    if (e->failed)
        return 0.0;
    TALUS_FORMAT(e->error->message, format);
    e->error->offset = offset;
    e->failed = true;
    return 0.0;
}

/* Skips spaces and returns the next character, which stays the next one; NUL at the end. */
static char peek_char(Eval *e)
{
    while (e->text[e->at] == ' ')
        e->at++;
    return e->text[e->at];
}

/* Moves past the next character, after spaces, if it is `c`. False if it is not, or after a failure. */
static bool take_char(Eval *e, char c)
{
    if (e->failed || peek_char(e) != c)
        return false;
    e->at++;
    return true;
}

/* Stores the failure "found ..., expected ..." at the next character. Returns 0. */
static double fail_expected(Eval *e, const char *expected)
{
    char c = peek_char(e);
    if (c == '\0')
        return store_failure(e, e->at, "the expression ends, expected %s", expected);
    if (c > 0x20 && c < 0x7F)
        return store_failure(e, e->at, "found '%c' in the expression, expected %s", c, expected);
    return store_failure(e, e->at, "found byte 0x%02x in the expression, expected %s",
                         (unsigned)(unsigned char)c, expected);
}

/* ---- functions ---- */

double talus_cbrt(double x)
{
    if (x == 0.0 || !isfinite(x))
        return x;
    int exponent;
    double m = frexp(fabs(x), &exponent); /* exact: |x| = m 2^exponent, m in [0.5, 1) */
    int third = exponent / 3, rest = exponent - 3 * third;
    m = ldexp(m, rest); /* in [1/8, 4) */
    double y = 0.5 + 0.5 * m;
    for (int i = 0; i < 12; i++) /* quadratic convergence: 12 iterations suffice for every m */
        y = y - (y - m / (y * y)) / 3.0;
    y = ldexp(y, third);
    double whole = floor(y + 0.5);
    if (whole * whole * whole == fabs(x))
        y = whole; /* exact for cubes, so that ceil(cbrt(27)) is 3 */
    return x < 0.0 ? -y : y;
}

static double minimum(double a, double b)
{
    return b < a ? b : a;
}

static double maximum(double a, double b)
{
    return b > a ? b : a;
}

/* Rounds to the nearest whole number, halves upwards. */
static double nearest_whole(double x)
{
    return floor(x + 0.5);
}

/* A function of expressions; has either `one` or `two`. */
typedef struct Function {
    const char *name;
    double (*one)(double);         /* of one argument */
    double (*two)(double, double); /* folded over two or more arguments */
} Function;

static const Function functions[] = {
    {"sqrt", sqrt, NULL},           {"cbrt", talus_cbrt, NULL}, {"min", NULL, minimum},
    {"max", NULL, maximum},         {"ceil", ceil, NULL},       {"floor", floor, NULL},
    {"round", nearest_whole, NULL}, {"abs", fabs, NULL},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- grammar ---- */

static double eval_sum(Eval *e);

/* Evaluates the arguments of `f` up to ')' and applies `f`; `start` is the offset of its name. */
static double eval_call(Eval *e, const Function *f, int start)
{
    double x = eval_sum(e);
    if (f->one) {
        if (f->one == sqrt && x < 0.0)
            return store_failure(e, start, "the square root of %g is not real", x);
        x = e->failed ? 0.0 : f->one(x);
    } else {
        if (peek_char(e) != ',')
            return fail_expected(e, "',' and a second argument");
        while (take_char(e, ','))
            x = f->two(x, eval_sum(e));
    }
    return take_char(e, ')') ? x : fail_expected(e, f->one ? "')'" : "',' or ')'");
}

/* Stores the failure "no function ..." (`called`) or "no parameter ...", with the most similar known name or, if
 * none is similar, all functions. Returns 0. */
static double fail_unknown_name(Eval *e, const char *name, int start, bool called)
{
    const char *names[MAX_NAMES] = {0};
    int n = 0;
    if (called)
        for (int i = 0; i < FUNCTIONS; i++)
            names[n++] = functions[i].name;
    else
        for (int i = 0; i < e->scope->count && i < MAX_NAMES; i++)
            names[n++] = e->scope->names[i];
    const char *what = called ? "function" : "parameter";
    const char *near = talus_nearest_name(name, names, n);
    if (near)
        return store_failure(e, start, "no %s '%s'; did you mean '%s'?", what, name, near);
    return store_failure(e, start, "no %s '%s'%s", what, name,
                         called ? "; expected one of sqrt cbrt min max ceil floor round abs"
                                : " is known here");
}

/* Evaluates a parameter, pi or a function with its arguments. */
static double eval_name(Eval *e)
{
    int start = e->at, n = 0;
    char name[TALUS_EXPR_NAME_MAX + 1];
    for (char c = e->text[e->at]; is_letter(c) || is_digit(c); c = e->text[++e->at]) {
        if (n == TALUS_EXPR_NAME_MAX)
            return store_failure(e, start, "the name '%.20s...' is longer than %d characters",
                                 e->text + start, TALUS_EXPR_NAME_MAX);
        name[n++] = c;
    }
    name[n] = '\0';
    if (take_char(e, '(')) {
        for (int i = 0; i < FUNCTIONS; i++)
            if (strcmp(functions[i].name, name) == 0)
                return eval_call(e, &functions[i], start);
        return fail_unknown_name(e, name, start, true);
    }
    for (int i = 0; i < e->scope->count; i++)
        if (strcmp(e->scope->names[i], name) == 0)
            return e->scope->values[i];
    if (strcmp(name, "pi") == 0)
        return 3.14159265358979323846;
    if (strcmp(name, "copy") == 0)
        return e->scope->copy;
    return fail_unknown_name(e, name, start, false);
}

static double eval_number(Eval *e)
{
    const char *text = e->text + e->at;
    size_t n = talus_number_length(text, strlen(text));
    double value;
    if (n == 0 || !talus_number_parse(text, n, &value))
        return store_failure(e, e->at, "a malformed number in the expression");
    e->at += (int)n;
    return value;
}

static double eval_atom(Eval *e)
{
    char c = peek_char(e);
    if (is_digit(c))
        return eval_number(e);
    if (is_letter(c))
        return eval_name(e);
    if (!take_char(e, '('))
        return fail_expected(e, "a number, a name or '('");
    double value = eval_sum(e);
    return take_char(e, ')') ? value : fail_expected(e, "')'");
}

/* Returns base to a whole power, by repeated squaring. */
static double whole_power(double base, int exponent)
{
    double result = 1.0;
    for (int n = exponent < 0 ? -exponent : exponent; n > 0; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return exponent < 0 ? 1.0 / result : result;
}

static double eval_signed(Eval *e);

static double eval_power(Eval *e)
{
    double base = eval_atom(e);
    int start = e->at;
    if (!take_char(e, '^'))
        return base;
    double exponent = eval_signed(e);
    if (exponent != floor(exponent) || fabs(exponent) > MAX_POWER)
        return store_failure(e, start, "the exponent %g is not a whole number up to %d", exponent,
                             MAX_POWER);
    return whole_power(base, (int)exponent);
}

static double eval_signed(Eval *e)
{
    if (e->failed)
        return 0.0;
    if (++e->depth > MAX_DEPTH) /* every cycle of the grammar passes here */
        return store_failure(e, e->at, "the expression is nested deeper than %d levels", MAX_DEPTH);
    double value = take_char(e, '-')   ? -eval_signed(e)
                   : take_char(e, '+') ? eval_signed(e)
                                       : eval_power(e);
    e->depth--;
    return value;
}

/* Evaluates the divisor that follows and returns a divided by it; `start` is the offset of '/'. */
static double eval_quotient(Eval *e, double a, int start)
{
    double b = eval_signed(e);
    return b == 0.0 ? store_failure(e, start, "division by zero") : a / b;
}

static double eval_term(Eval *e)
{
    double value = eval_signed(e);
    while (!e->failed) {
        peek_char(e);
        int start = e->at;
        if (take_char(e, '*'))
            value *= eval_signed(e);
        else if (take_char(e, '/'))
            value = eval_quotient(e, value, start);
        else
            break;
    }
    return value;
}

static double eval_sum(Eval *e)
{
    double value = eval_term(e);
    while (!e->failed) {
        if (take_char(e, '+'))
            value += eval_term(e);
        else if (take_char(e, '-'))
            value -= eval_term(e);
        else
            break;
    }
    return value;
}

bool talus_expr_eval(const char *text, const TalusExprScope *scope, double *value,
                     TalusExprError *error)
{
    Eval e = {.text = text, .scope = scope, .error = error};
    double result = eval_sum(&e);
    if (!e.failed && peek_char(&e) != '\0')
        fail_expected(&e, "an operator or the end");
    if (!e.failed && !isfinite(result))
        store_failure(&e, 0, "the value of the expression is not finite");
    *value = result;
    return !e.failed;
}
