"""language.py - triton.language for the host: names that kernels use, as objects that _text.py recognises.

In: nothing. Out: builtins, each with the text that the compiler reads; types; constexpr. Nothing here computes: a
kernel's code is read by the compiler, never run by Python. tests/python/test_triton.py compares the names with
docs/reference/triton.md.
"""
import operator

BUILTINS = """
PropagateNan TRITON_MAX_TENSOR_NUMEL abs add advance arange argmax argmin associative_scan assume atomic_add
atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor broadcast broadcast_to cast cat cdiv ceil
clamp condition cos cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled erf exp exp2
expand_dims expect_zero fdiv flip floor fma full gather histogram inline_asm_elementwise interleave join load
load_tensor_descriptor log log2 make_block_ptr make_tensor_descriptor map_elementwise max max_constancy max_contiguous
maximum min minimum mul multiple_of num_programs pair_uniform_to_normal permute philox philox_impl program_id rand
rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt
sqrt_rn squeeze static_assert static_print static_range store store_tensor_descriptor sub sum swizzle2d to_tensor topk
trans uint_to_uniform_float umulhi unsqueeze view where xor_sum zeros zeros_like
""".split()
LIBDEVICE = """
abs acos acosh asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign cos cosh cospi div_rn erf erfc erfcinv
erfcx erfinv exp exp10 exp2 expm1 fdim ffs finitef floor fma fmod hadd hypot ilogb isfinited isinf isnan ldexp lgamma
log log10 log1p log2 logb mulhi nearbyint nextafter norm3d normcdf normcdfinv popc pow rcbrt remainder rhadd rhypot rint
round rsqrt sad scalbn signbit sin sinh sinpi sqrt tan tanh tgamma trunc
""".split()
CUDA = "gdc_launch_dependents gdc_wait".split()
MATH = "abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi".split()


class Builtin:
    """A name that kernels call; .text is how the compiler knows it."""

    def __init__(self, text):
        self.text, self.__name__ = text, text.rsplit(".", 1)[-1]

    def __repr__(self):
        return f"<triton.language builtin {self.text}>"

    def __call__(self, *args, **named):
        raise RuntimeError(f"{self.text} is for kernels: call it in a function under @triton.jit")


# ---- Types -----------------------------------------------------------------------------------------------------------

_TYPES = {  # Triton's name: (fsc's, Triton's in signatures)
    "void": ("", "void"), "int1": ("i1", "i1"), "int8": ("i8", "i8"), "int16": ("i16", "i16"),
    "int32": ("i32", "i32"), "int64": ("i64", "i64"), "uint8": ("u8", "u8"), "uint16": ("u16", "u16"),
    "uint32": ("u32", "u32"), "uint64": ("u64", "u64"), "float8e5": ("fp8e5", "fp8e5"),
    "float8e5b16": ("", "fp8e5b16"), "float8e4nv": ("fp8e4nv", "fp8e4nv"), "float8e4b8": ("", "fp8e4b8"),
    "float8e4b15": ("", "fp8e4b15"), "float16": ("fp16", "fp16"), "bfloat16": ("bf16", "bf16"),
    "float32": ("fp32", "fp32"), "float64": ("fp64", "fp64"),
}
_CODES = {code: name for name, (_, code) in _TYPES.items()}


_FLOATS = {  # bits of the fraction, bias of the exponent
    "fp8e4b15": (3, 15), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8), "fp8e5": (2, 15), "fp8e5b16": (2, 16), "fp16": (10, 15),
    "bf16": (7, 127), "fp32": (23, 127), "fp64": (52, 1023)}


