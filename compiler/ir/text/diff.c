/* diff.c - what a pass changed: the lines of two texts of one function, as diff -u shows them.
 *
 * In: the text before and behind the pass. Out: lines that went (-), lines that came (+), three around each as they are
 * now. Method: unnamed values are numbered anew after every pass, so lines are matched without the numbers first; what
 * is matched says which number became which; a line whose operands are then others than before has changed after all.
 */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum { AROUND = 3, MOST_CELLS = 1 << 26 };
#define GONE UINT32_MAX /* a number whose line went */

typedef struct Line {
    const char *at;
    size_t length;
    char *bare;   /* without the numbers of values */
    int64_t pair; /* the line of the other text, or -1 */
} Line;

typedef VEC(Line) Lines;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The length of a number behind a "%", where text[0] is the "%"; 0: it is a name. */
static size_t number_length(const char *text, size_t left) {
    size_t n = 1;
    while (n < left && is_digit(text[n])) n++;
    bool is_name = n < left && (text[n] == '_' || ((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z'));
    return is_name ? 0 : n - 1;
}

static Lines split(Arena *a, const char *text) {
    Lines lines = {0};
    while (*text) {
        size_t n = strcspn(text, "\n");
        Line line = {text, n, NEW_ARRAY(a, char, n + 1), -1};
        char *to = line.bare;
        for (size_t i = 0; i < n; i++) {
            *to++ = text[i];
            if (text[i] == '%') i += number_length(text + i, n - i);
        }
        vec_push(a, &lines, line);
        text += n + (text[n] == '\n');
    }
    return lines;
}

static void pair_up(Lines *x, Lines *y, uint32_t i, uint32_t k) {
    x->at[i].pair = k;
    y->at[k].pair = i;
}

/* The longest common sequence of lines between what both begin and end with. */
static void match(Arena *a, Lines *x, Lines *y) {
    uint32_t begin = 0, n = x->len, m = y->len;
    while (begin < n && begin < m && strcmp(x->at[begin].bare, y->at[begin].bare) == 0) {
        pair_up(x, y, begin, begin);
        begin++;
    }
    while (n > begin && m > begin && strcmp(x->at[n - 1].bare, y->at[m - 1].bare) == 0) pair_up(x, y, --n, --m);
    uint64_t rows = n - begin, cols = m - begin;
    if (rows * cols > MOST_CELLS) return; /* all of it is shown as new */
    uint32_t *best = NEW_ARRAY(a, uint32_t, (rows + 1) * (cols + 1));
#define BEST(i, k) best[(i) * (cols + 1) + (k)]
    for (uint64_t i = rows; i-- > 0;) {
        for (uint64_t k = cols; k-- > 0;) {
            bool same = strcmp(x->at[begin + i].bare, y->at[begin + k].bare) == 0;
            uint32_t down = BEST(i + 1, k), right = BEST(i, k + 1);
            BEST(i, k) = same ? BEST(i + 1, k + 1) + 1 : down > right ? down : right;
        }
    }
    for (uint64_t i = 0, k = 0; i < rows && k < cols;) {
        if (strcmp(x->at[begin + i].bare, y->at[begin + k].bare) == 0)
            pair_up(x, y, begin + (uint32_t)i++, begin + (uint32_t)k++);
        else if (BEST(i + 1, k) >= BEST(i, k + 1))
            i++;
        else
            k++;
    }
#undef BEST
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* The next number behind a "%" from *at on, which moves behind it; false: there is none. */
static bool next_number(const Line *line, size_t *at, uint32_t *number) {
    for (; *at < line->length; ++*at) {
        if (line->at[*at] != '%') continue;
        size_t n = number_length(line->at + *at, line->length - *at);
        if (!n) continue;
        *number = (uint32_t)strtoul(line->at + *at + 1, NULL, 10);
        *at += n + 1;
        return true;
    }
    return false;
}

/* Where the operands begin: behind the "=" of the results. */
static size_t operands(const Line *line) {
    const char *equals = memchr(line->at, '=', line->length), *brace = memchr(line->at, '{', line->length);
    return equals && (!brace || equals < brace) ? (size_t)(equals - line->at) : 0;
}

typedef VEC(uint32_t) Numbers; /* by the number before: the number now, and one; 0: no line says; GONE */

/* y: NULL where the line went. */
static void learn(Arena *a, Numbers *now, const Line *x, const Line *y) {
    size_t i = 0, k = 0, end = operands(x);
    uint32_t was = 0, is = 0;
    while (next_number(x, &i, &was) && i <= end && (!y || next_number(y, &k, &is))) {
        while (now->len <= was) vec_push(a, now, 0);
        now->at[was] = y ? is + 1 : GONE;
    }
}

/* What became of each line says itself, so a line of the same text is the same.
 * What no line has said yet, as the names that a loop gives its values, is said by none that could tell. */
static bool same_operands(const Numbers *now, const Line *x, const Line *y) {
    if (x->length == y->length && memcmp(x->at, y->at, x->length) == 0) return true;
    size_t i = operands(x), k = operands(y);
    uint32_t was = 0, is = 0;
    while (next_number(x, &i, &was) && next_number(y, &k, &is))
        if (was < now->len && now->at[was] && now->at[was] != is + 1) return false;
    return true;
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static void print_line(Text *out, char mark, const Line *line) {
    text_printf(out, "%c%.*s\n", mark, (int)line->length, line->at);
}

/* Is the line, or one around it, new, or did one go between? */
static bool is_near(const Lines *x, const Lines *y, uint32_t k) {
    uint32_t from = k > AROUND ? k - AROUND : 0, to = k + AROUND < y->len ? k + AROUND : y->len - 1;
    for (uint32_t i = from; i <= to; i++) {
        int64_t pair = y->at[i].pair;
        if (pair < 0 || (pair > 0 && x->at[pair - 1].pair < 0)) return true;
        if (pair + 1 < x->len && x->at[pair + 1].pair < 0) return true;
    }
    return false;
}

bool func_diff(const char *before, const char *after, Text *out) {
    Arena *a = arena_create();
    Lines x = split(a, before), y = split(a, after);
    Numbers now = {0};
    size_t begun = out->len;
    match(a, &x, &y);
    for (uint32_t i = 0; i < x.len; i++)
        learn(a, &now, &x.at[i], x.at[i].pair < 0 ? NULL : &y.at[x.at[i].pair]);
    for (uint32_t i = 0; i < x.len; i++) {
        if (x.at[i].pair < 0 || same_operands(&now, &x.at[i], &y.at[x.at[i].pair])) continue;
        y.at[x.at[i].pair].pair = -1;
        x.at[i].pair = -1;
    }
    bool is_any = false, is_gap = false;
    for (uint32_t i = 0, k = 0; i < x.len || k < y.len;) {
        bool goes = i < x.len && x.at[i].pair < 0, comes = k < y.len && y.at[k].pair < 0;
        bool is_shown = goes || comes || is_near(&x, &y, k);
        if (is_shown && is_gap) text_printf(out, " …\n");
        is_gap = !is_shown;
        is_any |= goes || comes;
        if (goes)
            print_line(out, '-', &x.at[i++]);
        else if (comes)
            print_line(out, '+', &y.at[k++]);
        else {
            if (is_shown) print_line(out, ' ', &y.at[k]);
            i++, k++;
        }
    }
    if (!is_any) out->len = begun;
    if (!is_any && out->at) out->at[begun] = '\0';
    arena_destroy(a);
    return is_any;
}
