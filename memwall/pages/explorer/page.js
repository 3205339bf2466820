"use strict";
/* Parts of the page, whose text is only ever set as text. */

const page = (() => {
    function tag(id) { return document.getElementById(id); }

    /** An element that holds texts and other elements. */
    function made(name, ...children) {
        const part = document.createElement(name);
        part.append(...children);
        return part;
    }

    function button(text, act) {
        const part = made("button", text);
        part.type = "button";
        part.addEventListener("click", act);
        return part;
    }

    return {button, made, tag};
})();
