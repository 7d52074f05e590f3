"""Types of what stands in for Triton; docs/how-to/from-triton.md says what each does."""
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union, overload

from .. import Error as TritonError
from .. import SourceError as CompilationError
from . import language as language
from . import testing as testing
from .language import constexpr as constexpr

_T = TypeVar("_T")
_Grid = Union[int, Sequence[int], Callable[[Dict[str, Any]], Union[int, Sequence[int]]]]

knobs: ModuleType
runtime: ModuleType
compiler: ModuleType
tools: ModuleType
backends: ModuleType
errors: ModuleType

class CompiledKernel:
    asm: Mapping[str, Any]
    n_regs: int
    n_spills: int
    n_max_threads: int
    name: str
    metadata: Any
    def __getitem__(self, grid: _Grid) -> Callable[..., None]: ...

class KernelInterface:
    def __getitem__(self, grid: _Grid) -> Callable[..., CompiledKernel]: ...
    def warmup(self, *args: Any, grid: _Grid = ..., **named: Any) -> CompiledKernel: ...
    def run(self, *args: Any, grid: _Grid, warmup: bool = ..., **named: Any) -> CompiledKernel: ...

class JITFunction(KernelInterface):
    fn: Callable[..., Any]
    arg_names: List[str]
    params: List[Any]
    src: str
    cache_key: str
    def __init__(self, fn: Callable[..., Any], **options: Any) -> None: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def add_pre_run_hook(self, hook: Callable[..., None]) -> None: ...

class Autotuner(JITFunction):
    configs: List[Config]
    best_config: Optional[Config]

class Heuristics(JITFunction):
    values: Dict[str, Callable[[Dict[str, Any]], Any]]

class Config:
    kwargs: Dict[str, Any]
    num_warps: int
    num_stages: int
    num_ctas: int
    def __init__(self, kwargs: Mapping[str, Any], num_warps: int = ..., num_stages: int = ..., num_ctas: int = ...,
                 maxnreg: Optional[int] = ..., pre_hook: Optional[Callable[..., None]] = ..., ir_override: Any = ...,
                 **others: Any) -> None: ...
    def all_kwargs(self) -> Dict[str, Any]: ...

class TensorDescriptor:
    base: Any
    shape: List[int]
    strides: List[int]
    block_shape: List[int]
    padding: str
    def __init__(self, base: Any, shape: Sequence[int], strides: Sequence[int], block_shape: Sequence[int],
                 padding: str = ..., round_f32_to_tf32: bool = ...) -> None: ...
    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], padding: str = ...,
                    round_f32_to_tf32: bool = ...) -> TensorDescriptor: ...

class TensorWrapper:
    base: Any
    dtype: language.dtype

class ConstexprFunction: ...
class OutOfResources(TritonError): ...
class InterpreterError(TritonError): ...

@overload
def jit(fn: Callable[..., Any]) -> JITFunction: ...
@overload
def jit(fn: None = ..., **options: Any) -> Callable[[Callable[..., Any]], JITFunction]: ...
def autotune(configs: Sequence[Config], key: Sequence[str], prune_configs_by: Optional[Mapping[str, Any]] = ...,
             reset_to_zero: Optional[Sequence[str]] = ..., restore_value: Optional[Sequence[str]] = ...,
             pre_hook: Optional[Callable[..., None]] = ..., post_hook: Optional[Callable[..., None]] = ...,
             warmup: Optional[int] = ..., rep: Optional[int] = ..., use_cuda_graph: bool = ...,
             do_bench: Optional[Callable[..., Any]] = ...,
             cache_results: bool = ...) -> Callable[[KernelInterface], Autotuner]: ...
def heuristics(values: Mapping[str, Callable[[Dict[str, Any]], Any]]) -> Callable[[KernelInterface], Heuristics]: ...
def constexpr_function(fn: _T) -> _T: ...
def must_use_result(fn: Any, *rest: Any) -> Any: ...
def cdiv(x: int, y: int) -> int: ...
def next_power_of_2(n: int) -> int: ...
def reinterpret(array: Any, dtype: language.dtype) -> Any: ...
def set_allocator(allocator: Any) -> None: ...
def install(device: Optional[str] = ..., check: bool = ...) -> None: ...
