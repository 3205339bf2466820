"use strict";
/* Rows of marks in panels, and which of them may share an axis. */

const panels = (() => {
    const {COORDINATES, compare, grouped, unique} = runs;
    const {MEASURES, wordOf} = measured;
    const MOST_PANELS = 12;
    const MOST_ROWS = 80; // of a panel
    const MOST_SERIES = 12; // of a row

    // --- what may share an axis -----------------------------------------------------------------

    /** Why what is not alike is drawn apart, by what it differs in. */
    const APART = {
        cache: "Cold and warm caches are drawn apart: what lies in a cache is read many times"
            + " faster than memory. As a rule what is larger than a machine's last cache is measured"
            + " cold, all else warm.",
        definition: "Shares of ceilings of definition 1 and 2 are drawn apart: since 2 a ceiling is"
            + " the fastest look of a probe, before it was the middle of all, so the same speed is"
            + " another share.",
        data: "Other data under the same name is drawn apart: it is another input.",
        work: "Other work under the same name is drawn apart: its calls do more or less, so their"
            + " times are not compared.",
        profile: "Runs of another profile are drawn apart: their times are not compared, their"
            + " rates and ratios are.",
    };

    /** In what a row may differ from others that would stand on its axis. */
    function likeness(row, measure, firsts) {
        const {one, than} = row;
        const isFirst = (value, ...of) => {
            const known = of.join("\n");
            if (!firsts.has(known)) { firsts.set(known, value); }
            return firsts.get(known) === value;
        };
        const {input, precision, data} = one.point;
        const work = `${one.flops} ${one.bytes} ${one.operations}`;
        const caches = measure === "ratio" && than && than.cache !== one.cache
            ? `${one.cache} against ${than.cache} caches` : `${one.cache} caches`;
        const bounds = measure === "share" ? unique(runs.ceilings(one).map(([, , , d]) => d)) : [];
        const isTimed = measure === "time";
        return {
            cache: caches,
            definition: bounds.length ? `ceilings by definition ${bounds.join(" and ")}` : "",
            data: isFirst(data, input) ? "" : "other data under the same name",
            work: !isTimed || isFirst(work, input, one.variant, precision) ? ""
                : "other work under the same name",
            profile: isTimed ? `profile ${one.run.profile}` : "",
        };
    }

    // --- chart ----------------------------------------------------------------------------------

    /** What rows and panels may be, the first ones first: all but what is drawn apart. */
    const ROWS = ["input", "launched", "variant", "machine", "precision"];

    /** Groups of panels of rows of marks: what is alike shares an axis. */
    function layout(rows, view, lists, machines) {
        const shown = rows.filter(row => row.of(view.y));
        const firsts = new Map();
        const alike = grouped(shown, row => JSON.stringify(likeness(row, view.y, firsts)));
        const values = Object.fromEntries(Object.entries(COORDINATES).map(([name, {letter}]) =>
            [name, inOrder(unique(shown.map(row => row.at(name))), lists[letter])]));
        const others = ROWS.filter(name => name !== view.c);
        const along = others.includes(view.x) ? view.x
            : others.find(name => values[name].length > 1) ?? "input";
        const facets = others.filter(name => name !== along && values[name].length > 1);
        const series = values[view.c];
        // a machine keeps its colour and shape in all views
        const style = name => (view.c === "machine" ? machines : series).indexOf(name);
        const look = {series, style};
        const told = [...alike].map(([text, of]) => [JSON.parse(text), of]);
        const differs = Object.keys(APART).filter(name =>
            unique(told.map(([words]) => words[name])).length > 1);
        const all = told.flatMap(([words, of]) => {
            const parts = grouped(of, row => facets.map(name => row.at(name)).join(" · "));
            return [...parts].sort(([a], [b]) => compare(a, b))
                .map(([title, own], place) => ({words, title, own, place}));
        });
        // where not all fit the first ones of each group
        const drawn = new Set([...all].sort((a, b) => a.place - b.place).slice(0, MOST_PANELS));
        const groups = [...grouped([...drawn], one => one.words)].map(([words, some]) => ({
            heading: differs.map(name => words[name]).filter(Boolean).join(", "),
            panels: some.map(({title, own}) =>
                panel(title, own, along, values[along], look, view))}));
        return {groups, series, style, reasons: differs.map(name => APART[name]),
            left: all.length - drawn.size,
            rowsLeft: Math.max(0, ...groups.flatMap(group => group.panels.map(one => one.left)))};
    }

    function inOrder(some, all) { return all.filter(value => some.includes(value)); }

    function panel(title, rows, along, labels, look, view) {
        const at = grouped(rows, row => row.at(along));
        let names = labels.filter(label => at.has(label));
        if (view.sort.endsWith("value")) {
            const middle = label => at.get(label)[0].of(view.y).value;
            names.sort((a, b) => (view.sort[0] === "-" ? -1 : 1) * (middle(a) - middle(b)));
        }
        const drawn = names.slice(0, MOST_ROWS).map(label => ({label: label || "(no input)",
            marks: at.get(label).slice(0, MOST_SERIES).map(row => mark(row, look, view))
            .sort((a, b) => a.place - b.place)}));
        const mean = along === "input" && MEASURES[view.y].hasMean ? meanRow(rows, look, view)
            : null;
        return {title, rows: mean ? [mean, ...drawn] : drawn,
            left: names.length - drawn.length};
    }

    function isOpen(word, view) {
        return view.y === "ratio" && ["alike", "not told apart"].includes(word);
    }

    function mark(row, {series, style}, view) {
        const name = row.at(view.c);
        return {series: style(name), place: series.indexOf(name), estimated: row.of(view.y),
            isOpen: isOpen(row.word, view), words: () => wordsOf(row, view)};
    }

    /** The geometric mean in each round over the inputs that all series have. */
    function meanRow(rows, {series, style}, view) {
        const of = grouped(rows, row => row.at(view.c));
        const common = [...of.values()].map(own => new Set(own.map(row => row.one.point.input)))
            .reduce((all, own) => all.intersection ? all.intersection(own)
                : new Set([...all].filter(name => own.has(name))));
        if (common.size < 2) { return null; }
        const marks = [...of].slice(0, MOST_SERIES).map(([name, own]) => {
            const counted = own.filter(row => common.has(row.one.point.input));
            const estimated = numbers.estimate(numbers.meanPerRound(
                counted.map(row => row.rounds(view.y))));
            const noise = Math.max(...counted.map(row => row.noise));
            const said = MEASURES[view.y].text(estimated);
            return {series: style(name), place: series.indexOf(name), estimated,
                isOpen: isOpen(wordOf(estimated, noise), view),
                words: () => `${name}\nmean over ${common.size} inputs: ${said}`};
        }).sort((a, b) => a.place - b.place);
        return {label: `mean of ${common.size}`, marks, isMean: true};
    }

    function valueOf(row, measure) {
        if (measure === "ratio" && !row.of("ratio")) { return []; }
        if (measure !== "ratio") { return [`${MEASURES[measure].title}: ${row.text(measure)}`]; }
        const {than, over, noise, word} = row;
        return [`${row.text("ratio")} as fast as ${over}`,
            `${word}, noise floor ${numbers.factor(noise)}x`,
            `${over}: ${numbers.time(numbers.estimate(than.samples))}`];
    }

    function wordsOf(row, view) {
        const {one} = row;
        const {on, precision, input, launched} = one.point;
        const where = [input, precision, launched, `${one.cache} caches`].filter(Boolean).join(", ");
        const lines = [`${one.variant} on ${one.run.machine}`, where,
            ...unique([view.y, "time", "ratio"]).flatMap(name => valueOf(row, name))];
        lines.push(`${numbers.plural(row.of(view.y).rounds, "round")}, `
            + `${numbers.plural(on.threads, "thread")}, run of ${one.run.utc.slice(0, 10)}`);
        if (one.stale) { lines.push(`out of date: ${one.stale}`); }
        if (one.doubt) { lines.push(`doubtful: ${one.doubt}`); }
        return lines.join("\n");
    }

    return {MOST_SERIES, ROWS, layout};
})();
