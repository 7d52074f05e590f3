/* package_c.c - the C that --emit=object and --emit=c write: headers, and a file of tables and functions.
 *
 * In: compiled kernels. Out: text. Method: a function has the stream first, then the kernel's run-time parameters with
 * their names and C types (ctype.def); it hands pointers to them to fsc_object_launch. Names that C or C++ have get a
 * "_" (cname.def).
 */
#include "tool/compile/package.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *dtype, *scalar, *pointee;
    ObjectParam passed;
} types[] = {
#define CTYPE(dtype, scalar, pointee, passed) {dtype, scalar, pointee, passed},
#include "tool/compile/ctype.def"
#undef CTYPE
};

#define NONE(...)
#define LIST(...) __VA_ARGS__,
#define CWORDS LIST
#define CFUNCTIONS NONE
#define CMATHS NONE
#define CPREFIXES NONE
static const char *const words[] = {
#include "tool/compile/cname.def"
};
#undef CWORDS
#define CWORDS NONE
#undef CFUNCTIONS
#define CFUNCTIONS LIST
static const char *const functions[] = {
#include "tool/compile/cname.def"
};
#undef CFUNCTIONS
#define CFUNCTIONS NONE
#undef CMATHS
#define CMATHS LIST
static const char *const maths[] = {
#include "tool/compile/cname.def"
};
#undef CMATHS
#define CMATHS NONE
#undef CPREFIXES
#define CPREFIXES LIST
static const char *const prefixes[] = {
#include "tool/compile/cname.def"
};

