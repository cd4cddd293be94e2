/* io/text/expr.h - arithmetic in scene files: "=2*radius*cbrt(bodies)". Functions here get the text after '='.
 *
 * sum     = term {(+|-) term}          power  = atom [^ signed]     (whole exponents up to 1000)
 * term    = signed {(*|/) signed}      atom   = number | name | function(sum, ...) | (sum)
 * signed  = (-|+) signed | power
 * Functions: sqrt cbrt min max ceil floor round abs; pi, and copy for the number of the copy that is read, are names
 * too, unless a parameter is called so. Only
 * + - * / sqrt and exact functions such as floor are used, so that a scene gives the same numbers on every IEEE
 * platform. */
#ifndef TALUS_IO_TEXT_EXPR_H
#define TALUS_IO_TEXT_EXPR_H

#include <talus/base.h>

/* The parameters that an expression may use. */
typedef struct TalusExprScope {
    const char *const *names;
    const double *values;
    int count;
    int copy; /* number of the copy of the scene that is read (scene_copies.c) */
} TalusExprScope;

/* Why an expression cannot be evaluated. */
typedef struct TalusExprError {
    int offset; /* byte offset in the text */
    char message[160];
} TalusExprError;

/* Evaluates an expression. On a syntax error, an unknown or too long name, a division by 0, the root of a negative number, an
 * exponent that is not allowed, nesting deeper than 64 levels or a value that is not finite, fills in the error and
 * returns false; *value is then unspecified. */
bool talus_expr_eval(const char *text, const TalusExprScope *scope, double *value,
                     TalusExprError *error);

/* Largest number of bytes of a name. */
enum { TALUS_EXPR_NAME_MAX = 63 };

/* True if a name can be used in an expression: a letter or _, then letters, digits or _; TALUS_EXPR_NAME_MAX bytes at
 * most. */
bool talus_expr_is_name(const char *text);

/* Returns the cube root by Newton's iteration; exact if x is the cube of an integer and |x| is at most 2^53. */
double talus_cbrt(double x);

#endif
