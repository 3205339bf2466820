"use strict";
/* A view: what an address asks for, what there is to choose from, and what a claim compares. */

const views = (() => {
    const {COORDINATES, compare, grouped, unique} = runs;
    const {MEASURES} = measured;
    const ONE = ["e", "r", "s", "y", "o", "x", "c", "q", "sort"];
    const MANY = Object.values(COORDINATES).map(({letter}) => letter);
    const COLOURED = ["machine", "variant"]; // what may have a colour for each
    const MOST_LETTERS = 200;

    function parsed(address) {
        const asked = new URLSearchParams(address.replace(/^#/, ""));
        const view = {};
        for (const name of ONE) { view[name] = (asked.get(name) ?? "").slice(0, MOST_LETTERS); }
        for (const name of MANY) { view[name] = asked.getAll(name); }
        return view;
    }

    function written(view) {
        const said = new URLSearchParams();
        for (const name of ONE) { if (view[name]) { said.set(name, view[name]); } }
        for (const name of MANY) {
            for (const value of view[name]) { said.append(name, value); }
        }
        return `#${said}`;
    }

    /** What there is to choose from, in the runs and the study that are chosen. */
    function choices(data, view) {
        const titles = unique(data.runs.map(run => run.title)).sort();
        const title = titles.includes(view.r) ? view.r : titles[0];
        const ofTitle = data.runs.filter(run => run.title === title);
        const studies = unique(ofTitle.flatMap(run => run.cases.map(one => one.point.study)));
        const study = studies.includes(view.s) ? view.s : studies[0];
        const cases = ofTitle.flatMap(run => run.cases.filter(one => one.point.study === study));
        const groups = grouped(cases, one => one.group);
        const several = [...groups].filter(([, of]) => unique(of.map(one => one.variant)).length > 1)
            .map(([group]) => runs.BEST + group);
        const lists = Object.fromEntries(Object.values(COORDINATES).map(({letter, of, asFound}) => {
            const values = unique(cases.map(of));
            return [letter, asFound ? values : values.sort(compare)];
        }));
        const isScaled = cases.some(one => one.taken.length
            && ![null, one].includes(runs.rival(one, runs.ALONE)));
        const over = [...several, ...lists.v, ...isScaled ? [runs.ALONE] : []];
        return {titles, title, studies, study, cases, over, lists, groups: groupsOf(cases)};
    }

    /** Of variants the group, in words; none where all have the same, which tells nothing. */
    function groupsOf(cases) {
        const named = new Map(cases.map(one => [one.variant, one.group]));
        if (unique([...named.values()]).length < 2) { return new Map(); }
        return new Map([...named].map(([variant, group]) =>
            [variant, group === "peer" ? "A library." : `Group ${group}.`]));
    }

    /** The data of an experiment, in which claims have the views that they are: those that have. */
    function claimed(data) {
        const claims = data.claims.map(claim => ({...claim, view: viewOfClaim(data, claim)}));
        return {...data, claims: claims.filter(claim => claim.view)};
    }

    /** A claim of an experiment as a view; null if nothing here was compared so. */
    function viewOfClaim(data, claim) {
        const {study, matrix, precision, threads, ranks} = claim.where; // null: not narrowed
        const studies = study ?? unique(data.runs.flatMap(run =>
            run.points.map(point => point.study)));
        for (const s of studies) {
            const {cases, over, lists, title} = choices(data, {r: "", s});
            const [v, o] = [claim.faster.find(name => lists.v.includes(name)),
                claim.than.find(name => over.includes(name))];
            if (!v || !o || cases[0].point.study !== s) { continue; }
            const fits = cases.filter(one => isIn(matrix, one.point.input)
                && isIn(precision, one.point.precision) && ["threads", "ranks"].every(name =>
                isIn(claim.where[name], one.point.on[name], one.run.most[name])));
            if (!fits.length) { continue; }
            const l = unique(fits.map(one => one.point.launched));
            const known = (wanted, all) => wanted?.filter(value => all.includes(value)) ?? [];
            return {r: title, s, v: [v], o, p: known(precision, lists.p), i: known(matrix, lists.i),
                l: (threads || ranks) && l.length < lists.l.length ? l : []};
        }
        return null;
    }

    /** The claim that is told on most inputs of machines, of several the first one. */
    function viewOfMost(data) {
        const told = view => unique(narrowed(choices(data, view).cases, {...parsed(""), ...view})
            .filter(one => one.taken.length && runs.rival(one, view.o))
            .map(one => `${one.run.machine} ${one.point.input}`));
        return data.claims.map(({view}) => [told(view).length, view])
            .reduce((best, one) => one[0] > best[0] ? one : best, [0, null])[1];
    }

    /** Whether a view compares what a claim does. */
    function isView(view, claim) {
        return Object.entries(claim.view).every(([name, asked]) =>
            String(asked) === String(view[name]));
    }

    function isIn(wanted, value, most) {
        return !wanted || wanted.includes(value) || (wanted.includes("max") && value === most);
    }

    /** The view with what its address leaves open; what it names and is not here goes, with a line
     * that says so. */
    function settled(view, data) {
        const isBare = !view.v.length && !view.o && !view.s && !view.r;
        const first = isBare && viewOfMost(data);
        const asked = {...view, ...first};
        const found = choices(data, asked);
        const unknown = [];
        const known = (name, value, all, other) => {
            if (all.includes(value)) { return value; }
            if (value) { unknown.push(value); }
            return other;
        };
        asked.r = known("r", asked.r, found.titles, found.title);
        asked.s = known("s", asked.s, found.studies, found.study);
        asked.o = known("o", asked.o, found.over, found.over[0]);
        for (const [name, all] of Object.entries(found.lists)) {
            const here = asked[name].filter(value => all.includes(value));
            unknown.push(...asked[name].filter(value => value && !all.includes(value)));
            asked[name] = here.length || !asked[name].includes("") ? here : [""];
        }
        const shown = narrowed(found.cases, asked);
        const measures = Object.keys(MEASURES).filter(name =>
            name === "ratio" || shown.some(one => one.taken.length && MEASURES[name].rounds(one)));
        const usual = isBare && !first ? ["gbps", "time"] : ["ratio"];
        asked.y = known("y", asked.y, measures, usual.find(name => measures.includes(name)));
        asked.c = COLOURED.includes(asked.c) ? asked.c : COLOURED.find(name =>
            unique(shown.map(COORDINATES[name].of)).length > 1) ?? COLOURED[0];
        return {view: asked, found, shown, measures, unknown};
    }

    /** The cases that a view leaves. */
    function narrowed(cases, view) {
        const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
        const lists = Object.values(COORDINATES).map(({letter, of}) => [of, new Set(view[letter])]);
        return cases.filter(one => {
            const text = lists.map(([of]) => of(one)).join(" ").toLowerCase();
            return lists.every(([of, wanted]) => !wanted.size || wanted.has(of(one)))
                && words.every(word => text.includes(word));
        });
    }

    /** What variants are compared with, in words. */
    function overWords(over) {
        if (over === runs.ALONE) { return "itself on one thread"; }
        const group = over.startsWith(runs.BEST) && over.slice(runs.BEST.length);
        return group === "peer" ? "the best library" : group ? `the best of the group ${group}` : over;
    }

    /** Why a case has nothing to be compared with, in words. */
    function lackWords(over) {
        return over === runs.ALONE ? "it was not timed on one thread, or does other work there"
            : `${overWords(over)} was not timed there`;
    }

    /** What to choose where nothing that is chosen has a ratio, in words. */
    function adviceWords(over) {
        return over === runs.ALONE
            ? "Nothing that is chosen was timed on more threads than one, and on one with the same"
                + " work: choose other variants or threads, or another one to compare with."
            : `Nothing that is chosen was timed at a common point with ${overWords(over)}, or it is`
                + " that itself: choose other variants, or another one to compare with.";
    }

    return {COLOURED, adviceWords, claimed, isView, lackWords, overWords, parsed, settled, written};
})();
