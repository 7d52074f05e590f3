/* ascii.h - what a character is, whatever the process's locale says: <ctype.h> follows it. */
#ifndef FSC_ASCII_H
#define FSC_ASCII_H

#include <stdbool.h>

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Of an identifier. */
static inline bool is_word(char c) {
    return is_digit(c) || c == '_' || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
}

static inline bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
