"use strict";
/* Cases as rows: what is measured of them, each computed when it is asked for. */

const measured = (() => {
    const ALIKE = [0.95, 1.05]; // as in `memwall/analysis/verdicts.py`

    /** What can be shown of a case: its names in a list and above a column, its rounds, and how a
     * value is written, without the unit in a column that has it above. */
    const MEASURES = {
        ratio: {title: "times as fast", head: "speed-up", isLog: true,
            hasMean: true, reference: 1,
            rounds: (one, than) => than && than !== one ? runs.speedups(one, than) : null,
            text: numbers.speedup, tick: value => `${Number(value.toPrecision(3))}x`},
        time: {title: "time of a call", head: "time", isLog: true, rounds: one => one.samples,
            text: numbers.time, tick: tickOfTime},
        gbps: rateOf("GB/s", "bytes"),
        gflops: rateOf("GFLOP/s", "flops"),
        gops: rateOf("G/s", "operations", "billion operations/s"),
        share: {title: "part of the ceiling", head: "of ceiling", hasMean: true,
            text: numbers.share,
            rounds: one => {
                const least = runs.ceilings(one).length ? runs.bound(one) : 0;
                return least > 0 ? one.samples.map(seconds => least / seconds) : null;
            },
            tick: value => `${Math.round(100 * value)} %`},
    };

    function rateOf(unit, work, title = unit) {
        return {title, head: title, unit: ` ${unit}`, isLog: true, hasMean: true,
            text: one => numbers.rate(one, unit),
            rounds: one => one[work] ? one.samples.map(seconds => one[work] / 1e9 / seconds) : null,
            tick: value => `${Number(value.toPrecision(3))}`};
    }

    function tickOfTime(seconds) {
        const [unit, name] = numbers.unitOf(seconds);
        return `${Number((seconds / unit).toPrecision(3))} ${name}`;
    }

    /** A case, what it is compared with, and its values, each computed when it is asked for. */
    class Row {
        constructor(one, over) {
            this.one = one;
            this.than = one.taken.length ? runs.rival(one, over) : null;
            this.kept = {};
        }

        rounds(measure) {
            if (!this.one.taken.length) { return null; }
            return MEASURES[measure].rounds(this.one, this.than);
        }

        of(measure) {
            if (!(measure in this.kept)) {
                const rounds = this.rounds(measure);
                this.kept[measure] = rounds?.length ? numbers.estimate(rounds) : null;
            }
            return this.kept[measure];
        }

        text(measure) {
            const estimated = this.of(measure);
            return estimated ? MEASURES[measure].text(estimated) : "";
        }

        get noise() { return this.than ? runs.noise(this.one, this.than) : 1; }

        /** What it is compared with, in words. */
        get over() {
            const {variant, point} = this.than;
            return point.key === this.one.point.key ? variant : `${variant} on ${point.launched}`;
        }

        get word() { return this.of("ratio") ? wordOf(this.of("ratio"), this.noise) : ""; }

        /** Its value of a coordinate. */
        at(name) { return runs.COORDINATES[name].of(this.one); }
    }

    function wordOf({low, high}, noise) {
        if (low > noise) { return "faster"; }
        if (high < 1 / noise) { return "slower"; }
        return low >= ALIKE[0] && high <= ALIKE[1] ? "alike" : "not told apart";
    }

    return {MEASURES, Row, wordOf};
})();
