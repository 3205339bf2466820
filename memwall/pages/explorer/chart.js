"use strict";
/* Dots with intervals, in panels of rows: plain SVG. By hand: the page is read from
   a folder, without a server or a network, and carries no library. */

const chart = (() => {
    const {made} = page;
    const SVG = "http://www.w3.org/2000/svg";
    const COLOURS = 8;
    const SHAPES = ["M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z", "M-3.6 -3.6H3.6V3.6H-3.6Z",
        "M0 -5L5 0L0 5L-5 0Z", "M0 -4.6L4.8 3.8H-4.8Z"];
    const LETTER = 7.2; // pixels, of a label
    const TICK = 55; // pixels, at least, from one to the next
    const NARROWEST = 400; // pixels, of one of several panels beside each other
    const GAP = 20;
    const HIGH = 500; // pixels, of a panel whose numbers stand above it, too
    const ROOM = 1.3; // times the furthest median, at least, for what intervals need beyond it
    const REACH = 28; // pixels from a mark at which it is meant

    function element(name, attributes = {}, ...children) {
        const part = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(attributes)) { part.setAttribute(key, value); }
        part.append(...children);
        return part;
    }

    /** The mark of a series: a colour and a shape. */
    function symbol(series) {
        const shape = SHAPES[(series + Math.floor(series / COLOURS)) % SHAPES.length];
        return element("path", {d: shape, class: "mark"});
    }

    function colour(series) { return `series-${series % COLOURS}`; }

    /** A symbol by itself, for a legend. */
    function key(series) {
        return element("svg", {width: 14, height: 14, viewBox: "-7 -7 14 14",
            class: colour(series), "aria-hidden": "true"}, symbol(series));
    }

    /** From and to, so that the medians of some panels are inside; an interval that is much wider
     * than they are apart would press them together, and is cut off. */
    function domain(panels, scale) {
        const estimates = panels.flatMap(panel => panel.rows.flatMap(row =>
            row.marks.map(mark => mark.estimated))).filter(({value}) => value > 0);
        const least = pick => estimates.reduce((end, one) => Math.min(end, pick(one)), Infinity);
        const most = pick => estimates.reduce((end, one) => Math.max(end, pick(one)), 0);
        const values = [...scale.reference ? [scale.reference] : [], least(one => one.value),
            most(one => one.value)];
        const [low, high] = [Math.min(...values), Math.max(...values)];
        if (!scale.isLog) { return [0, 1.04 * Math.min(most(one => one.high), ROOM * high)]; }
        const room = Math.max(ROOM, (high / low) ** 0.5);
        const ends = [Math.max(Math.min(low, least(one => one.low)), low / room),
            Math.min(Math.max(high, most(one => one.high)), high * room)];
        const margin = Math.max(1.03, (ends[1] / ends[0]) ** 0.04);
        return [ends[0] / margin, ends[1] * margin];
    }

    /** Round numbers between two ends, some of them. */
    function ticks([low, high], isLog, most) {
        if (isLog && high / low > 6) {
            const decades = Math.log10(high / low);
            const steps = [[1, 2, 5], [1, 3]].find(some => some.length * decades <= most) ?? [1];
            const every = Math.max(1, Math.ceil(decades / most));
            const found = [];
            for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
                if (power % every) { continue; }
                found.push(...steps.map(step => step * 10 ** power));
            }
            return found.filter(tick => tick >= low && tick <= high);
        }
        const rough = (high - low) / most;
        const unit = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map(one => one * unit).find(one => one >= rough);
        const found = [];
        for (let count = Math.ceil(low / step); count * step <= high; count += 1) {
            found.push(count * step);
        }
        return found;
    }

    /** The end of an interval that goes on beyond the panel. */
    function arrow(x, y, way) {
        return element("path", {d: `M${x} ${y - 4}L${x + 6 * way} ${y}L${x} ${y + 4}Z`,
            class: "beyond"});
    }

    function shortened(text, letters) {
        return text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text;
    }

    /** Draws groups of panels into an element. Panels of a group share their axis. `tell` is called
     * with a mark that is pointed at and where it is, or with null. */
    function draw(into, groups, scale, tell) {
        const room = into.clientWidth;
        into.replaceChildren(...groups.map(group => {
            const count = Math.max(1, Math.min(3, group.panels.length,
                Math.floor((room + GAP) / (NARROWEST + GAP))));
            const width = Math.floor((room - GAP * (count - 1)) / count);
            const ends = domain(group.panels, scale);
            const longest = Math.max(3, ...group.panels.flatMap(panel =>
                panel.rows.map(row => row.label.length)));
            const left = Math.min(width * 0.4, longest * LETTER + 14);
            const grid = made("div", ...group.panels.map(panel =>
                drawn(panel, {width, left, ends}, scale, tell)));
            grid.className = "panels";
            const part = made("div", ...group.heading ? [made("h3", group.heading)] : [], grid);
            part.className = "group";
            return part;
        }));
    }

    function drawn(panel, {width, left, ends}, scale, tell) {
        const right = 12;
        const place = value => {
            const part = scale.isLog ? Math.log(value / ends[0]) / Math.log(ends[1] / ends[0])
                : (value - ends[0]) / (ends[1] - ends[0]);
            return left + Math.min(1, Math.max(0, part)) * (width - left - right);
        };
        const heights = panel.rows.map(row => Math.max(22, 8 + 9 * row.marks.length));
        const isHigh = heights.reduce((sum, height) => sum + height, 0) > HIGH;
        const begin = isHigh ? 20 : 4;
        const bottom = heights.reduce((sum, height) => sum + height, begin);
        const svg = element("svg", {width, height: bottom + 24, tabindex: 0, role: "img",
            "aria-label": `${panel.title || "Chart"}: ${numbers.plural(panel.rows.length, "row")}, `
                + "arrow keys walk from mark to mark"});
        let top = begin;
        panel.rows.forEach((row, number) => {
            const height = heights[number];
            if (number % 2 === 0) {
                svg.append(element("rect", {x: 0, y: top, width, height, class: "stripe"}));
            }
            top += height;
        });
        let free = -Infinity; // where the next number has room: those of a logarithmic axis crowd
        for (const tick of ticks(ends, scale.isLog, Math.max(2, (width - left) / TICK))) {
            const x = place(tick);
            svg.append(element("line", {x1: x, x2: x, y1: begin - 4, y2: bottom, class: "tick"}));
            const half = scale.label(tick).length * LETTER / 2;
            if (x - half < free) { continue; }
            free = x + half + LETTER;
            svg.append(...[bottom + 16, ...isHigh ? [begin - 8] : []].map(y => element("text",
                {x, y, "text-anchor": "middle"}, scale.label(tick))));
        }
        if (scale.reference) {
            const x = place(scale.reference);
            svg.append(element("line", {x1: x, x2: x, y1: begin - 4, y2: bottom,
                class: "reference"}));
        }
        const marks = [];
        top = begin;
        panel.rows.forEach((row, number) => {
            const height = heights[number];
            svg.append(element("text", {x: left - 8, y: top + height / 2 + 4, "text-anchor": "end",
                class: row.isMean ? "mean" : ""}, shortened(row.label, (left - 10) / LETTER),
            element("title", {}, row.label)));
            row.marks.forEach((mark, at) => {
                const y = top + height / 2 + 9 * (at - (row.marks.length - 1) / 2);
                const x = place(mark.estimated.value);
                const {low, high} = mark.estimated;
                const part = element("g", {class:
                    `${colour(mark.series)}${mark.isOpen ? " open" : ""}`},
                element("line", {x1: place(low), x2: place(high), y1: y, y2: y, class: "whisker"}));
                if (low < ends[0]) { part.append(arrow(left, y, -1)); }
                if (high > ends[1]) { part.append(arrow(width - right, y, 1)); }
                const dot = symbol(mark.series);
                dot.setAttribute("transform", `translate(${x} ${y})`);
                part.append(dot);
                svg.append(part);
                marks.push({mark, part, x, y});
            });
            top += height;
        });
        listen(svg, marks, tell);
        return made("figure", ...panel.title ? [made("figcaption", panel.title)] : [], svg);
    }

    /** Pointing, touching and arrow keys tell of marks. */
    function listen(svg, marks, tell) {
        let current = -1;
        const point = at => {
            marks[current]?.part.classList.remove("pointed");
            current = at;
            if (at < 0) { tell(null); return; }
            const {mark, part, x, y} = marks[at];
            part.classList.add("pointed");
            const box = svg.getBoundingClientRect();
            tell(mark, box.left + x, box.top + y);
        };
        const nearest = event => {
            const box = svg.getBoundingClientRect();
            let best = -1;
            let least = REACH;
            marks.forEach(({x, y}, at) => {
                const away = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
                if (away < least) { [best, least] = [at, away]; }
            });
            if (best !== current) { point(best); }
        };
        svg.addEventListener("pointermove", nearest);
        svg.addEventListener("pointerdown", nearest);
        svg.addEventListener("pointerleave", event => {
            if (event.pointerType === "mouse") { point(-1); }
        });
        svg.addEventListener("blur", () => point(-1));
        svg.addEventListener("keydown", event => {
            const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
            if (event.key === "Escape") { point(-1); }
            if (!by || !marks.length) { return; }
            event.preventDefault();
            point((Math.max(current, by > 0 ? -1 : 0) + by + marks.length) % marks.length);
        });
    }

    return {draw, key};
})();
