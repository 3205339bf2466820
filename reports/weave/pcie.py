"""What a link of PCI Express carries at most, by generation and lanes."""

#: Bits that a lane carries in a second, and the part of them that is data: the base specifications,
#: since 6.0 with flits of 256 bytes.
LANE_RATES = {1: (2.5e9, 8 / 10), 2: (5e9, 8 / 10), 3: (8e9, 128 / 130), 4: (16e9, 128 / 130),
              5: (32e9, 128 / 130), 6: (64e9, 236 / 256)}
GENERATIONS = tuple(LANE_RATES)
LANES = (1, 2, 4, 8, 16)


def bus_rate(generation: int, lanes: int) -> float:
    """Bytes of data in one direction, per second."""
    bits, data = LANE_RATES[generation]
    return bits / 8 * data * lanes