static bool begins(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_one_of(const char *const *names, size_t n, const char *name) {
    size_t i = 0;
    while (i < n && strcmp(names[i], name) != 0) i++;
    return i < n;
}

/* Of two and more capitals, as macros have them; of a type; ours; reserved for compilers. */
static bool is_by_rule(const char *name) {
    size_t n = strlen(name);
    bool is_macro =
        n > 1 && isupper((unsigned char)*name) && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
    bool is_type = n > 2 && strcmp(name + n - 2, "_t") == 0;
    bool is_ours = begins(name, "fsc_") || begins(name, "FSC_") || begins(name, "Fsc");
    return is_macro || is_type || is_ours || (*name == '_' && (name[1] == '_' || isupper((unsigned char)name[1])));
}

static bool is_prefixed(const char *name) {
    size_t i = 0;
    while (i < COUNT(prefixes) && !begins(name, prefixes[i])) i++;
    return i < COUNT(prefixes);
}

/* exp, expf, expf32x */
static bool is_math(const char *name) {
    static const char *const endings[] = {"", "f", "l", "f32", "f64", "f32x", "f64x", "f128"};
    for (size_t i = 0; i < COUNT(maths); i++)
        if (begins(name, maths[i]) && is_one_of(endings, COUNT(endings), name + strlen(maths[i]))) return true;
    return false;
}

static bool is_word(const char *name) {
    return is_by_rule(name) || is_prefixed(name) || is_one_of(words, COUNT(words), name);
}

const char *package_function(Arena *a, const char *name) {
    bool is_used = is_word(name) || is_math(name) || is_one_of(functions, COUNT(functions), name);
    return is_used ? arena_printf(a, "%s_", name) : name;
}

/* Whether another parameter is called so, or one before has come to be. */
static bool is_param(const Record *r, const char *const *names, uint32_t index, const char *name) {
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (i != index && strcmp(r->params[i].name, name) == 0) return true;
        if (i < index && strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* The names of the parameters in C: with "_" behind those that are words of C or C++, and more where that is taken. */
static const char **param_names(const PackageJob *j, const Record *r) {
    const char **names = NEW_ARRAY(j->o->arena, const char *, r->num_params + 1);
    for (uint32_t i = 0; i < r->num_params; i++) {
        names[i] = r->params[i].name;
        if (!is_word(names[i])) continue;
        do names[i] = arena_printf(j->o->arena, "%s_", names[i]);
        while (is_param(r, names, i, names[i]));
    }
    return names;
}

static size_t type_row(const RecordParam *p) {
    for (size_t i = 0; i < COUNT(types); i++) {
        if (strcmp(types[i].dtype, p->dtype) == 0) return i;
    }
    bug("package: no C type for %s", p->dtype);
}

ObjectParam package_param(const RecordParam *p) {
    return p->kind == RECORD_POINTER ? OBJECT_POINTER : types[type_row(p)].passed;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* A name of ours that no parameter has. */
static const char *free_name(const PackageJob *j, const Record *r, const char *name) {
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (strcmp(r->params[i].name, name) == 0) return free_name(j, r, arena_printf(j->o->arena, "%s_", name));
    }
    return name;
}

static void print_prototype(const PackageJob *j, const PackageKernel *k, Text *out) {
    const Record *r = k->record;
    const char **names = param_names(j, r);
    text_printf(out, "fsc_status %s(fsc_stream %s", k->function, free_name(j, r, "stream"));
    if (r->num_grid == 0) text_printf(out, ", const int64_t %s[3]", free_name(j, r, "grid"));
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        const char *name = names[i];
        if (p->kind == RECORD_CONSTEXPR) continue;
        if (p->kind == RECORD_SCALAR) text_printf(out, ", %s %s", types[type_row(p)].scalar, name);
        else text_printf(out, ", %s%s *%s", k->writes[i] ? "" : "const ", types[type_row(p)].pointee, name);
    }
    text_printf(out, ")");
}

static bool is_new(const PackageKernel *k, uint32_t i) {
    for (uint32_t before = 0; before < i; before++) {
        if (strcmp(k->variants.at[before].arch, k->variants.at[i].arch) == 0) return false;
    }
    return true;
}

/* What a buffer must hold, as the source says it. */
static void print_contract(const Record *r, const RecordParam *p, Text *out) {
    const char *names[256];
    char extent[200], stride[200];
    uint32_t n = r->num_params < COUNT(names) ? r->num_params : (uint32_t)COUNT(names);
    for (uint32_t i = 0; i < n; i++) names[i] = r->params[i].name;
    text_printf(out, " *   %s: %s", p->name, p->dtype);
    for (uint32_t i = 0; i < p->num_dims; i++) {
        rule_print(p->dims[i].extent, names, n, extent, sizeof extent);
        rule_print(p->dims[i].stride, names, n, stride, sizeof stride);
        text_printf(out, "%s%s:%s", i ? ", " : "[", extent, stride);
    }
    text_printf(out, "%s\n", p->num_dims ? "] (extent:stride, in elements)" : "");
}

/* A file's name in a comment, which it can neither end nor begin anew; what is no character is a "?". */
static void print_file(const char *name, Text *out) {
    for (const char *at = name; *at; at++) {
        bool is_mark = at > name && ((at[-1] == '*' && *at == '/') || (at[-1] == '/' && *at == '*'));
        text_printf(out, "%s%c", is_mark ? " " : "", iscntrl((unsigned char)*at) ? '?' : *at);
    }
}

static void print_comment(const PackageKernel *k, Text *out) {
    const Record *r = k->record;
    text_printf(out, "/* Kernel %s of ", k->name);
    print_file(r->file, out);
    text_printf(out, ", for");
    bool is_first = true;
    for (uint32_t i = 0; i < k->variants.len; i++) {
        if (is_new(k, i)) text_printf(out, "%s %s", is_first ? "" : ",", k->variants.at[i].arch);
        is_first = false;
    }
    text_printf(out, ".%s\n",
                r->num_grid ? "" : " It has no launch rule: grid is the number of programs along x, y and z.");
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind == RECORD_POINTER) print_contract(r, &r->params[i], out);
    }
    text_printf(out, " */\n");
}

