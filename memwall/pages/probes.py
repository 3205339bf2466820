"""What probes of a machine measure, and what to look at where one falls short."""

#: What each probe measures, in words, and what to look at where it is far below what is promised.
CORES = ("the clock that cores hold under load (power limit, governor), how many cores a virtual"
         " machine or container really has, other work on this machine")
MEMORY = ("how many memory channels have modules and at which speed, NUMA nodes, what a virtual"
          " machine shares with others, other work on this machine")
DEVICE = "power limit, clocks, temperature and ECC (`nvidia-smi -q`), other work on the GPU"
BUS = ("generation and lanes of the link under load (`nvidia-smi -q`), the NUMA node that the"
       " memory is on, other traffic on the bus")
HOST_PROBES = {
    "read": ("read memory", MEMORY),
    "copy": ("copy memory", MEMORY),
    "triad": ("triad as STREAM counts", MEMORY),
    "fma_fp32": ("fp32 multiply-adds", CORES),
    "fma_fp64": ("fp64 multiply-adds", CORES),
}
GPU_PROBES = {
    "bus_to_device": ("bus to the GPU", BUS),
    "bus_to_host": ("bus to the host", BUS),
    "bus_both": ("bus both ways at once", BUS),
    "device_read": ("read GPU memory", DEVICE),
    "device_copy": ("copy GPU memory", DEVICE),
    "device_l2": ("read GPU L2", DEVICE),
    "device_fma_fp32": ("GPU fp32 multiply-adds", DEVICE),
    "device_fma_fp64": ("GPU fp64 multiply-adds", DEVICE),
}
PROBES = HOST_PROBES | GPU_PROBES


def words(probe: str) -> str:
    """What a probe measures, if that is known."""
    return PROBES[probe][0] if probe in PROBES else ""
