"""guess.py - what a kernel of others is called with, guessed from its text, and mended by what the compiler says.

In: a function under `@triton.jit`, the others of its folder. Out: options -T and -D for each of its parameters.
Method: a pointer is what an address begins with, a descriptor of the host what has `load` of a list; a number is a size
or a stride, or a float where its name is one like `eps`. constexpr parameters get what launches in the same files
give them, a size of a tile, False, or a text that they are compared with. A message of the compiler names a line: the
values of that line were loaded through pointers, whose types are changed.
"""
import ast
import collections
import re

INDICES = re.compile(r"ind(ex|ices|ptr)|idx|_ids?$|^ids?_|offsets?$|seq_?len|lens?(_ptr)?$|cu_|labels?|target|"
                     r"block_table|table|mapping|slot|position|chunk_|token_|experts?|count|lock|start_loc|b_req|sorted|lengths?",
                     re.I)
REALS = re.compile(r"eps|scale|alpha|beta(?!s)|gamma|^p$|prob|momentum|^lr$|softcap|smoothing|weight_decay|temperature|"
                   r"ratio|slope|dropout|value$|min$|max$|lambda|delta|rate|bound|theta|cap$|factor|std|mean|low|high|"
                   r"threshold", re.I)
ACCESSES = {"load", "store", "make_block_ptr", "make_tensor_descriptor", "atomic_add", "atomic_max", "atomic_min",
            "atomic_cas", "atomic_xchg", "atomic_and", "atomic_or", "atomic_xor"}
HANDS_ON = {"advance", "multiple_of", "max_contiguous", "make_block_ptr", "cast", "make_tensor_descriptor",
            "broadcast_to", "where"}  # of which a pointer is an argument and, moved, the value
BLOCKS = {"load_tensor_descriptor", "store_tensor_descriptor"}
TRUTHS = re.compile(r"(is|has|use|do|store|save|with|enable|apply|need|return|out|causal|varlen|reverse|trans|even|add|"
                    r"allow|output|interleaved|masked?|fuse|inplace|zero|norm|init)_?", re.I)


def name_of(call):
    f = call.func if isinstance(call, ast.Call) else call
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def is_jit(decorator):
    """Of Triton: other languages in Python have a `jit`, too."""
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in ("triton.jit", "jit")


def own_nodes(function):
    """What stands in a function's body, but not in its decorators and defaults."""
    for statement in function.body:
        yield from ast.walk(statement)


class Launches:
    """What the host code of a folder gives kernels: by name, the values of each parameter that are written out."""

    def __init__(self):
        self.values = collections.defaultdict(lambda: collections.defaultdict(list))

    def read(self, tree, functions):
        self.read_body(tree, {}, functions)

    def read_body(self, body, outer, functions):
        inner = [n for n in ast.iter_child_nodes(body)]
        known, nodes, hosts = dict(outer), [], []
        while inner:
            n = inner.pop(0)
            if isinstance(n, ast.FunctionDef):
                hosts.append(n)
                continue
            nodes.append(n)
            inner += ast.iter_child_nodes(n)
        for n in nodes:
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
                known.setdefault(n.targets[0].id, n.value)
        for n in nodes:
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript) and name_of(n.func.value) in functions:
                f = functions[name_of(n.func.value)]
                names = [a.arg for a in f.args.posonlyargs + f.args.args]
                for name, value in list(zip(names, n.args)) + [(k.arg, k.value) for k in n.keywords]:
                    value = known.get(value.id, value) if isinstance(value, ast.Name) else value
                    if isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, str, type(None))):
                        self.values[f.name][name].append(value.value)
        for host in hosts:
            self.read_body(host, known, functions)


def text_of(value):
    return '"%s"' % value if isinstance(value, str) else str(value)


# What a parameter may be instead, where the first guess is refused.
POINTERS = ["*fp16", "*fp32", "*i32", "*i64", "*u8", "*bf16", "*fp8e4nv", "*i8", "*u32", "*u16", "*i1"]
SIZES = ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"]
TYPE = re.compile(r"(\*?(const )?(fp|bf|i|u)\d+(e\w+)?|tensordesc<.*)$")


