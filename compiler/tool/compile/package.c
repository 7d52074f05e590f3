/* package.c - `fsc --emit=object` and `--emit=c`: every variant of every kernel compiled, and written out together.
 *
 * In: a file's text, the options. Out: an object or C, a header, the rule of -MD; or messages and an exit code.
 * Method: variants are the product of --variants, the launches that they are made for (launches.c), and architectures.
 * A cubin where there is ptxas, and PTX where no cubin reaches.
 */
#include "tool/compile/package.h"
#include "codegen/processor.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)OBJECT_ABI == (int)FSC_OBJECT_ABI, "codegen/object.c builds these structs");
_Static_assert(sizeof(fsc_object_variant) == 48 && offsetof(fsc_object_variant, number) == 40 &&
                   offsetof(fsc_object_variant, entry) == 24,
               "codegen/object.c builds this struct");
_Static_assert(sizeof(fsc_object) == 40 && offsetof(fsc_object, variants) == 16, "codegen/object.c builds this struct");

/* The choice of one value for each --variants. */
typedef struct Choice {
    fsc_name_value *defines; /* those of the options, and these */
    size_t num_defines;
    const char *text; /* "BLOCK=256 N=3", of these; "": there are none */
} Choice;

/* ---- Architectures ----------------------------------------------------------------------------------------------- */

/* Its place in the table of targets, from 1: oldest first; 0: it is unknown. */
static uint32_t arch_place(const char *arch) {
    const Target *t;
    for (uint32_t i = 0; (t = target_at(i)); i++)
        if (strcmp(t->name, arch) == 0) return i + 1;
    return 0;
}

static void add_arch(PackageJob *j, const char *arch) {
    uint32_t at = j->archs.len;
    for (uint32_t i = 0; i < j->archs.len; i++) {
        if (strcmp(j->archs.at[i], arch) == 0) return;
    }
    vec_push(j->o->arena, &j->archs, arch);
    for (; at > 0 && arch_place(j->archs.at[at - 1]) > arch_place(arch); at--) j->archs.at[at] = j->archs.at[at - 1];
    j->archs.at[at] = arch;
}

static ExitCode read_archs(PackageJob *j) {
    const char *list = j->o->compile.arch;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        j->o->compile.arch = arena_strndup(j->o->arena, at, strcspn(at, ","));
        if (!arch_resolve(j->o)) return EXIT_ENVIRONMENT;
        const char *arch = j->o->compile.arch;
        const Target *t = target_find(arch);
        if (t && t->backend->stands_for) {
            fprintf(stderr, "fsc: arch %s is for tests in this process; an object takes sm_75 … sm_121 and cpu\n",
                    arch);
            return EXIT_CALL;
        }
        if (t && target_runs_here(t)) j->cpu = true;
        else add_arch(j, arch);
    }
    if (!j->cpu || j->o->package == PACKAGE_OBJECT) return EXIT_DONE;
    fprintf(stderr, "fsc: --emit=c holds code of GPUs only: for a CPU version take --emit=object, or leave out cpu\n");
    return EXIT_CALL;
}

/* Whether a device that no cubin of the list fits would run the PTX of archs[i]: it is the newest, or there may be
 * devices of other major versions before the next one. */
static bool needs_ptx(const PackageJob *j, uint32_t i) {
    if (i + 1 == j->archs.len) return true;
    const Target *here = target_find(j->archs.at[i]), *next = target_find(j->archs.at[i + 1]);
    return here->backend != next->backend || !here->backend->reaches || !here->backend->reaches(here, next);
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

/* Objects go to other machines: what their processors may lack is not taken from this one. */
static const char *default_cpu(void) {
    Processor any = processor_any(NULL);
    if (any.family == FAMILY_OTHER) return NULL;
    return level_info[any.family == FAMILY_X86_64 ? LEVEL_X86_64_V3 : LEVEL_ARM].name;
}

/* One version of several has to say what the processor must have, and no other version may say the same. */
static bool may_join(const PackageJob *j, const char *cpu, const Processor *p) {
    Processor other;
    /* the code of a name may use more than its level has */
    if (p->level == LEVEL_NONE || strcmp(cpu, level_info[p->level].name) != 0) {
        fprintf(stderr,
                "fsc: --cpu=%s: of several processors the runtime has to find the right one, and cannot ask for this "
                "one alone; take levels: %s\n",
                cpu, processor_levels(j->o->arena));
        return false;
    }
    for (uint32_t i = 0; i < j->cpus.len; i++) {
        (void)processor_find(j->cpus.at[i], &other);
        if (other.family == p->family && other.level != p->level) continue;
        fprintf(stderr, "fsc: --cpu: %s and %s are %s\n", j->cpus.at[i], cpu,
                other.family == p->family ? "of one level, which the runtime cannot tell apart: leave one out"
                                          : "processors of two kinds: an object is for one");
        return false;
    }
    return true;
}

static ExitCode read_cpus(PackageJob *j) {
    const char *list = j->o->compile.cpu;
    bool is_list = list && strchr(list, ',');
    if (!list) vec_push(j->o->arena, &j->cpus, default_cpu());
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *cpu = arena_strndup(j->o->arena, at, strcspn(at, ","));
        Processor p;
        bool is_known = processor_find(cpu, &p);
        if (!is_known && (is_list || !j->cpu)) {
            fprintf(stderr, "fsc: --cpu: unknown processor '%s'; %s\n", cpu, processor_names(j->o->arena));
            return EXIT_CALL;
        }
        if (is_list && !may_join(j, cpu, &p)) return EXIT_CALL;
        vec_push(j->o->arena, &j->cpus, cpu);
    }
    return EXIT_DONE;
}

