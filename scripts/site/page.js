// What a page does in the browser: colours, and the field of the search. Without this script all pages can still be read.
"use strict";

(function () {
    const root = document.documentElement;
    const base = root.dataset.base; // from this page to the top of the site

    function recall() {
        try {
            return localStorage.getItem("talus-colours");
        } catch {
            return null; // no storage for pages from files in this browser
        }
    }

    function colours(name) {
        root.dataset.colours = name;
        try {
            localStorage.setItem("talus-colours", name);
        } catch {}
    }

    if (recall()) root.dataset.colours = recall();
    document.querySelector("#colours").addEventListener("click", () => {
        const now = root.dataset.colours || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
        colours(now === "dark" ? "light" : "dark");
    });

    // On a narrow screen the list of pages stands above the text, closed.
    if (matchMedia("(max-width: 50rem)").matches) document.querySelector(".menu").open = false;

    const field = document.querySelector("#search");
    const list = document.querySelector("#found");
    let chosen = -1;

    // The index is loaded when the field is first used.
    let loading = false;
    function load() {
        if (loading) return;
        loading = true;
        const script = document.createElement("script");
        script.src = base + "search-index.js";
        script.addEventListener("load", show);
        script.addEventListener("error", () => {
            loading = false;
            list.replaceChildren(item("search-index.js cannot be read", ""));
        });
        document.head.append(script);
    }

    function item(head, text) {
        const element = document.createElement("li");
        const title = document.createElement("b");
        title.textContent = head;
        element.append(title, " ", text);
        return element;
    }

    function show() {
        if (typeof talusIndex === "undefined") return load();
        const query = field.value.trim();
        chosen = -1;
        list.replaceChildren();
        if (query === "") return;
        const results = find(talusIndex, query, 20);
        for (const result of results) {
            const link = document.createElement("a");
            link.href = base + result.url;
            const head = result.heading === result.title ? result.title : result.title + " › " + result.heading;
            link.append(...item(head, "").childNodes);
            const text = document.createElement("span");
            text.textContent = excerpt(result.text, query);
            link.append(text);
            const element = document.createElement("li");
            element.append(link);
            list.append(element);
        }
        if (results.length === 0) list.append(item("Nothing found.", "Try one word, or a part of it."));
    }

    function choose(step) {
        const links = list.querySelectorAll("a");
        if (links.length === 0) return;
        if (chosen >= 0) links[chosen].classList.remove("chosen");
        chosen = (chosen + step + links.length) % links.length;
        links[chosen].classList.add("chosen");
        links[chosen].scrollIntoView({ block: "nearest" });
    }

    field.addEventListener("focus", load);
    field.addEventListener("input", show);
    field.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown") choose(1);
        else if (event.key === "ArrowUp") choose(-1);
        else if (event.key === "Enter") (list.querySelector("a.chosen") || list.querySelector("a"))?.click();
        else if (event.key === "Escape") {
            field.value = "";
            show();
            field.blur();
        } else return;
        event.preventDefault();
    });
    list.addEventListener("click", () => {
        field.value = "";
        list.replaceChildren();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
            field.focus();
            event.preventDefault();
        }
    });
})();
