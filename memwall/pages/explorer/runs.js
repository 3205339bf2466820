"use strict";
/* Runs as the data scripts hold them, unfolded to cases; and what two cases are compared by. */

const runs = (() => {
    const MOST_APART = 1 / 10; // as in `memwall/record/disturbances.py`
    const BEST = "best of "; // and a group: whichever of it is fastest at a point
    const ALONE = "one thread"; // the same variant on one thread, of one rank

    /** What tells the cases of a study apart: its letter in an address, its names, its value, and
     * how a table tells that if otherwise; what is listed `asFound` has an order of its own, and
     * values may have something said `about` them. */
    const COORDINATES = {
        variant: {letter: "v", name: "variant", title: "Variants", asFound: true,
            of: one => one.variant},
        machine: {letter: "m", name: "machine", title: "Machines", of: one => one.run.machine},
        input: {letter: "i", name: "input", title: "Inputs", asFound: true,
            of: one => one.point.input},
        precision: {letter: "p", name: "precision", title: "Precisions",
            of: one => one.point.precision},
        launched: {letter: "l", name: "threads", title: "Threads", of: one => one.point.launched,
            told: ({point}) => point.launched.replace("all", `all ${point.on.threads}`)},
        cache: {letter: "w", name: "caches", title: "Caches", of: one => one.cache,
            about: {cold: "No call finds an operand in a cache.",
                warm: "A call finds in caches what the call before left there."}},
    };

    /** The JSON value that was deflated and written in base64. */
    async function unpacked(text) {
        const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        return JSON.parse(await new Response(stream).text());
    }

    /** Every case of an experiment's runs, with what it shares with others of its run. */
    function unfolded(told) {
        for (const run of told.runs) {
            run.most = Object.fromEntries(["threads", "ranks"].map(name =>
                [name, Math.max(...run.points.map(point => point.on[name]))]));
        }
        const hasRanks = told.runs.some(run => run.most.ranks > 1);
        for (const run of told.runs) {
            run.points.forEach(point => describe(point, run.most, hasRanks));
            run.cases = unfoldedRun(run);
            run.timed = new Map(run.cases.filter(one => one.taken.length)
                .map(one => [key(one.variant, one.point), one]));
        }
        return told;
    }

    function key(variant, point) { return `${variant}\n${point.key}`; }

    function keyOf(coordinates) { return JSON.stringify(Object.entries(coordinates).sort()); }

    /** What is said of a point: its input, its precision, and where it ran. */
    function describe(point, most, hasRanks) {
        const {study, precision, ...inputs} = point.at;
        point.study = study;
        point.key = keyOf({...point.at, ...point.on});
        point.alone = keyOf({...point.at, ...point.on, threads: 1, ranks: 1});
        point.precision = precision ?? "";
        point.input = Object.entries(inputs).map(([name, value]) => typeof value === "string"
            ? value : `${name}=${value}`).join(" ");
        point.launched = launched(point.on, most, hasRanks);
    }

    /** `all threads`, `4 ranks, 1 thread`: machines have as many as they have. */
    function launched({threads, ranks, ...axes}, most, hasRanks) {
        const words = threads > 1 && threads === most.threads ? "all threads"
            : numbers.plural(threads, "thread");
        const others = Object.entries(axes).map(([name, value]) => `${name}=${value}`);
        return [...(hasRanks ? [numbers.plural(ranks, "rank")] : []), words, ...others].join(", ");
    }

    function unfoldedRun(run) {
        const columns = run.cases;
        let at = 0;
        return columns.kind.map((kind, number) => {
            const [variant, group, target, cache] = run.kinds[kind];
            const [flops, bytes, operations] = run.works[columns.work[number]];
            const point = run.points[columns.point[number]];
            const coded = columns.samples.slice(at, at += columns.count[number]);
            const taken = coded.map((one, round) => Number(
                `${round ? coded[0] + one : one}e${columns.exponent[number]}`));
            return {run, point, variant, group, target, cache, flops, bytes, operations, taken,
                samples: taken.filter((_, round) => !point.out.includes(round)),
                disturbed: taken.length ? columns.disturbed[number] / taken.length : 0,
                bounded: columns.bounded[number] === 1,
                doubt: plain(run.doubtful[number]), stale: plain(run.stale[variant])};
        });
    }

    /** A text without the marks of Markdown's code. */
    function plain(text = "") { return text.replaceAll("`", ""); }

    /** The case of the same run that a case is compared with: of another variant at the same
     * point, of one name or of a group the one with the lowest median; or of the same variant on
     * one thread. */
    function rival(one, over) {
        if (over === ALONE) { return alone(one); }
        if (!over.startsWith(BEST)) { return one.run.timed.get(key(over, one.point)) ?? null; }
        return fastest(one.run, over.slice(BEST.length)).get(one.point.key) ?? null;
    }

    /** The case of the same variant on one thread; null where that does more or less in a call, as
     * a probe whose threads have work of their own: the ratio of times would be none of speeds. */
    function alone(one) {
        const than = one.run.timed.get(key(one.variant, {key: one.point.alone}));
        const isAlike = than && ["flops", "bytes", "operations"].every(work =>
            than[work] === one[work]);
        return isAlike ? than : null;
    }

    /** By their keys the points of a run, each with the fastest case of a group. */
    function fastest(run, group) {
        run.fastest ??= new Map();
        if (!run.fastest.has(group)) {
            const members = new Set(run.cases.filter(one => one.group === group)
                .map(one => one.variant));
            const best = new Map();
            for (const one of run.timed.values()) {
                if (!members.has(one.variant)) { continue; }
                const middle = numbers.median(one.samples);
                const known = best.get(one.point.key);
                if (!known || middle < known.middle) { best.set(one.point.key, {middle, one}); }
            }
            run.fastest.set(group, new Map([...best].map(([where, {one}]) => [where, one])));
        }
        return run.fastest.get(group);
    }

    /** How many times as fast a case is as another one, in each round: of those that count, or of
     * all where one of both was disturbed much oftener. */
    function speedups(one, than) {
        const isApart = Math.abs(one.disturbed - than.disturbed) >= MOST_APART;
        return numbers.ratios(isApart ? than.taken : than.samples, isApart ? one.taken : one.samples);
    }

    /** What two runs of the same code differ by where these cases ran: at least 1. */
    function noise(...cases) {
        return Math.max(1, ...cases.map(one => one.run.noise[
            `${one.point.launch} ${one.target} ${one.point.study}`] ?? 1));
    }

    /** What bounds a case; empty where nothing does. */
    function ceilings(one) {
        return one.bounded ? one.run.ceilings[`${one.point.launch} ${one.target}`] ?? [] : [];
    }

    /** Seconds that the ceilings allow: of several the longest. */
    function bound(one) {
        return Math.max(...ceilings(one).map(([, movesBytes, perSecond]) =>
            (movesBytes ? one.bytes : one.flops) / perSecond));
    }

    // --- lists of anything ------------------------------------------------------------------------

    /** Orders texts, and numbers in them by their values. */
    const {compare} = new Intl.Collator("en", {numeric: true});

    function unique(values) { return [...new Set(values)]; }

    function grouped(values, by) {
        const found = new Map();
        for (const value of values) {
            const name = by(value);
            if (!found.has(name)) { found.set(name, []); }
            found.get(name).push(value);
        }
        return found;
    }

    return {ALONE, BEST, COORDINATES, bound, ceilings, compare, grouped, noise, rival, speedups,
        unfolded, unique, unpacked};
})();