/* ---- One compile ------------------------------------------------------------------------------------------------- */

/* Diagnostics once, however many variants have them. */
static ExitCode finish(PackageJob *j, const fsc_compilation *c, fsc_status s, const Choice *choice, const char *arch) {
    const char *text = c ? fsc_compilation_diagnostics(c) : "";
    bool is_said = false;
    for (uint32_t i = 0; i < j->said.len && !is_said; i++) is_said = strcmp(j->said.at[i], text) == 0;
    if (s == FSC_OK && is_said) return EXIT_DONE;
    vec_push(j->o->arena, &j->said, arena_strndup(j->o->arena, text, strlen(text)));
    ExitCode code = compile_finish(j->o, c, s);
    bool is_text = j->o->compile.diagnostics == FSC_DIAGNOSTICS_TEXT;
    if (code != EXIT_DONE && is_text && *choice->text)
        fprintf(stderr, "fsc: this is the variant %s for %s\n", choice->text, arch);
    return code;
}

/* What the variant's code says of the parameters; its record is kept if it is the first. */
static void note_record(PackageJob *j, PackageKernel *k, const fsc_compilation *c) {
    const char *text = fsc_compilation_record(c);
    Record *r = record_parse(text, strlen(text), NULL, 0);
    if (!r) bug("package: the record of %s does not read back", k->name);
    if (!k->writes) k->writes = NEW_ARRAY(j->o->arena, bool, r->num_params + 1);
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        const RecordAccess *a = &r->accesses[i];
        for (uint32_t p = 0; p < r->num_params && a->is_store; p++)
            k->writes[p] |= a->param < 0 || a->param == (int32_t)p;
    }
    if (k->record) record_free(r);
    else k->record = r;
}

static Bytes keep(PackageJob *j, const char *at, size_t n) {
    return (Bytes){arena_strndup(j->o->arena, at, n), n};
}

/* PTX → the variant's entries: room for a cubin if there is ptxas, PTX where no cubin reaches. */
static void add_gpu(PackageJob *j, PackageKernel *k, uint32_t arch, uint64_t number, const fsc_compilation *c) {
    size_t n = 0;
    const char *at = fsc_compilation_output(c, &n);
    Bytes ptx = keep(j, at, n);
    ObjectVariant v = {.arch = j->archs.at[arch], .number = number};
    bool has_ptxas = fsc_find_ptxas() != NULL;
    if (has_ptxas) {
        Assembly later = {
            .arch = v.arch, .ptx = ptx, .kernel = (uint32_t)(k - j->kernels.at), .variant = k->variants.len};
        vec_push(j->o->arena, &j->assemblies, later);
        vec_push(j->o->arena, &k->variants, v);
    }
    if (has_ptxas && !needs_ptx(j, arch)) return;
    v.code = ptx;
    vec_push(j->o->arena, &k->variants, v);
}

