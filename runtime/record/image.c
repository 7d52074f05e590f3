/* image.c - records inside compiled images: PTX text, cubin, fatbin, ELF.
 *
 * In: an image's bytes. Out: the text of the records in it, one after the other.
 * Method: PTX writes a byte array as decimal numbers after `fsc_record_NAME[LEN] = {`; other images hold the bytes, so
 * the magic is searched and everything up to the "end" line taken.
 */
#include "runtime/record/record.h"

#include "runtime/fsc_runtime.h"

#include <stdlib.h>
#include <string.h>

/* The first place of `word` at or after `from`, or size. */
static size_t find(const char *at, size_t size, size_t from, const char *word) {
    size_t n = strlen(word);
    while (from + n <= size) {
        const char *hit = memchr(at + from, word[0], size - n - from + 1);
        if (!hit) return size;
        if (memcmp(hit, word, n) == 0) return (size_t)(hit - at);
        from = (size_t)(hit - at) + 1;
    }
    return size;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(const char *at, size_t size, size_t i) {
    while (i < size && is_space(at[i])) i++;
    return i;
}

/* The decimal number at *i, at most `most`; false if there is none. */
static bool read_number(const char *at, size_t size, size_t *i, size_t most, size_t *out) {
    size_t n = 0, start = *i;
    for (; *i < size && at[*i] >= '0' && at[*i] <= '9'; ++*i) {
        n = n * 10 + (size_t)(at[*i] - '0');
        if (n > most) return false;
    }
    *out = n;
    return *i > start;
}

static char *out_of_memory(size_t *length) {
    *length = SIZE_MAX;
    return NULL;
}

/* From behind the symbol's prefix: NAME[LEN] = {1, 2, …}. NULL if that is not what stands here. A list that is cut off
 * gives what it has. */
static char *read_array(const char *at, size_t size, size_t *i, size_t *length) {
    size_t count = 0, n = 0, byte = 0;
    while (*i < size && at[*i] != '[' && !is_space(at[*i]) && at[*i] != ';' && at[*i] != ',') ++*i;
    if (*i >= size || at[*i] != '[') return NULL;
    ++*i;
    if (!read_number(at, size, i, size, &count) || *i >= size || at[*i] != ']') return NULL;
    *i = skip_space(at, size, *i + 1);
    if (*i >= size || at[*i] != '=') return NULL;
    *i = skip_space(at, size, *i + 1);
    if (*i >= size || at[*i] != '{') return NULL;
    char *bytes = malloc(count + 1);
    if (!bytes) return out_of_memory(length);
    do {
        *i = skip_space(at, size, *i + 1);
        if (n == count || !read_number(at, size, i, 255, &byte)) break;
        bytes[n++] = (char)byte;
        *i = skip_space(at, size, *i);
    } while (*i < size && at[*i] == ',');
    bytes[n] = '\0';
    *length = n;
    return bytes;
}

static char *find_in_text(const char *at, size_t size, size_t *offset, size_t *length) {
    for (size_t i = *offset; i < size;) {
        i = find(at, size, i, RECORD_SYMBOL_PREFIX);
        if (i == size) break;
        i += strlen(RECORD_SYMBOL_PREFIX);
        char *bytes = read_array(at, size, &i, length);
        *offset = i;
        if (bytes || *length == SIZE_MAX) return bytes;
    }
    *offset = size;
    return NULL;
}

static char *find_in_bytes(const char *at, size_t size, size_t *offset, size_t *length) {
    size_t start = find(at, size, *offset, RECORD_MAGIC);
    *offset = size;
    if (start == size) return NULL;
    size_t end = find(at, size, start, "\nend ");
    end = size - end < 14 ? size : end + 14; /* "\nend 01234567\n" */
    char *bytes = malloc(end - start + 1);
    if (!bytes) return out_of_memory(length);
    memcpy(bytes, at + start, end - start);
    bytes[end - start] = '\0';
    *offset = end;
    *length = end - start;
    return bytes;
}

char *record_find(const void *image, size_t size, size_t *offset, size_t *length) {
    const char *at = image;
    size_t ignored = 0;
    if (!length) length = &ignored;
    *length = 0;
    if (*offset >= size) return NULL;
    /* Text has no NUL byte before its end; every ELF and fatbin has one in its first 16 bytes. */
    bool is_text = memchr(at, '\0', size < 16 ? size : 16) == NULL;
    return (is_text ? find_in_text : find_in_bytes)(at, size, offset, length);
}

char *fsc_image_record(const void *image, size_t size, size_t index) {
    size_t offset = 0;
    char *text = image ? record_find(image, size, &offset, NULL) : NULL;
    while (text && index-- > 0) {
        free(text);
        text = record_find(image, size, &offset, NULL);
    }
    return text;
}
