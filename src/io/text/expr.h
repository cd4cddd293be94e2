/* io/text/expr.h - arithmetic in scene files: "=2*radius*cbrt(bodies)".
 *
 * sum     = term {(+|-) term}          power  = atom [^ signed]     (whole exponents)
 * term    = signed {(*|/) signed}      atom   = number | name | function(sum, ...) | (sum)
 * signed  = [-|+] signed | power
 * Functions: sqrt cbrt min max ceil floor round abs; pi is a name. Only + - * / sqrt and floor are
 * used, so a scene means the same numbers on every IEEE platform. */
#ifndef TALUS_IO_TEXT_EXPR_H
#define TALUS_IO_TEXT_EXPR_H

#include <talus/base.h>

typedef struct TalusExprScope {
    const char *const *names;
    const double *values;
    int count;
} TalusExprScope;

typedef struct TalusExprError {
    int offset; /* byte offset in the text */
    char message[160];
} TalusExprError;

/* Evaluates an expression. On a syntax error or a value that is not finite, fills in the error and returns false. */
bool talus_expr_eval(const char *text, const TalusExprScope *scope, double *value,
                     TalusExprError *error);

/* True if a name can be used in an expression: a letter or _, then letters, digits or _. */
bool talus_expr_is_name(const char *text);

/* Returns the cube root by Newton's iteration; exact for cubes of integers. */
double talus_cbrt(double x);

#endif