/* The cubins, when all PTX is there. */
static ExitCode add_cubins(PackageJob *j) {
    ExitCode code = EXIT_DONE;
    assemble_all(j->assemblies.at, j->assemblies.len, j->o->compile.opt_level);
    for (uint32_t i = 0; i < j->assemblies.len; i++) {
        Assembly *a = &j->assemblies.at[i];
        PackageKernel *k = &j->kernels.at[a->kernel];
        if (!a->done && code == EXIT_DONE) {
            fprintf(stderr, "fsc: ptxas refuses kernel %s for %s: %s\n", k->name, a->arch,
                    a->made.report.at ? a->made.report.at : "");
            code = EXIT_ENVIRONMENT;
        }
        k->variants.at[a->variant].code = keep(j, a->made.binary.at ? a->made.binary.at : "", a->made.binary.len);
        assembled_free(&a->made);
    }
    return code;
}

/* "cpu", with the level that the runtime can ask the processor for. */
static const char *cpu_arch(PackageJob *j, const char *cpu) {
    Processor p;
    bool is_level = processor_find(cpu, &p) && p.level != LEVEL_NONE;
    return is_level ? arena_printf(j->o->arena, "cpu %s", level_info[p.level].name) : "cpu";
}

static void add_cpu(PackageJob *j, PackageKernel *k, const char *cpu, uint64_t number, const fsc_compilation *c) {
    size_t n = 0;
    const char *ir = fsc_compilation_output(c, &n), *record = fsc_compilation_record(c);
    ObjectVariant v = {.arch = cpu_arch(j, cpu), .cpu = cpu, .number = number, .scratch_bytes = c->scratch_bytes};
    v.ir = keep(j, ir, n);
    v.code = keep(j, record, strlen(record));
    vec_push(j->o->arena, &k->variants, v);
}

static ExitCode compile_variant(PackageJob *j, PackageKernel *k, const Choice *choice, const fsc_compile_options *o,
                                int arch, uint64_t number) {
    fsc_compilation *c = NULL;
    fsc_status s = fsc_compile(o, j->source, j->length, &c);
    ExitCode code = finish(j, c, s, choice, o->arch);
    if (code == EXIT_DONE) {
        note_record(j, k, c);
        if (arch < 0) add_cpu(j, k, o->cpu, number, c);
        else add_gpu(j, k, (uint32_t)arch, number, c);
    }
    fsc_compilation_destroy(c);
    return code;
}

/* The options of one choice; arch below zero: of the CPU, the first, second … processor. */
static fsc_compile_options options_of(const PackageJob *j, const PackageKernel *k, const Choice *choice, int arch) {
    fsc_compile_options o = j->o->compile;
    o.kernel = k->name;
    o.arch = arch < 0 ? "cpu" : j->archs.at[arch];
    o.emit = arch < 0 ? FSC_EMIT_LLVM : FSC_EMIT_PTX;
    o.cpu = arch < 0 ? j->cpus.at[-1 - arch] : NULL;
    o.defines = choice->defines;
    o.num_defines = choice->num_defines;
    return o;
}

static ExitCode compile_cpu(PackageJob *j, PackageKernel *k, const Choice *choice, uint64_t number) {
    ExitCode code = EXIT_DONE;
    for (int i = 0; i < (int)j->cpus.len && code == EXIT_DONE; i++) {
        fsc_compile_options o = options_of(j, k, choice, -1 - i);
        code = compile_variant(j, k, choice, &o, -1 - i, number);
    }
    return code;
}

/* Without values of scalars, which are made up; of few programs alone it is known on which card. */
static ExitCode compile_gpu(PackageJob *j, PackageKernel *k, const Choice *choice, int arch, uint64_t number) {
    const fsc_compile_options own = options_of(j, k, choice, arch);
    fsc_props card;
    PackageLaunches launches = package_launches(j->o->arena, &own, k->interface, own.arch, &card);
    ExitCode code = EXIT_DONE;
    for (uint32_t i = 0; i < launches.len && code == EXIT_DONE; i++) {
        const Specialisation *s = &launches.at[i].special;
        fsc_compile_options o = variant_options(j->o->arena, &own, k->interface, s->launch.few.most ? &card : NULL, s);
        o.no_maps = true; /* an object has one code for a card and such arguments, whatever their sizes are */
        code = compile_variant(j, k, choice, &o, arch, number * LAUNCHES + launches.at[i].number);
    }
    return code;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

typedef VEC(VariantAxis) Axes;

static uint64_t count_choices(const Axes *axes) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < axes->len; i++) n *= axes->at[i].values.len;
    return n;
}