class Kernel:
    """A function of a file, and what its text says of its parameters."""

    def __init__(self, project, path, node, functions, launched=None):
        self.project, self.path, self.node, self.functions = project, path, node, functions
        self.launched = launched or {}
        args = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        defaults = [None] * (len(args) - len(node.args.defaults) - len(node.args.kwonlyargs)) + node.args.defaults
        defaults += node.args.kw_defaults
        self.params = [a.arg for a in args]
        self.constexpr = {a.arg for a in args if a.annotation and "constexpr" in ast.unparse(a.annotation)}
        self.has_default = {a.arg for a, d in zip(args, defaults) if d is not None}
        self.computed = [a.arg for a, d in zip(args, defaults)  # constexpr parameters that a module has the default of
                         if d is not None and not isinstance(d, ast.Constant) and a.arg in self.constexpr]
        self.is_none = {a.arg for a, d in zip(args, defaults) if isinstance(d, ast.Constant) and d.value is None}
        self.has_dot = self.reaches_dot(node, set())
        self.ranges = {x.id for n in own_nodes(node) if isinstance(n, ast.Call) and name_of(n) == "arange"
                       for x in n.args if isinstance(x, ast.Name)}
        self.definitions = collections.defaultdict(list)
        for n in own_nodes(node):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, ast.AugAssign) else []
            for t in targets:
                if isinstance(t, ast.Name):
                    self.definitions[t.id].append(n.value)
        self.descriptors = self.find_descriptors(node)
        self.pointers = self.find_pointers(node)
        self.given, self.tried, self.declared = {}, set(), set()

    def reaches_dot(self, node, seen):
        for n in own_nodes(node):
            if isinstance(n, ast.Call):
                if name_of(n) in ("dot", "dot_scaled"):
                    return True
                f = self.functions.get(name_of(n))
                if f is not None and f.name not in seen:
                    seen.add(f.name)
                    if self.reaches_dot(f, seen):
                        return True
        return False

    def root(self, e, seen=()):
        """The parameter that an address begins with, or None."""
        while True:
            if isinstance(e, ast.BinOp) and isinstance(e.op, (ast.Add, ast.Sub)):
                left = self.root(e.left, seen)
                if left:
                    return left
                e = e.right
            elif isinstance(e, (ast.Call,)) and isinstance(e.func, ast.Attribute) and e.func.attr in ("to", "cast"):
                e = e.func.value
            elif isinstance(e, ast.Call) and name_of(e) in HANDS_ON:
                first = e.args[1] if name_of(e) == "where" and len(e.args) > 1 else e.args[0] if e.args else None
                base = [k.value for k in e.keywords if k.arg in ("base", "ptr")]
                e = first if first is not None else base[0] if base else None
            elif isinstance(e, ast.IfExp):
                e = e.body
            elif isinstance(e, ast.Subscript):
                e = e.value
            elif isinstance(e, ast.Name):
                if e.id in self.definitions and e.id not in seen:
                    for d in self.definitions[e.id]:
                        found = self.root(d, (*seen, e.id))
                        if found:
                            return found
                return e.id if e.id in self.params and e.id not in self.constexpr else None
            else:
                return None

    def roots(self, e):
        """The parameters that an address begins with, one for each definition of its name."""
        definitions = self.definitions.get(e.id, []) if isinstance(e, ast.Name) else []
        return dict.fromkeys(p for p in map(self.root, (*definitions, e) if e is not None else ()) if p)

    def find_pointers(self, node, depth=0):
        found = {}
        for n in own_nodes(node):
            if not isinstance(n, ast.Call):
                continue
            name = name_of(n)
            if name in ACCESSES or name in ("load_tensor_descriptor",):
                named = [k.value for k in n.keywords if k.arg in ("pointer", "base")]
                base = n.args[0] if n.args else named[0] if named else None
                if isinstance(n.func, ast.Attribute) and name in ("load", "store") and not n.args:
                    base = base if base is not None else n.func.value
                for p in self.roots(base):
                    found.setdefault(p, name)
            elif name == "to" and n.args and "pointer_type" in ast.unparse(n.args[0]):
                held = n.func.value
                if name_of(held) == "load" and held.args and self.root(held.args[0]):
                    found[self.root(held.args[0])] = "addresses"
            elif name in self.functions and depth < 3:
                f = self.functions[name]
                inner = Kernel(self.project, self.path, f, {k: v for k, v in self.functions.items() if k != name})
                names = inner.params
                pairs = list(zip(names, n.args)) + [(k.arg, k.value) for k in n.keywords]
                for inner_name, value in pairs:
                    p = self.root(value)
                    if p and inner_name in inner.pointers:
                        found.setdefault(p, inner.pointers[inner_name])
        return found

    def find_descriptors(self, node, depth=0):
        """The parameters that are descriptors made by the host, and their ranks."""
        found = {}
        for n in own_nodes(node):
            if not isinstance(n, ast.Call):
                continue
            method = isinstance(n.func, ast.Attribute) and n.func.attr in ("load", "store") and n.args
            base = n.func.value if method else n.args[0] if name_of(n) in BLOCKS and len(n.args) > 1 else None
            at = n.args[0] if method else n.args[1] if base is not None else None
            p = base.id if isinstance(base, ast.Name) and isinstance(at, (ast.List, ast.Tuple)) else None
            if p in self.params and p not in self.definitions:
                found[p] = len(at.elts)
            f = self.functions.get(name_of(n)) if depth < 3 else None
            if f is not None:
                inner = Kernel(self.project, self.path, f, {k: v for k, v in self.functions.items() if k != f.name})
                for name, value in list(zip(inner.params, n.args)) + [(k.arg, k.value) for k in n.keywords]:
                    if name in inner.descriptors and isinstance(value, ast.Name) and value.id in self.params:
                        found.setdefault(value.id, inner.descriptors[name])
        return found

    def texts(self, name):
        """Texts and numbers that a parameter is compared with."""
        for n in own_nodes(self.node):
            if isinstance(n, ast.Compare) and any(isinstance(x, ast.Name) and x.id == name
                                                  for x in (n.left, *n.comparators)):
                for x in (n.left, *n.comparators):
                    for c in ast.walk(x):
                        if isinstance(c, ast.Constant):
                            yield c.value

    def is_truth(self, name):
        for n in own_nodes(self.node):
            tests = [n.test] if isinstance(n, (ast.If, ast.IfExp, ast.While, ast.Assert)) else []
            while tests:
                t = tests.pop()
                if isinstance(t, ast.BoolOp):
                    tests += t.values
                elif isinstance(t, ast.UnaryOp) and isinstance(t.op, ast.Not):
                    tests.append(t.operand)
                elif isinstance(t, ast.Name) and t.id == name:
                    return True
        return False

    def constant(self, name):
        low = name.lower()
        if self.launched.get(name):
            return text_of(self.launched[name][0])
        if "precision" in low:
            return '"ieee"'
        if re.search(r"dtype$|_ty$|type$", low):
            return "fp32" if "acc" in low else "fp16"
        found = list(self.texts(name))
        text = [x for x in found if isinstance(x, str)]
        if text:
            return '"%s"' % text[0]
        is_size = re.search(r"size|dim|num|len|stride|block", low)
        if (TRUTHS.match(low) and not is_size) or self.is_truth(name):
            return "False"
        if name in self.ranges:
            return "64" if self.has_dot else "128"
        if re.search(r"num_stages|stages?$", low):
            return "1" if low == "stage" else "2"
        if re.search(r"warps", low):
            return "4"
        if re.search(r"heads?$|^h[qkv]?$|^hv$|n_?heads|groups?$|^g$|^z$|^b$|group_size|num_", low):
            return "4"
        if re.search(r"eps|scale|alpha|softcap|cap$", low):
            return "1.0"
        if re.match(r"stride", low):
            return "64"
        if re.search(r"^n[ctksv]$|^ng$|^nb$", low):
            return "2"
        if re.search(r"^b[ctkvsndmqgh]\d?$|block|tile|^[kvdtn]$|dim|size|^bl|_d$|pow2|npo2|^d", low):
            return "64" if self.has_dot or "dim" in low else "128"
        if self.has_dot:
            return "64"
        return "16"

    def first_guess(self):
        """Types of all that is no constexpr; constexpr parameters may have values of their own."""
        for name in self.params:
            if name in self.constexpr and self.descriptors and re.search(r"block|tile", name, re.I):
                self.given[name] = self.constant(name)  # not what a configuration says: blocks of descriptors are fixed
            if name in self.constexpr or name in self.declared:
                continue
            if name in self.descriptors:
                sizes = ["1"] * (self.descriptors[name] - 2) + ["64"] * min(self.descriptors[name], 2)
                self.given[name] = "tensordesc<fp16[%s]>" % ",".join(sizes)
            elif name in self.pointers:
                self.given[name] = self.pointer(name)
            elif name in self.is_none:
                self.given[name] = "None"
            elif re.search(r"ptr$|_ptr|^ptr", name, re.I):
                self.given[name] = self.pointer(name)
            elif REALS.search(name) and not re.search(r"stride|size|len|num|seq|dim|n_", name, re.I):
                self.given[name] = "fp32"
            else:
                self.given[name] = "i32"

    def pointer(self, name):
        if self.pointers.get(name) == "addresses":
            return "*i64"
        return "*i32" if INDICES.search(name) and not REALS.search(name) else "*fp16" if self.has_dot else "*fp32"

    def words(self):
        return [w for name, value in self.given.items()
                for w in (("-T" if TYPE.match(value) and name not in self.constexpr else "-D"), f"{name}={value}")]

    def mend(self, message):
        """Changes a guess by what the compiler said; False where it says nothing of one."""
        said = re.findall(r"parameter '(\w+)' of '\w+' has no (?:value|type)", message)
        for several in re.findall(r"parameters of '\w+' have no type or value: ([\w, ]+)", message):
            said += several.split(", ")
        names = [n for n in said if n in self.params and n not in self.given]
        for n in names:
            self.given[n] = self.constant(n)
        return bool(names) or self.mend_more(message)

    def mend_more(self, message):
        """By the first error: what is wanted there, and which parameters the values of its line come from."""
        declared = [n for n in re.findall(r"-T gives '(\w+)'", message) if self.given.pop(n, None)]
        self.declared |= set(declared)
        if declared:
            return True
        first = re.search(r"error: (.*)\n((?:.*\n)*?)(?=.*error: |\Z)", message)
        if not first:
            return False
        what, shown = first.groups()
        lines = re.findall(r"^ *\d+ \| (.*)$", shown, re.M)
        line = lines[0] if lines else ""
        names = self.names_at(message) + [n for text in lines for n in re.findall(r"[A-Za-z_]\w*", text)]
        if re.search(r"int known at compile time", what):
            return self.change(names, lambda v: v in ("1.0", "fp32"), "16")
        if re.search(r"between (i32|i64) and \*|between \*\w+ and \*|between tile<.*\*", what):
            return self.change([n for n in names if n in self.pointers and not n.lower().endswith("ptr")] or names,
                               lambda v: v[0] == "*", "i32")
        if re.search(r"integers, not (of )?fp|by an integer|(must be|moves by) an integer|integer scalars|"
                     r"its type .* to fp", what):
            return (self.change(names, lambda v: v == "fp32", "i32")
                    or self.change(self.loaded(names), lambda v: v.startswith("*fp"), "*i32"))
        if re.search(r"takes integers, not tile|takes truth values", what):
            return self.change(self.loaded(names), lambda v: v.startswith("*fp"), "*i32")
        if "no kernel code defines it" in what:
            computed = [n for n in self.computed if n not in self.given]
            self.given.update((n, self.constant(n)) for n in computed)
            return bool(computed)
        if "bitcast from fp" in what:
            return self.change(self.loaded(names), lambda v: v.startswith("*fp"), "*i64")
        if "element types do not multiply" in what:
            return (self.change(self.loaded(names, "*i"), lambda v: v.startswith("*i"), "*fp16")
                    or self.change(self.loaded(names, "*fp16"), lambda v: v == "*fp16", "*fp32"))
        if re.search(r"(loop, from|is) tile<.*fp\d+> .*tile<.*fp\d+>", what):
            return self.change(self.loaded(names, "*fp16"), lambda v: v == "*fp16", "*fp32")
        if re.search(r"^'atomic_\w+' of", what):
            locks = [n for n in names if "lock" in n]
            return self.change([self.root(ast.Name(n)) for n in locks or names], lambda v: v[0] == "*",
                               "*i32" if locks else "*fp32")
        if re.search(r"number or a tile of numbers, not \*|'/' between fp\d+ and \*", what):
            return self.change(names, lambda v: v[0] == "*", "fp32")
        bits = re.search(r"bitcast from tile<.*> \(\d+ bits\) to .* \((\d+) bits\)", what)
        if bits:
            to = {"8": "*u8", "16": "*fp16", "32": "*fp32", "64": "*i64"}[bits.group(1)]
            return self.change(self.loaded(names, "*"), lambda v: v[0] == "*", to)
        if re.search(r"arange from (\d+) to \1 is empty", what):
            last = [n for n in re.findall(r"[A-Za-z_]\w*", line) if n in self.constexpr][-1:]
            return self.change(last, lambda v: v.isdigit(), "128")
        if re.search(r"where i\d+ is wanted|takes a float|takes floats|must be (a )?float|from fp\d+ to i", what):
            return self.change(names + self.loaded(names, "*i"), lambda v: v in ("*i32", "*i64"), "*fp32") or (
                "takes a float" in what and self.change(names, lambda v: v == "i32", "fp32"))
        if re.search(r"needs a pointer|is no pointer|has no 'load'", what):
            names = [self.root(ast.Name(n)) for n in names] + names
            names = [n for n in names if n and n not in self.constexpr]
            return self.change(names, lambda v: v in ("i32", "fp32", "None"), "*fp16" if self.has_dot else "*fp32")
        if re.search(r"too large|too long to compile|bytes of shared memory", what):
            sizes = [n for n in self.given if n in self.constexpr and re.fullmatch(r"(32|64|128|256)", self.given[n])]
            for n in sizes:
                self.given[n] = str(int(self.given[n]) // 2)
            return bool(sizes)
        if re.search(r"static_assert failed.*divisible", what):
            return self.change(names, lambda v: v in ("32", "64", "128"), "1024")
        missing = re.search(r"'(\w+)' is not defined here|unknown name '(\w+)'", what)
        return bool(missing) and self.take_branch(missing.group(1) or missing.group(2))

    def place(self, message):
        """The last line of the kernel that the first error names: how far the guess went."""
        first = re.search(r"error: (?:.*\n)*?(?=.*error: |\Z)", message)
        at = re.findall(r"^(?: *--> )?%s:(\d+):" % re.escape(self.path), message[:first.end()] if first else "", re.M)
        inside = [int(n) for n in at if self.node.lineno <= int(n) <= self.node.end_lineno]
        return max(inside, default=0)

    def reasons(self, message):
        """The parameters that the statement with the first error hangs on, the nearest first."""
        line, found, seen = self.place(message), [], set()
        todo = [n for n in own_nodes(self.node) if isinstance(n, ast.stmt) and n.lineno <= line <= n.end_lineno
                and not isinstance(n, (ast.For, ast.While, ast.With))
                and not (isinstance(n, ast.If) and n.lineno < line)]
        names = [x.id for n in todo for x in ast.walk(n) if isinstance(x, ast.Name)]
        while names:
            name = names.pop(0)
            if name in seen:
                continue
            seen.add(name)
            if name in self.given:
                found.append(name)
            names += [x.id for d in self.definitions.get(name, []) for x in ast.walk(d) if isinstance(x, ast.Name)]
        return sorted(found, key=lambda n: n not in self.constexpr)

    def others(self, name, message):
        """What a parameter may be instead."""
        now, said = self.given[name], [text_of(v) for v in self.launched.get(name, [])]
        if name in self.constexpr or not TYPE.match(now):
            texts = [text_of(v) for v in self.texts(name) if isinstance(v, (str, bool, int, type(None)))]
            size = int(now) if now.isdigit() else 0
            near = [str(size * 2), str(size // 2)] if size else []
            called = [f for f, n in self.functions.items() if len(n.args.args) == 1] if "be called" in message else []
            more = called[:3] + said + texts + near + (SIZES if size or now == "0" else ["True", "False"])
            more += ["fp32", '""'] if "type such as" in message or "cache_modifier" in message else []
        elif now.startswith("tensordesc"):
            more = []
        else:
            more = (POINTERS if now[0] == "*" else ["i32", "fp32", "i64"]) + (["i32"] if now[0] == "*" else ["*fp16"])
        return [v for v in dict.fromkeys(more) if v != now]

    def names_at(self, message):
        """The names of the statement that an error is in."""
        self.statement = None
        place = re.search(r"^(.*):(\d+):\d+: error: ", message, re.M)
        if not place or place.group(1) != self.path:
            return []
        line = int(place.group(2))
        for n in own_nodes(self.node):
            if isinstance(n, (ast.Assign, ast.AugAssign, ast.Expr)) and n.lineno <= line <= n.end_lineno:
                self.statement = n
                return [x.id for x in ast.walk(n) if isinstance(x, ast.Name)]
        return []

    def change(self, names, fits, to):
        chosen = [n for n in dict.fromkeys(names)
                  if n in self.given and fits(self.given[n]) and (n, to) not in self.tried]
        for n in chosen:
            self.tried.add((n, to))
            self.given[n] = to
        return bool(chosen)

    def loaded(self, names, kind="*fp", seen=frozenset()):
        """The pointers that what is computed of names was loaded from, the nearest ones."""
        near, next_names = [], []
        for n in ast.walk(self.statement) if self.statement is not None and not seen else []:
            if isinstance(n, ast.Call) and name_of(n) == "load" and n.args:
                near.append(self.root(n.args[0]))
        for name in dict.fromkeys(names):
            for d in self.definitions.get(name, []) if name not in seen else []:
                for n in ast.walk(d):
                    if isinstance(n, ast.Call) and name_of(n) == "load":
                        near.append(self.root(n.args[0]) if n.args else None)
                    elif isinstance(n, ast.Name):
                        next_names.append(n.id)
        near = [n for n in near if n and self.given.get(n, "").startswith(kind)]
        return near or (self.loaded(next_names, kind, seen | set(names)) if next_names and len(seen) < 40 else [])

    def take_branch(self, name):
        """Makes true what stands before the assignments of a name."""
        for n in own_nodes(self.node):
            if isinstance(n, ast.If) and any(isinstance(x, ast.Name) and x.id == name and isinstance(x.ctx, ast.Store)
                                             for b in n.body for x in ast.walk(b)):
                tests = {x.id for x in ast.walk(n.test) if isinstance(x, ast.Name)}
                texts = [x.value for x in ast.walk(n.test) if isinstance(x, ast.Constant)]
                for t in tests & set(self.params):
                    is_text = bool(texts) and isinstance(texts[0], str)
                    to = '"%s"' % texts[0] if is_text else str(texts[0]) if texts else "True"
                    if t in self.constexpr and (t, to) not in self.tried and self.given.get(t, "False") != to:
                        self.tried.add((t, to))
                        self.given[t] = to
                        return True
        return False


