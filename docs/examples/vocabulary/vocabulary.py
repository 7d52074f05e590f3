"""vocabulary.py - softmax and cross-entropy of rows whose columns are shared out to processes, one on each GPU.

torchrun --nproc-per-node=2 vocabulary.py [ROWS COLUMNS [ROUNDS]]

In: nothing. Out: how far a process's losses and probabilities are from float64, and the time of a round; exit status 0
if near. Without a GPU the processes have the CPU, and gloo instead of NCCL.
"""
import os
import sys
import time

import torch
import torch.distributed as dist

import fsc

kernels = fsc.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vocabulary.dsl"))


def cross_entropy(x, target, first):
    """Losses of all rows, and the probabilities of this process's columns, which begin at `first`."""
    rows = x.shape[0]
    sums = torch.empty(3, rows, device=x.device)
    every = torch.empty(dist.get_world_size(), 3, rows, device=x.device)
    loss, whole, y = torch.empty(rows, device=x.device), torch.empty(2, rows, device=x.device), torch.empty_like(x)
    kernels.slice_sums(sums, x, target, first)
    dist.all_gather_into_tensor(every.view(-1), sums.view(-1))  # on the stream that the kernels are on
    kernels.whole_rows(loss, whole, every)
    kernels.slice_softmax(y, x, whole)
    return loss, y


def main(rows=61, columns=1003, rounds=1):
    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    rank, n = dist.get_rank(), dist.get_world_size()
    device = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if has_gpu else "cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    first, end = columns * rank // n, columns * (rank + 1) // n
    torch.manual_seed(1)
    checked = min(rows, 64)  # these rows are known to all processes
    known, target = torch.randn(checked, columns) * 3, torch.randint(columns, (rows,), dtype=torch.int32)
    x = torch.randn(rows, end - first, device=device)
    x[:checked] = known[:, first:end].to(device)
    target = target.to(device)

    loss, y = cross_entropy(x, target, first)
    start = time.perf_counter()
    for _ in range(rounds):
        loss, y = cross_entropy(x, target, first)
    if has_gpu:
        torch.cuda.synchronize()
    each = (time.perf_counter() - start) / rounds

    exact = known.double()
    want = torch.nn.functional.cross_entropy(exact, target[:checked].cpu().long(), reduction="none")
    wants = torch.softmax(exact, 1)[:, first:end]
    far = max(((loss[:checked].cpu() - want) / want).abs().max(),
              ((y[:checked].cpu() - wants) / wants).abs().max()).item()
    print(f"process {rank} of {n} on {device}: {rows} x {end - first}, within {far:.1e} of float64"
          + (f", {each * 1e3:.3f} ms a round" if rounds > 1 else ""), flush=True)
    dist.destroy_process_group()
    return 0 if far < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
