"""copies.py - what a kernel is measured against: the same bytes moved,
by the driver's copy or by a kernel with the same mix.

In: a case. Out: launch(i), and in words what it is. `copy` of a kernel that reads one matrix and writes one is the
driver's copy, also of as many bytes in all where what is written has 8 bits. Of another mix it is the CUDA kernel of
moves.cu, or where there is no nvcc torch's addition (two reads, one write). On the CPU it is moves.c, on all cores;
where 8 bits are written there is none.
"""
from cases import EIGHT_BITS, SIZES
from machine import NotFor, Skip
from peers import cpu_rows, cuda_rows


def driver_copy(case):
    copies = {}
    rows = case.bytes // (2 * case.n * SIZES[case.dtype])  # half of the bytes are read

    def launch(i):
        if i not in copies:
            source, to = case.sets[i][case.sources()[0]], case.sets[i][case.kernel.outputs[0]]
            if case.kernel.writes == EIGHT_BITS:
                source = case.machine.first_rows(source, rows)
                to = case.machine.array(source.shape, source.dtype)
            copies[i] = case.machine.copy(to, source)
        copies[i]()

    return launch


def torch_add(case):
    if case.machine.torch is None or (case.kernel.reads, case.kernel.writes) != (2, 1):
        raise Skip("nothing here moves this mix")
    names = (*case.kernel.inputs, *case.kernel.outputs)

    def launch(i):
        a, b, out = (case.sets[i][name].tensor for name in names)
        case.machine.torch.add(a, b, out=out)

    return launch


def copy(case):
    if not case.machine.is_gpu:
        return cpu_rows.move(case)
    if (case.kernel.reads, case.kernel.writes) in ((1, 1), (1, EIGHT_BITS)):
        return driver_copy(case)
    try:
        return cuda_rows.move(case)
    except Skip:
        return torch_add(case)


def copy_kernel(case):
    """The same by a kernel: beside the driver's copy it says what a kernel can reach."""
    if (case.kernel.reads, case.kernel.writes) != (1, 1):
        raise NotFor("it is `copy` itself")
    return cuda_rows.move(case)


PEERS = {"copy": copy, "copy_kernel": copy_kernel}
