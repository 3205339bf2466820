"use strict";
/* The table of cases, which sorts. */

const table = (() => {
    const {COORDINATES, compare, unique} = runs;
    const {MEASURES} = measured;
    const {button, made, tag} = page;
    const FIRST_ROWS = 50;

    /** Those that tell cases apart. */
    const TELLING = Object.entries(COORDINATES).map(([id, {name, of, told = of}]) =>
        ({id, title: name, of: row => told(row.one)}));

    const [ratio, ...others] = Object.entries(MEASURES).map(([id, {head, unit = ""}]) =>
        ({id, title: head, isNumber: true, of: row => row.text(id).replace(unit, ""),
            key: row => row.of(id)?.value ?? NaN}));

    const COLUMNS = [
        ...TELLING,
        ratio,
        {id: "than", title: "over", of: row => row.of("ratio") ? row.over : ""},
        {id: "word", title: "it is", of: row => row.word},
        ...others,
        {id: "notes", title: "notes", of: notesOf},
    ];

    function notesOf(row) {
        const {one} = row;
        const estimated = row.of("time");
        const notes = [];
        if (!one.taken.length) { notes.push("failed"); }
        if (estimated && estimated.coverage < numbers.LEVEL) {
            notes.push(`interval covers ${(100 * estimated.coverage).toFixed(1)} %,`
                + ` ${numbers.plural(estimated.rounds, "round")} allow no more`);
        }
        if (one.stale) { notes.push(`out of date: ${one.stale}`); }
        if (one.doubt) { notes.push(`doubtful: ${one.doubt}`); }
        return notes.join("; ");
    }

    /** Draws the rows of a view, the first ones or all; `change` changes the view. */
    function draw(rows, view, change, isWhole = false) {
        const by = view.sort.replace(/^-/, "");
        const id = by === "value" ? view.y : by;
        const column = COLUMNS.find(one => one.id === id);
        if (column) { rows = ordered(rows, column, view.sort[0] === "-"); }
        const few = isWhole ? rows : rows.slice(0, FIRST_ROWS);
        const columns = COLUMNS.filter(one => one.id === id || isTelling(one, rows, few));
        const focused = document.activeElement?.dataset?.sort;
        const head = made("tr", ...columns.map(one => headOf(one, id, view, change)));
        tag("table").replaceChildren(made("thead", head), made("tbody", ...few.map(row =>
            made("tr", ...columns.flatMap(one => cellsOf(one, row))))));
        if (focused) {
            [...tag("table").querySelectorAll("button")].find(one => one.dataset.sort === focused)
                ?.focus();
        }
        const alone = rows.filter(row => row.one.taken.length && !row.than).length;
        tag("table-note").textContent = numbers.plural(rows.length, "case")
            + (alone ? `, ${alone} without a speed-up: ${views.lackWords(view.o)}`
                : "");
        tag("more").onclick = () => draw(rows, view, change, true);
        tag("more").hidden = few.length === rows.length;
        tag("more").textContent = `Show all ${rows.length.toLocaleString("en")} cases`;
    }

    /** The cell of a text; of a number two, so that digits stand below digits. */
    function cellsOf(column, row) {
        const text = column.of(row);
        const cell = made("td", text);
        cell.className = column.id === "word" ? row.word : column.id;
        if (!column.isNumber) { return [cell]; }
        const at = text.indexOf(" (");
        const inside = made("td", at < 0 ? "" : text.slice(at + 1));
        cell.textContent = at < 0 ? text : text.slice(0, at);
        cell.className = "number";
        inside.className = "interval";
        return [cell, inside];
    }

    /** Whether a column tells cases apart, or tells a number at all. */
    function isTelling(column, rows, few) {
        return TELLING.includes(column) ? unique(rows.map(column.of)).length > 1
            : few.some(row => column.of(row));
    }

    function ordered(rows, column, isDown) {
        const key = column.key ?? column.of;
        const keyed = rows.map(row => [key(row), row]);
        const sign = isDown ? -1 : 1;
        keyed.sort(([a], [b]) => typeof a === "string"
            ? sign * compare(a, b)
            : (Number.isNaN(a) - Number.isNaN(b)) || sign * (a - b));
        return keyed.map(([, row]) => row);
    }

    function headOf(column, id, view, change) {
        const isDown = view.sort[0] === "-";
        const way = column.id === id ? (isDown ? " ▼" : " ▲") : "";
        const sorts = button(column.title + way, () => {
            const name = column.id === view.y ? "value" : column.id;
            const first = column.isNumber && column.id !== "time" ? "-" : "";
            const again = first ? "" : "-";
            change({sort: (view.sort === first + name ? again : first) + name}, true);
        });
        sorts.dataset.sort = column.id;
        const cell = made("th", sorts);
        cell.scope = "col";
        if (way) { cell.ariaSort = isDown ? "descending" : "ascending"; }
        if (column.isNumber) { cell.colSpan = 2; cell.className = "number"; }
        return cell;
    }

    /** What all rows have in common, in words. */
    function commonOf(rows) {
        const common = TELLING.filter(one => unique(rows.map(one.of)).length === 1)
            .map(one => one.of(rows[0]) + (one.id === "cache" ? " caches" : "")).filter(Boolean);
        return common.length ? `Throughout: ${common.join(", ")}` : "";
    }

    return {commonOf, draw};
})();