class dtype:
    """An element type: tl.float32, or tl.dtype("fp32")."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    def __init__(self, name):
        code = name if name in _CODES else _TYPES.get(name, ("", name))[1]
        if code not in _CODES:
            raise ValueError(f"there is no type {name!r} in triton.language")
        self.code, self._long = code, _CODES[code]  # fsc's name, Triton's
        self.name = code if code.startswith(("fp", "bf")) else self._long
        digits = "".join(c for c in self._long.split("e")[0] if c.isdigit())
        self.primitive_bitwidth = self.int_bitwidth = int(digits or 0)
        if code in _FLOATS:
            self.fp_mantissa_width, self.exponent_bias = _FLOATS[code]
        self.text = f"tl.{self._long}"

    scalar = property(lambda self: self)

    def is_floating(self):
        return self.code.startswith(("fp", "bf"))

    def is_int(self):
        return self.code.startswith(("i", "u"))

    def is_int_signed(self):
        return self.code.startswith("i") and self.code != "i1"

    def is_int_unsigned(self):
        return self.code.startswith("u")

    def is_fp8(self):
        return self.code.startswith("fp8")

    def is_standard_floating(self):
        return self.code in ("fp16", "bf16", "fp32", "fp64")

    def is_bool(self):
        return self.code == "i1"

    def is_ptr(self):
        return False

    def __eq__(self, other):
        return isinstance(other, dtype) and self.code == other.code

    def __hash__(self):
        return hash(self.code)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{self._long}"


class pointer_type:
    """A pointer to elements of a type."""

    def __init__(self, element_ty, address_space=1, const=False):
        self.element_ty, self.const = element_ty, const
        self.text, self.name = f"tl.pointer_type({element_ty.text})", f"pointer<{element_ty}>"

    def is_ptr(self):
        return True

    def __repr__(self):
        return self.name


def str_to_ty(name, _=None):
    """The type of a signature's word: "fp32", "*i8"."""
    return pointer_type(str_to_ty(name[1:])) if name.startswith("*") else dtype(name)


# ---- Values ----------------------------------------------------------------------------------------------------------


class constexpr:
    """A value known at compile time; outside of kernels it computes as the value does."""

    def __init__(self, value):
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __call__(self, *args, **named):
        return self.value(*args, **named)

    def __getitem__(self, index):
        return self.value[_plain(index)]


def _plain(value):
    return value.value if isinstance(value, constexpr) else value


def _add_operators():
    """The operators of a constexpr, each as the value's."""
    for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():
        apply = getattr(operator, f"__{name}__")
        setattr(constexpr, f"__{name}__", lambda x, y, f=apply: constexpr(f(x.value, _plain(y))))
        setattr(constexpr, f"__r{name}__", lambda x, y, f=apply: constexpr(f(_plain(y), x.value)))
    for name in "eq ne lt le gt ge".split():
        apply = getattr(operator, f"__{name}__")
        setattr(constexpr, f"__{name}__", lambda x, y, f=apply: f(x.value, _plain(y)))
    for name in "neg pos invert".split():
        setattr(constexpr, f"__{name}__", lambda x, f=getattr(operator, f"__{name}__"): constexpr(f(x.value)))


_add_operators()


class const:
    """The annotation of a pointer to what is only read."""


class tensor:
    """A tile; in kernels only, here for annotations and isinstance()."""


class tensor_descriptor(tensor):
    """A descriptor; likewise."""


class tuple(tuple):  # pylint: disable=redefined-builtin
    """A tuple, in a kernel and as an argument."""


# Classes that kernels name, as the compiler reads them.
WORDS = {constexpr: "tl.constexpr", const: "tl.const", tensor: "tl.tensor", dtype: "tl.dtype",
         pointer_type: "tl.pointer_type", tensor_descriptor: "tl.tensor_descriptor", tuple: "tl.tuple"}
globals().update((name, Builtin("tl." + name)) for name in BUILTINS)
globals().update((name, dtype(name)) for name in _TYPES)
globals().update((name, Builtin("tl." + name))
                 for name in ("block_type", "constexpr_type", "slice", "target_info", "bitonic_merge"))
pi32_t = pointer_type(globals()["int32"])
