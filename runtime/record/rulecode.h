/* rulecode.h - launch-rule code as tokens: what the evaluator (rule.c) and the launch's short way (quick.c) share. */
#ifndef FSC_RULECODE_H
#define FSC_RULECODE_H

#include "runtime/record/record.h"

typedef enum RuleOp {
#define RULE(e, ...) RULE_##e,
#include "runtime/record/rule.def"
#undef RULE
    RULE_COUNT,
    RULE_NUMBER,  /* a token that is a value */
    RULE_PARAM,   /* $i */
    RULE_UNKNOWN, /* no token of the language */
} RuleOp;

typedef struct RuleToken {
    RuleOp op;
    uint32_t length;
    const char *at;
    RuleValue value; /* of a number; i of a parameter's index */
} RuleToken;

/* The next token at *p, which moves behind it. False at the end. */
bool rule_token(const char **p, RuleToken *t);
/* Of an element of that fsc_dtype; false where it is none. */
bool rule_dtype_bits(int64_t dtype, int64_t *bits);
/* How many values it takes from the stack. */
int rule_operands(const RuleToken *t);

#endif
