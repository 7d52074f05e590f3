"""_torch.py - a kernel as an operator of torch.library, for torch.compile, torch.export and autograd.

In: a kernel; which of its pointers are results. Out: the operator, with a schema made of the kernel's parameters and a
fake implementation that only makes the results.
"""
import sys

from ._arrays import MISSING
from ._library import OPEN, POINTER, SCALAR, ArgumentError, Error

_SCALARS = {"i1": "bool", "fp64": "float", "fp32": "float", "fp16": "float", "bf16": "float"}


def _scalar_type(p):
    return _SCALARS.get(p.dtype, "SymInt")


class _Plan:
    """Which parameter is what: tensors and scalars that must be given, scalars that may be,
    results that the operator makes."""

    def __init__(self, kernel, outputs):
        arguments = kernel._arguments
        self.kernel, self.outputs = kernel, dict(outputs or {})
        named = {p.name: p for p in arguments}
        for p in arguments:
            if p.kind == OPEN:
                raise ArgumentError(f"kernel {kernel.__name__}: the source says no type of {p.name}: "
                                    f"kernel.using({p.name}=\"*fp32\") does")
        for name, like in self.outputs.items():
            if name not in named or named[name].kind != POINTER or name not in kernel.writes():
                raise ArgumentError(f"kernel {kernel.__name__}: output '{name}' is no pointer that it writes; it "
                                    "writes "
                                    f"{', '.join(sorted(kernel.writes()))}")
            if not callable(like) and (like in self.outputs or like not in named or named[like].kind != POINTER):
                raise ArgumentError(f"kernel {kernel.__name__}: output '{name}' is to be like '{like}', which is no "
                                    "input tensor")
        self.required = [p for p in arguments if p.name not in self.outputs and
                         (p.kind == POINTER or not p.is_optional)]
        self.optional = [p for p in arguments if p.kind == SCALAR and p.is_optional]
        self.mutated = [p.name for p in self.required if p.name in kernel.writes()]

    def schema(self):
        words = []
        for p in self.required:
            alias = f"(a{self.mutated.index(p.name)}!)" if p.name in self.mutated else ""
            words.append(f"Tensor{alias} {p.name}" if p.kind == POINTER else f"{_scalar_type(p)} {p.name}")
        if self.optional:
            words.append("*")
        words += [f"{_scalar_type(p)}? {p.name}=None" for p in self.optional]
        results = ["Tensor"] * len(self.outputs)
        return f"({', '.join(words)}) -> " + (results[0] if len(results) == 1 else f"({', '.join(results)})")

    def by_name(self, args, named):
        values = {p.name: value for p, value in zip(self.required, args)}
        values.update(named)
        return values

    def make(self, values):
        """The results, empty."""
        torch = sys.modules["torch"]
        inputs = {p.name: values[p.name] for p in self.required}
        return {name: like(**inputs) if callable(like) else torch.empty_like(values[like])
                for name, like in self.outputs.items()}

    def result(self, made):
        made = tuple(made.values())
        return None if not made else made[0] if len(made) == 1 else made


def torch_op(kernel, outputs=None, name=None, grid=None):
    """Registers the kernel as an operator and gives it back. outputs: what the operator makes and returns, as a dict
    from a pointer's name to the tensor it is like, or to a function of the inputs; pointers that are written and not
    named there are arguments that the operator changes. name: "fsc::" and the kernel's. grid: for a kernel without a
    launch rule, numbers, or a function of the operator's arguments by name."""
    try:
        import torch
    except ImportError as error:
        raise Error("torch_op needs torch, which is not there: pip install torch") from error
    plan = _Plan(kernel, outputs)
    order = [p.name for p in kernel._arguments]

    def run(*args, **named):
        values = plan.by_name(args, named)
        made = plan.make(values)
        values.update(made)
        kernel(*[MISSING if values.get(n) is None else values[n] for n in order], grid=grid(**values) if callable(grid)
               else grid)
        return plan.result(made)

    def fake(*args, **named):
        return plan.result(plan.make(plan.by_name(args, named)))

    operator = torch.library.custom_op(name or f"fsc::{kernel.__name__}", run, mutates_args=plan.mutated,
                                       schema=plan.schema())
    operator.register_fake(fake)
    return operator