static Choice choice_at(PackageJob *j, const Axes *axes, uint64_t index) {
    const fsc_compile_options *o = &j->o->compile;
    Choice c = {.defines = NEW_ARRAY(j->o->arena, fsc_name_value, o->num_defines + axes->len + 1), .text = ""};
    for (; c.num_defines < o->num_defines; c.num_defines++) c.defines[c.num_defines] = o->defines[c.num_defines];
    for (uint32_t i = 0; i < axes->len; i++) {
        const VariantAxis *axis = &axes->at[i];
        const char *value = axis->values.at[index % axis->values.len],
                   *name = arena_printf(j->o->arena, "%s:", axis->name);
        c.defines[c.num_defines++] = (fsc_name_value){name, value};
        c.text = arena_printf(j->o->arena, "%s%s%s=%s", c.text, i ? " " : "", axis->name, value);
        index /= axis->values.len;
    }
    return c;
}

/* GPUs' variants first. */
static ExitCode compile_kernel(PackageJob *j, PackageKernel *k, const Axes *axes) {
    uint64_t n = count_choices(axes), all = n * (j->archs.len + 1);
    ExitCode code = EXIT_DONE;
    for (uint64_t i = 0; i < all && code == EXIT_DONE; i++) {
        bool is_gpu = i < n * j->archs.len;
        uint64_t number = is_gpu ? i / j->archs.len : i - n * j->archs.len;
        Choice choice = choice_at(j, axes, number);
        if (is_gpu) code = compile_gpu(j, k, &choice, (int)(i % j->archs.len), number);
        else if (j->cpu) code = compile_cpu(j, k, &choice, number);
    }
    return code;
}

/* The kernels that go in: the one that was named, else all entry points. */
static ExitCode find_kernels(PackageJob *j) {
    fsc_compile_options o = j->o->compile;
    const Node *found[256];
    fsc_compilation *c = NULL;
    o.emit = FSC_EMIT_AST;
    fsc_status s = driver_compile(&o, j->source, j->length, true, &c);
    uint32_t n = s == FSC_OK && c->module && !o.kernel ? check_entry_points(c->module, found, COUNT(found)) : 0;
    if (s != FSC_OK) {
        ExitCode code = compile_finish(j->o, c, s);
        fsc_compilation_destroy(c);
        return code;
    }
    PackageKernel k = {.name = o.kernel};
    for (uint32_t i = 0; i < n && i < COUNT(found); i++) {
        k.name = arena_printf(j->o->arena, "%s", found[i]->name);
        vec_push(j->o->arena, &j->kernels, k);
    }
    if (n == 0) vec_push(j->o->arena, &j->kernels, k);
    fsc_compilation_destroy(c);
    return EXIT_DONE;
}

/* Whether another kernel has this name, or makes a function or a table of it. */
static bool is_taken(const PackageJob *j, const PackageKernel *k, const char *name) {
    for (uint32_t i = 0; i < j->kernels.len; i++) {
        const PackageKernel *w = &j->kernels.at[i];
        if (w == k || !w->name) continue;
        if (strcmp(w->name, name) == 0 || (w->function && strcmp(w->function, name) == 0)) return true;
        if (strcmp(arena_printf(j->o->arena, "%s_object", w->name), name) == 0) return true;
    }
    return false;
}

static ExitCode read_interface(PackageJob *j, PackageKernel *k) {
    fsc_compile_options o = j->o->compile;
    fsc_compilation *c = NULL;
    o.kernel = k->name;
    fsc_status s = driver_interface(&o, j->source, j->length, &c, &k->interface);
    ExitCode code = s == FSC_OK ? EXIT_DONE : compile_finish(j->o, c, s);
    if (s == FSC_OK) {
        k->name = arena_printf(j->o->arena, "%s", k->interface->kernel);
        k->function = package_function(j->o->arena, k->name);
        while (is_taken(j, k, k->function)) k->function = arena_printf(j->o->arena, "%s_", k->function);
        k->symbol = arena_printf(j->o->arena, "%s_object", k->name);
    }
    fsc_compilation_destroy(c);
    return code;
}

/* Those of the axes that this kernel has. */
static Axes axes_of(PackageJob *j, const PackageKernel *k, const Axes *all) {
    Axes own = {0};
    for (uint32_t i = 0; i < all->len; i++) {
        if (variant_axis_param(&all->at[i], k->interface)) vec_push(j->o->arena, &own, all->at[i]);
    }
    return own;
}

static bool check_axis(const PackageJob *j, const VariantAxis *axis) {
    bool is_known = false;
    for (uint32_t i = 0; i < j->kernels.len; i++) {
        const RecordParam *p = variant_axis_param(axis, j->kernels.at[i].interface);
        if (p && !variant_axis_check(axis, p, j->kernels.at[i].name)) return false;
        is_known |= p != NULL;
    }
    if (!is_known)
        fprintf(stderr, "fsc: --variants %s: no kernel of %s has a parameter of that name\n", axis->name,
                j->o->compile.file);
    return is_known;
}