void package_header(const PackageJob *j, Text *out) {
    const char *path = j->o->header, *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char guard[128] = "FSC_MADE_";
    size_t n = strlen(guard);
    for (const char *at = file; *at && n + 1 < sizeof guard; at++)
        guard[n++] = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
    guard[n] = '\0';
    text_printf(out,
                "/* Made by %s: do not edit. Launches kernels; the stream says where: fsc_runtime.h, \"Objects\". */\n",
                fsc_version());
    text_printf(out,
                "#ifndef %s\n#define %s\n\n#include <fsc_runtime.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                guard, guard);
    for (uint32_t i = 0; i < j->kernels.len; i++) {
        const PackageKernel *k = &j->kernels.at[i];
        print_comment(k, out);
        print_prototype(j, k, out);
        text_printf(out, ";\nextern fsc_object %s;\n\n", k->symbol);
    }
    text_printf(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ---- One C file -------------------------------------------------------------------------------------------------- */

static void print_bytes(const char *name, uint32_t index, Bytes bytes, Text *out) {
    text_printf(out, "FSC_ALIGNED static const unsigned char %s_code_%u[%zu] = {", name, index, bytes.len);
    for (size_t i = 0; i < bytes.len; i++)
        text_printf(out, "%s%u,", i % 32 ? "" : "\n", (unsigned)(unsigned char)bytes.at[i]);
    text_printf(out, "\n};\n");
}

static void print_table(const PackageKernel *k, Text *out) {
    for (uint32_t i = 0; i < k->variants.len; i++) print_bytes(k->name, i, k->variants.at[i].code, out);
    text_printf(out, "static const fsc_object_variant %s_variants[] = {\n", k->name);
    for (uint32_t i = 0; i < k->variants.len; i++) {
        const ObjectVariant *v = &k->variants.at[i];
        text_printf(out, "    {\"%s\", %s_code_%u, sizeof %s_code_%u, NULL, 0, %llu},\n", v->arch, k->name, i, k->name,
                    i, (unsigned long long)v->number);
    }
    text_printf(out, "};\nfsc_object %s = {FSC_OBJECT_ABI, \"%s\", %s_variants, %u, NULL};\n\n", k->symbol, k->name,
                k->name, k->variants.len);
}

static void print_function(const PackageJob *j, const PackageKernel *k, Text *out) {
    const Record *r = k->record;
    const char **names = param_names(j, r);
    print_prototype(j, k, out);
    text_printf(out, ";\n");
    print_prototype(j, k, out);
    const char *values = free_name(j, r, "values");
    text_printf(out, " {\n    const void *const %s[] = {", values);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind != RECORD_CONSTEXPR) text_printf(out, "&%s, ", names[i]);
    }
    text_printf(out, "NULL};\n    return fsc_object_launch(&%s, %s, %s, %s);\n}\n\n", k->symbol,
                free_name(j, r, "stream"), r->num_grid ? "NULL" : free_name(j, r, "grid"), values);
}

void package_c(const PackageJob *j, Text *out) {
    text_printf(out,
                "/* Made by %s: do not edit. Kernels with their code, in C and in C++; links with libfsc-runtime. */\n",
                fsc_version());
    text_printf(out,
                "#include <fsc_runtime.h>\n\n#ifdef __cplusplus\n#define FSC_ALIGNED alignas(64)\nextern \"C\" {\n");
    text_printf(out, "#elif __STDC_VERSION__ >= 201112L\n#define FSC_ALIGNED _Alignas(64)\n#else\n#define FSC_ALIGNED "
                     "__attribute__((aligned(64)))\n#endif\n\n");
    for (uint32_t i = 0; i < j->kernels.len; i++) {
        print_table(&j->kernels.at[i], out);
        print_function(j, &j->kernels.at[i], out);
    }
    text_printf(out, "#ifdef __cplusplus\n}\n#endif\n");
}
