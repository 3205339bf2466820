// Figures that answer. Beside each picture of the class `live` lies a script with its Vega-Lite
// specification; when the picture comes into sight it is drawn again, in its place and as it is,
// and says on hover what each mark stands for. Without scripts the pictures stay.

(() => {
    const assets = new URL(".", document.currentScript.src);
    const loading = new Map(); // scripts by address, each loaded once
    const drawn = new Map(); // what draws by its picture

    // Called by the script beside a picture.
    window.memwallFigure = (specification, runs) => {
        document.currentScript.told = {specification, runs};
    };

    function load(address) {
        if (!loading.has(address)) {
            loading.set(address, new Promise((resolve, reject) => {
                const script = document.createElement("script");
                script.onload = () => resolve(script);
                script.onerror = () => reject(new Error(`cannot load ${address}`));
                script.src = address;
                document.head.append(script);
            }));
        }
        return loading.get(address);
    }

    const isDark = () => document.body.dataset.mdColorScheme === "slate";

    function coloured(specification) {
        const text = JSON.stringify(specification);
        return JSON.parse(isDark()
            ? text.replace(/#[0-9a-f]{6}\b/g, colour => window.memwallDark[colour] ?? colour)
            : text);
    }

    const digits = value => typeof value === "number" ? Number(value.toPrecision(4)).toString()
        : String(value);
    // What a mark's data says elsewhere, or says to the drawing alone.
    const UNTOLD = new Set(["name", "value", "low", "high", "samples", "edge", "height", "middle",
        "number", "label"]);

    // The lines of a hover: what it is, the value with its interval, samples, machine and run.
    function told(datum, machine, runs) {
        const lines = [];
        const measured = machine || datum.name;
        if ("value" in datum) {
            const interval = "low" in datum ? ` (${digits(datum.low)}–${digits(datum.high)})` : "";
            lines.push(digits(datum.value) + interval);
        }
        if ("samples" in datum) {
            lines.push(`${datum.samples} samples`);
        }
        for (const [name, value] of Object.entries(datum)) {
            if (!UNTOLD.has(name) && value !== null && typeof value !== "object") {
                lines.push(name === "kind" || name === "verdict" ? value
                    : `${name}: ${digits(value)}`);
            }
        }
        if (measured in runs) {
            lines.push(`machine ${measured}`, `run ${runs[measured]}`);
        }
        return {title: datum.name ?? datum.label ?? datum.kind ?? "", lines};
    }

    function asHtml(datum, valueToHtml, machine, runs) {
        const {title, lines} = told(datum, machine, runs);
        return `<b>${valueToHtml(title)}</b>${lines.map(valueToHtml).join("<br>")}`;
    }

    async function draw(picture) {
        const [beside] = await Promise.all([
            load(picture.src.replace(/svg$/, "vl.js")), load(new URL("vega.js", assets).href)]);
        const {specification, runs} = beside.told;
        const machine = specification.usermeta?.machine;
        const place = document.createElement("div");
        const view = await vegaEmbed(place, coloured(specification), {
            actions: false,
            renderer: "svg",
            tooltip: {
                theme: isDark() ? "dark" : "light",
                formatTooltip: (datum, valueToHtml) => asHtml(datum, valueToHtml, machine, runs),
            },
        });
        const svg = place.querySelector("svg");
        svg.style.width = `${100 * svg.viewBox.baseVal.width / picture.naturalWidth}%`;
        place.className = "drawn";
        place.setAttribute("role", "img");
        place.setAttribute("aria-label", picture.alt);
        const before = drawn.get(picture);
        (before?.place ?? picture).replaceWith(place);
        before?.view.finalize();
        drawn.set(picture, {place, view});
    }

    const complain = error => console.error(`figure: ${error.message}`);

    const seen = new IntersectionObserver(entries => {
        for (const {target, isIntersecting} of entries) {
            if (isIntersecting) {
                seen.unobserve(target);
                draw(target).catch(complain);
            }
        }
    }, {rootMargin: "400px"});

    for (const picture of document.querySelectorAll("img.live")) {
        seen.observe(picture);
    }

    // Draws all of them, seen or not; a test asks for it.
    window.memwallFigures = () => Promise.all(
        [...document.querySelectorAll("img.live")].map(draw));

    new MutationObserver(() => {
        for (const picture of drawn.keys()) {
            draw(picture).catch(complain);
        }
    }).observe(document.body, {attributeFilter: ["data-md-color-scheme"]});
})();