static ExitCode compile_all(PackageJob *j) {
    Axes axes = {0};
    for (uint32_t i = 0; i < j->o->variants.len; i++) {
        VariantAxis axis;
        if (!variant_axis_parse(j->o->arena, j->o->variants.at[i], &axis)) return EXIT_CALL;
        vec_push(j->o->arena, &axes, axis);
    }
    ExitCode code = find_kernels(j);
    for (uint32_t i = 0; i < j->kernels.len && code == EXIT_DONE; i++) code = read_interface(j, &j->kernels.at[i]);
    for (uint32_t i = 0; i < axes.len && code == EXIT_DONE; i++)
        code = check_axis(j, &axes.at[i]) ? EXIT_DONE : EXIT_CALL;
    for (uint32_t i = 0; i < j->kernels.len && code == EXIT_DONE; i++) {
        Axes own = axes_of(j, &j->kernels.at[i], &axes);
        code = compile_kernel(j, &j->kernels.at[i], &own);
    }
    return code;
}

/* ---- Out --------------------------------------------------------------------------------------------------------- */

static ObjectKernel object_kernel(PackageJob *j, const PackageKernel *k) {
    const Record *r = k->record;
    ObjectParam *params = NEW_ARRAY(j->o->arena, ObjectParam, r->num_params + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->num_params; i++) {
        if (r->params[i].kind != RECORD_CONSTEXPR) params[n++] = package_param(&r->params[i]);
    }
    return (ObjectKernel){.name = k->name,
                          .function = k->function,
                          .symbol = k->symbol,
                          .variants = k->variants.at,
                          .num_variants = k->variants.len,
                          .params = params,
                          .num_params = n,
                          .takes_grid = r->num_grid == 0};
}

static ExitCode write_object(PackageJob *j) {
    Arena *a = j->o->arena;
    ObjectKernel *kernels = NEW_ARRAY(a, ObjectKernel, j->kernels.len);
    for (uint32_t i = 0; i < j->kernels.len; i++) kernels[i] = object_kernel(j, &j->kernels.at[i]);
    CodegenOptions o = {.diag = diag_create(a, 0), .arena = a, .opt_level = j->o->compile.opt_level};
    Bytes out = {0};
    if (codegen_object(kernels, j->kernels.len, j->cpus.at[0], &o, &out))
        return file_write(j->o->output, out.at, out.len);
    Text text = {0};
    diag_print(o.diag, &text, j->o->compile.color);
    fputs(text.at ? text.at : "", stderr);
    text_free(&text);
    return EXIT_INPUT;
}

static ExitCode write_text(const PackageJob *j, const char *path, void (*print)(const PackageJob *, Text *)) {
    Text text = {0};
    print(j, &text);
    ExitCode code = file_write(path, text.at, text.len);
    text_free(&text);
    return code;
}

ExitCode command_package(ToolOptions *o, const char *file, const char *text, size_t length) {
    PackageJob j = {.o = o, .source = text, .length = length};
    if (o->compile.device_debug) {
        fprintf(stderr, "fsc: --device-debug is for 'fsc run' and the JIT: an object has no prints and assertions\n");
        return EXIT_CALL;
    }
    if (o->compile.tuned && strcmp(o->compile.tuned, "off") != 0) {
        fprintf(stderr, "fsc: --tuned is for launches through the JIT: an object has the variants that --variants "
                        "names, and options fix\n");
        return EXIT_CALL;
    }
    o->compile.tuned = "off"; /* a row whose variant is not in the object would be a launch that nothing fits */
    ExitCode code = read_archs(&j);
    if (code == EXIT_DONE) code = read_cpus(&j);
    if (code == EXIT_DONE) code = compile_all(&j);
    if (code == EXIT_DONE) code = add_cubins(&j);
    if (code == EXIT_DONE) code = o->package == PACKAGE_C ? write_text(&j, o->output, package_c) : write_object(&j);
    if (code == EXIT_DONE && o->header) code = write_text(&j, o->header, package_header);
    if (code == EXIT_DONE) code = depend_write(o, file, o->output, o->header);
    for (uint32_t i = 0; i < j.kernels.len; i++) {
        record_free(j.kernels.at[i].interface);
        record_free(j.kernels.at[i].record);
    }
    return code;
}
