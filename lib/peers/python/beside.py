#!/usr/bin/env python3
"""Softmax and attention of libraries for Python beside ours, in one process on the GPU here.

usage: beside.py softmax|attention LIBRARY... [--rounds N] [--only PATTERN] [--ours] [--json FILE]

LIBRARY is `libmemwall-c.so`, which `ninja -C build lib/peers/libmemwall-c.so` makes; of several the
first is ours, the others are other builds of it to compare with. PyTorch is needed; Triton, Liger,
Quack and FlashInfer are asked where they can be imported, else the reason is told. Each writes over
NaN and is compared with a result in double precision first; who is wrong is left out. Then all take
turns in shuffled rounds: a call starts with the caches flushed, and its time is what passes between
two events. Lines have medians with 95 % intervals: softmax in per cent of the faster of two copies,
a kernel's and `cudaMemcpy`'s, attention in bytes of its cache a second.
"""

import argparse
import ctypes
import importlib.metadata
import json
import math
import random
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import torch
import triton
import triton.language as tl

Call = Callable[[], object]
Makers = dict[str, Callable[[], Call]]
Times = dict[str, list[float]]
Shape = TypeVar("Shape")

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
         "fp64": torch.float64}
#: What rounding to a type may cost, and sums of floats.
UNITS = {"fp32": 2e-5, "bf16": 2**-7, "fp16": 2**-10, "fp64": 1e-13}
COLUMNS = (32, 128, 1000, 1001, 4096, 16384, 32768, 50257, 65536, 128256, 131072, 151936, 262144)
SOFTMAX_BYTES = 512 << 20
#: Of a cache: sequences, and words of each.
CACHES = ((1, 32768), (1, 131072), (16, 1024), (16, 2048), (16, 8192))
HEADS, SHARED, SIZE = 64, 8, 128
FLUSHED = 128 << 20  # floats
OURS = re.compile("copy|ours|build")
#: Clocks that the device waits before each timed call, so that launching costs no time there.
AHEAD = 600_000


