"use strict";
/* The explorer: it loads what a view needs, shows it, and lets the reader change the view, which is
 * the address of the page. */

const explorer = (() => {
    const {COORDINATES, grouped, unique} = runs;
    const {MEASURES, Row} = measured;
    const {button, made, tag} = page;
    const RESTS_MS = 150; // between two letters of a filter
    const OF_LAUNCHES = "One thread and more were timed by processes of their own, one after the other,"
        + " which took no turns: the first round of one is divided by the first round of the other, and so"
        + " on, as in reports. So the interval tells how much rounds differ within a process,"
        + " not what changed from one to the other.";

    // --- data -----------------------------------------------------------------------------------

    let index = null;
    const awaited = new Map(); // names of experiments and who waits for their data
    const loaded = new Map();

    /** The data of an experiment, which its script hands over. */
    function load(name) {
        if (!loaded.has(name)) {
            loaded.set(name, new Promise((resolve, reject) => {
                awaited.set(name, resolve);
                const script = document.createElement("script");
                script.src = `data-${name}.js`;
                script.addEventListener("error", () => {
                    loaded.delete(name);
                    reject(new Error(`data-${name}.js cannot be read`));
                });
                document.head.append(script);
            }).then(runs.unpacked).then(runs.unfolded).then(views.claimed));
        }
        return loaded.get(name);
    }

    function receive(name, text) { awaited.get(name)?.(text); }

    function open(told) {
        index = told;
        fill(tag("e"), index.experiments.map(({name, title}) => [name, title]));
        fill(tag("c"), views.COLOURED.map(name => [name, COORDINATES[name].name]));
        fill(tag("x"), [["", "as fits"], ...panels.ROWS.map(name =>
            [name, COORDINATES[name].title.toLowerCase()])]);
        tag("lists").append(...Object.values(COORDINATES).map(({letter}) => {
            const part = made("details");
            part.id = letter;
            return part;
        }));
        show();
    }

    /** What is said behind the name of a machine that did not come with the tree. */
    function remarkOn(name) {
        const machine = index.machines.find(one => one.name === name);
        return machine?.committed === false ? " (not committed)" : "";
    }

    /** Goes to a view; one that differs little takes the place of the one before. */
    function go(view, isSmall = false) {
        location[isSmall ? "replace" : "assign"](views.written(view));
    }

    /** Goes to the present view with one part changed. */
    function change(part, isSmall = false) { go({...present, ...part}, isSmall); }

    // --- chart ----------------------------------------------------------------------------------

    function tell(mark, x, y) {
        const box = tag("pointed");
        box.textContent = mark ? mark.words() : "";
        if (!mark) { return; }
        const {width, height} = box.getBoundingClientRect();
        box.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
        box.style.top = `${y + 14 + height < innerHeight ? y + 14 : Math.max(8, y - height - 14)}px`;
    }

    function drawChart(rows, view, lists) {
        const measure = MEASURES[view.y];
        const told = panels.layout(rows, view, lists, index.machines.map(one => one.name));
        tag("chart-title").textContent = titleOf(view);
        tag("legend").replaceChildren(...told.series.slice(0, panels.MOST_SERIES).map(name =>
            made("li", chart.key(told.style(name)), ` ${name}${remarkOn(name)}`)));
        chart.draw(tag("chart"), told.groups, {isLog: Boolean(measure.isLog), label: measure.tick,
            reference: measure.reference}, tell);
        const notes = [...told.reasons];
        if (!told.groups.length) {
            notes.push(view.y === "ratio" && rows.length ? views.adviceWords(view.o)
                : "Nothing is chosen, or nothing that is chosen was measured.");
        } else {
            notes.push("A mark is a median, its line the interval."
                + (view.y === "ratio" ? " Hollow: alike, or not told apart from noise." : "")
                + " An arrow: the interval goes on.");
            if (view.y === "ratio" && view.o === runs.ALONE) { notes.push(OF_LAUNCHES); }
        }
        if (told.left) {
            notes.push(`${numbers.plural(told.left, "more panel")} not drawn: narrow what is chosen,`
                + " or choose other rows.");
        }
        if (told.rowsLeft) {
            notes.push(`${numbers.plural(told.rowsLeft, "more row")} not drawn: the table has all.`);
        }
        if (told.series.length > panels.MOST_SERIES) {
            notes.push(`Of ${told.series.length} ${COORDINATES[view.c].title.toLowerCase()}`
                + ` the first ${panels.MOST_SERIES} are drawn on each row: choose fewer.`);
        }
        tag("chart-note").textContent = notes.join(" ");
    }

    function titleOf(view) {
        const who = view.v.length === 1 && view.v[0] ? view.v[0] : "each variant";
        return {ratio: `How many times as fast as ${views.overWords(view.o)} is ${who}?`,
            time: `How long does a call of ${who} take?`,
            share: `Which part of its ceiling does ${who} reach?`}[view.y]
            ?? `How many ${MEASURES[view.y].title} does ${who} reach?`;
    }

    // --- runs -----------------------------------------------------------------------------------

    function drawRuns(shown, view) {
        tag("runs").replaceChildren(...unique(shown.map(one => one.run)).map(run => {
            const {name, is} = index.machines.find(one => one.name === run.machine);
            const part = made("details", made("summary", `${name}${remarkOn(name)}: ${is}`),
                made("p", `Measured ${run.utc.slice(0, 10)}, profile ${run.profile},`
                    + ` ${run.compiler}. Noise floors ${noiseOf(run, view.s)}.`));
            const skipped = run.skipped.filter(([study]) => study === view.s);
            if (skipped.length) {
                part.append(made("p", "Not measured:"), made("ul", ...skipped.map(
                    ([, variant, reason, count]) => made("li", `${variant || "every variant"} at `
                        + `${numbers.plural(count, "point")}: ${reason}`))));
            }
            return part;
        }));
    }

    function noiseOf(run, study) {
        const all = Object.entries(run.noise).filter(([where]) => where.endsWith(` ${study}`))
            .map(([, floor]) => floor);
        const ends = unique([Math.min(...all), Math.max(...all)].map(numbers.factor));
        return all.length ? `${ends.join("x to ")}x` : "unknown";
    }

    // --- controls -------------------------------------------------------------------------------

    /** The options of a select, each `[value, text]`; left as they are if they are the same. */
    function fill(select, options, groups = () => "") {
        const said = JSON.stringify(options);
        if (select.dataset.said === said) { return; }
        select.dataset.said = said;
        const parts = grouped(options, groups);
        select.replaceChildren(...[...parts].flatMap(([label, of]) => {
            const own = of.map(([value, text]) => new Option(text, value));
            if (!label) { return own; }
            const part = made("optgroup", ...own);
            part.label = label;
            return [part];
        }));
    }

    /** A list of which several can be chosen; none chosen by hand means all. */
    function list({letter, title}, all, chosen, about) {
        const part = tag(letter);
        const said = JSON.stringify(all.map(value => [value, about[value]]));
        if (part.dataset.said !== said) {
            part.dataset.said = said;
            const buttons = made("p", button("all", () => change({[letter]: []})),
                button("none", () => change({[letter]: [""]})));
            const boxes = made("fieldset", made("legend", title), ...all.map(value => {
                const box = made("input");
                box.type = "checkbox";
                box.value = value;
                box.addEventListener("change", () => {
                    const on = [...boxes.querySelectorAll("input:checked")].map(one => one.value);
                    change({[letter]: on.length === all.length ? [] : on.length ? on : [""]});
                });
                return made("label", box, ` ${value || "none"}`,
                    ...about[value] ? [made("small", about[value])] : []);
            }));
            part.replaceChildren(made("summary"), buttons, boxes);
        }
        const few = chosen.filter(Boolean);
        part.querySelector("summary").textContent = `${title}: ${!chosen.length
            ? all.length === 1 ? all[0] || "none" : `all ${all.length}`
            : few.length === 1 ? few[0] : `${few.length} of ${all.length}`}`;
        for (const box of part.querySelectorAll("input")) {
            box.checked = !chosen.length || chosen.includes(box.value);
        }
        part.hidden = all.length < 2;
    }

    function drawControls(data, {view, found, measures}) {
        tag("e").value = view.e;
        fill(tag("r"), found.titles.map(title => [title, title || "complete runs"]));
        fill(tag("s"), found.studies.map(study => [study, study]));
        fill(tag("o"), found.over.map(name => [name, views.overWords(name)]),
            ([name]) => name === runs.ALONE ? "the same variant"
                : name.startsWith(runs.BEST) ? "the fastest of a group" : "a variant");
        fill(tag("y"), measures.map(name => [name, MEASURES[name].title]));
        fill(tag("claim"), [["", "choose one"], ...data.claims.map((claim, number) =>
            [String(number), claim.short || claim.says])]);
        tag("claim").value = String(data.claims.findIndex(claim => views.isView(view, claim)));
        if (!tag("claim").value) { tag("claim").value = ""; }
        const claim = data.claims[tag("claim").value];
        tag("claimed").textContent = claim ? `Claim: ${claim.says}` : "";
        for (const name of ["r", "s", "o", "y", "c", "x"]) { tag(name).value = view[name]; }
        if (tag("q").value !== view.q) { tag("q").value = view.q; }
        tag("r").closest("label").hidden = found.titles.length < 2;
        tag("s").closest("label").hidden = found.studies.length < 2;
        tag("claim").closest("label").hidden = !data.claims.length;
        const excerpts = Object.assign({}, ...data.runs.map(run => run.excerpts));
        const abouts = Object.fromEntries(found.lists.v.map(name =>
            [name, [found.groups.get(name), excerpts[name]].filter(Boolean).join(" ")]));
        const machines = Object.fromEntries(index.machines.map(one =>
            [one.name, one.is + remarkOn(one.name)]));
        for (const [name, coordinate] of Object.entries(COORDINATES)) {
            const {letter, about = {}} = coordinate;
            list(coordinate, found.lists[letter], view[letter],
                {variant: abouts, machine: machines}[name] ?? about);
        }
    }

    // --- all together ---------------------------------------------------------------------------

    let asked = 0;
    let present = null; // the view that is shown
    let redraw = () => {};

    async function show() {
        const turn = asked += 1;
        const view = views.parsed(location.hash);
        const names = index.experiments.map(one => one.name);
        const unknown = view.e && !names.includes(view.e) ? [view.e] : [];
        if (!names.length) { complain("There are no results here."); return; }
        if (!names.includes(view.e)) { view.e = mostRun(); }
        let data;
        try {
            data = await load(view.e);
        } catch (error) {
            complain(`The data of ${view.e} cannot be shown: ${error.message}`);
            return;
        }
        if (turn !== asked) { return; } // meanwhile another view was asked for
        const all = views.settled(view, data);
        complain([...unknown, ...all.unknown].length
            ? `Not in these results, and left out: ${[...unknown, ...all.unknown].join(", ")}` : "");
        drawControls(data, all);
        const about = index.experiments.find(one => one.name === view.e);
        tag("question").textContent = about.question;
        document.title = `${titleOf(all.view)} Explorer`;
        const rows = all.shown.map(one => new Row(one, all.view.o));
        redraw = () => drawChart(rows, all.view, all.found.lists);
        redraw();
        tag("common").textContent = table.commonOf(rows);
        table.draw(rows, all.view, change);
        drawRuns(all.shown, all.view);
        present = all.view;
        document.documentElement.dataset.shown = views.written(all.view);
    }

    function mostRun() {
        return index.experiments.reduce((a, b) => b.runs > a.runs ? b : a).name;
    }

    function complain(text) {
        tag("problem").textContent = text;
        tag("problem").hidden = !text;
    }

    function listen() {
        tag("controls").addEventListener("submit", event => event.preventDefault());
        tag("e").addEventListener("change", () => go({...views.parsed(""), e: tag("e").value}));
        for (const name of ["r", "s"]) {
            tag(name).addEventListener("change", () => change({[name]: tag(name).value, i: [], l: [],
                p: [], m: [], ...(name === "s" ? {v: [], o: ""} : {})}));
        }
        for (const name of ["y", "o", "c", "x"]) {
            tag(name).addEventListener("change", () => change({[name]: tag(name).value}));
        }
        tag("claim").addEventListener("change", async () => {
            const {claims} = await load(present.e);
            const claim = claims[tag("claim").value];
            if (claim) { go({...views.parsed(""), ...claim.view, e: present.e}); }
        });
        let waiting = 0;
        tag("q").addEventListener("input", () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => change({q: tag("q").value}, true), RESTS_MS);
        });
        addEventListener("hashchange", show);
        addEventListener("resize", () => redraw());
        addEventListener("scroll", () => tell(null), {passive: true});
    }

    // on a phone what an address shows comes first
    tag("choices").open = !matchMedia("(max-width: 40rem)").matches;
    listen();
    return {load, open, receive};
})();
