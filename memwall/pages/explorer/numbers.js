"use strict";
/* Medians, intervals and numbers as a reader wants them: the same as `memwall/analysis/numerics.py`
 * and `memwall/record/notation.py`, which a test compares with this. */

const numbers = (() => {
    const LEVEL = 0.983;
    const TIMES = [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]];
    const ranks = new Map();

    /** The largest rank whose interval has at least the level, and the coverage of that interval. */
    function intervalRank(count) {
        if (ranks.has(count)) { return ranks.get(count); }
        let rank = 1;
        let way = 2 ** -count; // of fair coins: that so many fall heads as are below the rank
        let below = way;
        while (2 * (rank + 1) <= count) {
            way *= (count - rank + 1) / rank;
            if (1 - 2 * (below + way) < LEVEL) { break; }
            below += way;
            rank += 1;
        }
        const found = {rank, coverage: Math.max(0, 1 - 2 * below)};
        ranks.set(count, found);
        return found;
    }

    function ofSorted(ordered) {
        const half = ordered.length >> 1;
        return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
    }

    function sorted(samples) { return Float64Array.from(samples).sort(); }

    function median(samples) { return ofSorted(sorted(samples)); }

    /** The median with the interval between two order statistics. */
    function estimate(samples) {
        const ordered = sorted(samples);
        const {rank, coverage} = intervalRank(ordered.length);
        return {value: ofSorted(ordered), low: ordered[rank - 1],
            high: ordered[ordered.length - rank], coverage, rounds: ordered.length};
    }

    function ratios(above, below) {
        const count = Math.min(above.length, below.length);
        return Array.from({length: count}, (_, round) => above[round] / below[round]);
    }

    /** For each round the geometric mean over the points, as far as all of them have rounds. */
    function meanPerRound(points) {
        if (points.length === 1) { return points[0]; }
        const count = Math.min(...points.map(rounds => rounds.length));
        return Array.from({length: count}, (_, round) => Math.exp(
            points.reduce((sum, rounds) => sum + Math.log(rounds[round]), 0) / points.length));
    }

    // --- as a reader wants them -----------------------------------------------------------------

    function significant(value, digits = 3) {
        if (value === 0) { return "0"; }
        const rounded = Number(value.toExponential(digits - 1));
        const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
        return rounded.toFixed(Math.min(100, Math.max(0, decimals)));
    }

    /** A ratio: 0.0012, 0.87, 1.23, 12.3, 123. */
    function factor(value) {
        if (value > 0 && value < 0.01) { return significant(value, 2); }
        return value.toFixed(value < 0.1 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    }

    /** A number as it is written, its unit, and its interval where that does not round to it. */
    function withInterval(estimated, written, unit) {
        const decimals = (written.split(".")[1] ?? "").length;
        const [low, high] = [estimated.low, estimated.high].map(end => end.toFixed(decimals));
        const inside = low === written && high === written ? ""
            : ` (${low}–${high}${unit === " %" ? unit : ""})`;
        return written + unit + inside;
    }

    function scaled(estimated, by) {
        return {...estimated, value: estimated.value * by, low: estimated.low * by,
            high: estimated.high * by};
    }

    /** A speed-up: 1.23x (1.20–1.26). */
    function speedup(estimated) { return withInterval(estimated, factor(estimated.value), "x"); }

    function share(estimated) {
        const percent = scaled(estimated, 100);
        const digits = percent.value >= 9.95 ? 0 : 1;
        return withInterval(percent, percent.value.toFixed(digits), " %");
    }

    /** The unit that fits a time, in seconds, and its name. */
    function unitOf(seconds) {
        return TIMES.filter(([unit]) => seconds >= unit * (1 - 1e-9)).at(-1) ?? TIMES[0];
    }

    /** A time in the unit that fits it: 12.3 ms (12.1–12.6). */
    function time(estimated) {
        const [unit, name] = unitOf(estimated.value);
        const there = scaled(estimated, 1 / unit);
        return withInterval(there, significant(there.value), ` ${name}`);
    }

    function rate(estimated, unit) {
        return withInterval(estimated, significant(estimated.value), ` ${unit}`);
    }

    /** 1 round, 2 rounds. */
    function plural(count, noun) { return `${count} ${noun}${count === 1 ? "" : "s"}`; }

    return {LEVEL, estimate, factor, intervalRank, meanPerRound, median, plural, rate, ratios, share,
        significant, speedup, time, unitOf};
})();