class Memwall:
    """A build of `memwall_c.cpp`."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(str(Path(path).resolve()))
        for name in ("softmax", "copy", "attention"):
            getattr(self.library, f"memwall_{name}").restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> Call:
        """What puts work into PyTorch's stream, and raises what it is told."""
        function = getattr(self.library, f"memwall_{name}")
        passed = [one if isinstance(one, bytes) else ctypes.c_void_p(one.data_ptr())
                  if isinstance(one, torch.Tensor) else ctypes.c_int64(one) for one in arguments]
        passed.append(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

        def call() -> None:
            told = function(*passed)
            if told is not None:
                raise RuntimeError(told.decode())

        return call


def builds(libraries: list[Memwall], name: str, *arguments: Any) -> Makers:
    """Ours, and other builds of it."""
    return {f"build {i}" if i else "ours": partial(library.call, name, *arguments)
            for i, library in enumerate(libraries)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("softmax", "attention"))
    parser.add_argument("library", nargs="+")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", default="", help="cases in whose name this pattern is found")
    parser.add_argument("--ours", action="store_true", help="without other libraries")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    libraries = [Memwall(path) for path in asked.library]
    random.seed(1)
    torch.manual_seed(1)
    versions()
    measured = {}
    cases = {"softmax": softmax_cases, "attention": attention_cases}[asked.what](libraries)
    for name, prepare in cases:
        if re.search(asked.only, name):
            case = prepare()
            if asked.ours:
                case.makers = {who: of for who, of in case.makers.items() if OURS.match(who)}
            times = timed(made(name, case), asked.rounds)
            measured[name] = {"bytes": case.bytes_moved, "seconds": times}
            print(line(asked.what, name, case.bytes_moved, times), flush=True)
            del case
            torch.cuda.empty_cache()
    if asked.json:
        asked.json.write_text(json.dumps(measured, indent=1))


def versions() -> None:
    print("GPU:", torch.cuda.get_device_name(), "CUDA:", torch.version.cuda)
    for name in ("torch", "triton", "liger-kernel", "quack-kernels", "flashinfer-python"):
        try:
            print(f"{name}: {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: none")


@dataclass
class Case:
    """What is computed, by whom, and where most of them put it."""

    bytes_moved: int
    result: torch.Tensor
    is_right: Callable[[torch.Tensor], bool]
    makers: Makers


Cases = Iterator[tuple[str, Callable[[], Case]]]


# --- softmax -------------------------------------------------------------------------------------

def softmax_cases(libraries: list[Memwall]) -> Cases:
    """Widths and types."""
    for precision in TYPES:
        for columns in COLUMNS:
            yield f"{precision} {columns}", partial(softmax_case, libraries, precision, columns)


def softmax_case(libraries: list[Memwall], precision: str, columns: int) -> Case:
    dtype = TYPES[precision]
    rows = SOFTMAX_BYTES // dtype.itemsize // columns
    x = torch.randn(rows, columns, device="cuda", dtype=torch.float32).mul_(3).to(dtype)
    y = torch.empty_like(x)
    expected = torch.softmax(x.double(), dim=1)
    bound = UNITS[precision] * expected + 6e-8

    def is_right(found: torch.Tensor) -> bool:
        return bool(((found.double() - expected).abs() <= bound).all())

    return Case(2 * x.numel() * x.itemsize, y, is_right,
                softmax_makers(libraries, precision, x, y))


def softmax_makers(libraries: list[Memwall], precision: str, x: torch.Tensor,
                   y: torch.Tensor) -> Makers:
    bytes_of_copy = x.numel() * x.itemsize
    makers: Makers = {"copy": lambda: lambda: y.copy_(x),
                      "copy kernel": partial(libraries[0].call, "copy", x, y, bytes_of_copy),
                      **builds(libraries, "softmax", precision.encode(), x, y, *x.shape),
                      "PyTorch": lambda: lambda: torch.softmax(x, dim=1, out=y),
                      "torch.compile": partial(compiled_softmax, x)}
    if precision != "fp64":
        makers |= {"Triton": partial(triton_softmax, x, y), "Liger": partial(liger_softmax, x),
                   "Quack": partial(quack_softmax, x)}
    return makers


def compiled_softmax(x: torch.Tensor) -> Call:
    torch._dynamo.reset()
    function = torch.compile(lambda x: torch.softmax(x, dim=1), mode="max-autotune-no-cudagraphs",
                             dynamic=False)
    return lambda: function(x)


@triton.jit
def softmax_row(x, y, columns, block: tl.constexpr):
    """One program for each row, which it keeps."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    here = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    power = tl.exp(here - tl.max(here, 0))
    tl.store(y + row * columns + at, power / tl.sum(power, 0), mask=at < columns)


def triton_softmax(x: torch.Tensor, y: torch.Tensor) -> Call:
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    if block > 65536:
        raise RuntimeError("a program keeps no row of more than 65,536")

    def with_warps(warps: int) -> Call:
        return lambda: softmax_row[(rows,)](x, y, columns, block=block, num_warps=warps)

    return fastest(with_warps, (1, 2, 4, 8, 16, 32))


def liger_softmax(x: torch.Tensor) -> Call:
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return lambda: LigerSoftmaxFunction.apply(x)


def quack_softmax(x: torch.Tensor) -> Call:
    from quack.softmax import softmax

    return lambda: softmax(x)


# --- attention -----------------------------------------------------------------------------------

def attention_cases(libraries: list[Memwall]) -> Cases:
    """Caches."""
    for batch, words in CACHES:
        yield f"{batch}x{words}", partial(attention_case, libraries, batch, words)


def attention_case(libraries: list[Memwall], batch: int, words: int) -> Case:
    query = torch.randn(batch, HEADS, 1, SIZE, device="cuda").bfloat16()
    kept = torch.randn(2, batch, SHARED, words, SIZE, device="cuda").bfloat16()
    result = torch.empty_like(query)
    expected = attention_in_double(query, kept)

    def is_right(found: torch.Tensor) -> bool:
        error = (found.double().reshape(expected.shape) - expected).abs().max()
        return bool(error <= 0.02 * expected.abs().max())

    return Case(kept.numel() * kept.itemsize, result, is_right,
                attention_makers(libraries, query, kept, result))


def attention_in_double(query: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
    batch, heads, _, size = query.shape
    keys, values = cache
    rows = []
    for b in range(batch):
        grouped = query[b].reshape(SHARED, heads // SHARED, size).double()
        weights = torch.softmax(grouped @ keys[b].double().transpose(1, 2) / math.sqrt(size), -1)
        rows.append((weights @ values[b].double()).reshape(heads, size))
    return torch.stack(rows)


def attention_makers(libraries: list[Memwall], query: torch.Tensor, cache: torch.Tensor,
                     result: torch.Tensor) -> Makers:
    batch, words = query.shape[0], cache.shape[3]
    keys, values = cache
    makers = builds(libraries, "attention", batch, HEADS, SHARED, words, query, keys, values,
                    result)
    for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION"):
        makers[f"PyTorch {backend.split('_')[0].lower()}"] = partial(
            torch_attention, backend, query, keys, values)
    makers["Triton"] = partial(triton_attention, query, cache, result)
    for cores in ("plain", "tensor"):
        makers[f"FlashInfer, {cores} cores"] = partial(flashinfer_attention, query, cache, cores)
    return makers


def torch_attention(backend: str, query: torch.Tensor, keys: torch.Tensor,
                    values: torch.Tensor) -> Call:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    chosen = getattr(SDPBackend, backend)

    def call() -> torch.Tensor:
        with sdpa_kernel(chosen):
            return torch.nn.functional.scaled_dot_product_attention(
                query, keys, values, enable_gqa=True)

    return call


@triton.jit
def attention_part(query, keys, values, sums, found, words, per_part, scale,
                   size: tl.constexpr, group: tl.constexpr, block: tl.constexpr):
    """The words of one part of a sequence, for the heads of the query that share a head."""
    head, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    parts = tl.num_programs(1)
    of_query, of_size = tl.arange(0, 16), tl.arange(0, size)
    there = of_query < group
    q = tl.load(query + (head * group + of_query[:, None]) * size + of_size[None, :],
                mask=there[:, None], other=0.0)
    largest = tl.full([16], -float("inf"), tl.float32)
    total = tl.zeros([16], tl.float32)
    result = tl.zeros([16, size], tl.float32)
    end = tl.minimum(words, (part + 1) * per_part)
    for begin in range(part * per_part, end, block):
        word = begin + tl.arange(0, block)
        here = word < end
        at = (head * words + word[:, None]) * size + of_size[None, :]
        k = tl.load(keys + at, mask=here[:, None], other=0.0)
        score = tl.where(here[None, :], tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        larger = tl.maximum(largest, tl.max(score, 1))
        power = tl.exp2(score - larger[:, None])
        factor = tl.exp2(largest - larger)
        total = total * factor + tl.sum(power, 1)
        v = tl.load(values + at, mask=here[:, None], other=0.0)
        result = result * factor[:, None] + tl.dot(power.to(v.dtype), v)
        largest = larger
    row = (head * group + of_query) * parts + part
    tl.store(sums + row * 2, largest, mask=there)
    tl.store(sums + row * 2 + 1, total, mask=there)
    tl.store(found + row[:, None] * size + of_size[None, :], result, mask=there[:, None])


@triton.jit
def attention_merge(sums, found, result, parts, size: tl.constexpr,
                    most: tl.constexpr):
    """The parts of one head of the query, put together."""
    head = tl.program_id(0).to(tl.int64)
    of_part, of_size = tl.arange(0, most), tl.arange(0, size)
    row = head * parts + of_part
    there = of_part < parts
    largest = tl.load(sums + row * 2, mask=there, other=-float("inf"))
    total = tl.load(sums + row * 2 + 1, mask=there, other=0.0)
    factor = tl.exp2(largest - tl.max(largest, 0))
    part = tl.load(found + row[:, None] * size + of_size[None, :], mask=there[:, None], other=0.0)
    whole = tl.sum(part * factor[:, None], 0) / tl.sum(total * factor, 0)
    tl.store(result + head * size + of_size, whole)


def triton_attention(query: torch.Tensor, cache: torch.Tensor, result: torch.Tensor) -> Call:
    """Split over the sequence, then merged (Dao et al., "Flash-Decoding", 2023): the fastest of
    some numbers of parts, sizes of a block and of its pipeline."""
    batch, words = query.shape[0], cache.shape[3]
    keys, values = cache
    group = HEADS // SHARED
    scale = 1 / math.sqrt(SIZE) / math.log(2)
    all_heads = batch * SHARED
    multiprocessors = torch.cuda.get_device_properties().multi_processor_count

    def with_shape(shape: tuple[int, int, int]) -> Call:
        waves, block, stages = shape
        wanted = max(1, waves * multiprocessors // all_heads)
        per_part = math.ceil(math.ceil(words / wanted) / block) * block
        parts = math.ceil(words / per_part)
        sums = torch.empty(batch * HEADS, parts, 2, device="cuda")
        found = torch.empty(batch * HEADS, parts, SIZE, device="cuda")

        def call() -> None:
            attention_part[(all_heads, parts)](
                query, keys, values, sums, found, words, per_part, scale, size=SIZE, group=group,
                block=block, num_warps=4, num_stages=stages)
            attention_merge[(batch * HEADS,)](
                sums, found, result, parts, size=SIZE, most=triton.next_power_of_2(parts))

        return call

    return fastest(with_shape, [(waves, block, stages) for waves in (1, 2, 4)
                                for block in (64, 128) for stages in (2, 3)])


def flashinfer_attention(query: torch.Tensor, cache: torch.Tensor, cores: str) -> Call:
    """The cache in pages of 64 words, as a server has it, which follow each other."""
    import flashinfer

    batch, words, page = query.shape[0], cache.shape[3], 64
    pages = words // page
    # pages, keys and values, heads, words, elements: a copy in the order that suits it
    paged = (cache.reshape(2, batch, SHARED, pages, page, SIZE).permute(1, 3, 0, 2, 4, 5)
             .reshape(batch * pages, 2, SHARED, page, SIZE).contiguous())
    room = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(room, "HND",
                                                            use_tensor_cores=cores == "tensor")
    wrapper.plan(torch.arange(batch + 1, dtype=torch.int32, device="cuda") * pages,
                 torch.arange(batch * pages, dtype=torch.int32, device="cuda"),
                 torch.full((batch,), page, dtype=torch.int32, device="cuda"),
                 HEADS, SHARED, SIZE, page, q_data_type=torch.bfloat16,
                 kv_data_type=torch.bfloat16)
    flat = query.reshape(batch, HEADS, SIZE)
    return lambda: wrapper.run(flat, paged)


# --- measuring -----------------------------------------------------------------------------------

def fastest(make: Callable[[Shape], Call], shapes: Iterable[Shape]) -> Call:
    """The fastest call of some shapes; those that cannot be had are left out."""
    best, least, reason = None, math.inf, "none can be launched"
    for shape in shapes:
        try:
            call = make(shape)
            call()
            took = statistics.median(once(call) for _ in range(5))
        except Exception as error:
            reason = str(error).splitlines()[0]
            continue
        if took < least:
            best, least = call, took
    if best is None:
        raise RuntimeError(reason)
    return best


def made(name: str, case: Case) -> dict[str, Call]:
    """Those calls that can be had and whose results are right; why others are missing is told."""
    calls = {}
    for who, maker in case.makers.items():
        try:
            call = maker()
            case.result.fill_(math.nan)  # what was there before counts for nobody
            found = call()
            torch.cuda.synchronize()
        except Exception as error:
            first = (str(error).splitlines() or [""])[0]
            print(f"  {name}: {who}: {type(error).__name__}: {first[:150]}", file=sys.stderr)
            continue
        if who.startswith("copy"):
            is_right = not bool(case.result.isnan().any())
        else:
            is_right = case.is_right(found if isinstance(found, torch.Tensor) else case.result)
        if is_right:
            calls[who] = call
        else:
            print(f"  {name}: {who}: wrong", file=sys.stderr)
        del found
    return calls


@cache
def flushed() -> torch.Tensor:
    return torch.zeros(FLUSHED, device="cuda")


def once(call: Call) -> float:
    """Seconds of one call. The caches are flushed by reading: what is written there would have to
    be written back while the call is timed."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flushed().sum()
    torch.cuda._sleep(AHEAD)
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def timed(calls: dict[str, Call], rounds: int) -> Times:
    """Seconds of each call in each round; their order is shuffled in each."""
    times: Times = {who: [] for who in calls}
    for call in calls.values():
        once(call)
    for _ in range(rounds):
        for who in random.sample(list(calls), len(calls)):
            times[who].append(once(calls[who]))
    return times


def interval(times: list[float]) -> tuple[float, float, float]:
    """Median of some times and the ends of its 95 % interval, by ranks."""
    ordered, count = sorted(times), len(times)
    away = math.ceil(0.98 * math.sqrt(count))
    middle = count // 2
    return (statistics.median(ordered), ordered[max(0, middle - away)],
            ordered[min(count - 1, middle + away)])


def line(what: str, name: str, moved: int, times: Times) -> str:
    """A row of a table: shares of the faster copy, or GB/s."""
    cells = []
    copies = [statistics.median(times[who]) for who in times if who.startswith("copy")]
    for who, seconds in times.items():
        middle, least, most = interval(seconds)
        if what == "softmax":
            base, unit = 100 * min(copies), ""
        else:
            base, unit = moved / 1e9, " GB/s"
        cells.append(f"{who} {base / middle:.1f} ({base / most:.1f}-{base / least:.1f}){unit}"
                     f" {1e6 * middle:.1f} us")
    return f"{name} | " + " | ".join(cells)


if __name__ == "__main__":
    main()
