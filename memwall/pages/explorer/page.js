"use strict";
/* Parts of the page, whose text is only ever set as text. */

const page = (() => {
    function tag(id) { return document.getElementById(id); }

    function partOf(name, children) {
        const part = document.createElement(name);
        part.append(...children);
        return part;
    }

    function textOf(name, text) {
        const part = document.createElement(name);
        part.textContent = text;
        return part;
    }

    function button(text, act) {
        const made = textOf("button", text);
        made.type = "button";
        made.addEventListener("click", act);
        return made;
    }

    return {button, partOf, tag, textOf};
})();
