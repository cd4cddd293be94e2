// The search of the documentation: ranks sections by the index that was made with the site. `find` needs no page, so that
// tests call it from Node.
"use strict";

function wordsOf(text) {
    return text.toLowerCase().match(/[a-z0-9_\u00c0-\u024f]+/g) || [];
}

// How well a word of the index answers a word that was asked for: 1 the same, less where it only begins or contains it.
function likeness(asked, word) {
    if (word === asked) return 1;
    if (asked.length < 2) return 0;
    if (word.startsWith(asked)) return (0.5 * asked.length) / word.length;
    return asked.length > 2 && word.includes(asked) ? (0.3 * asked.length) / word.length : 0;
}

// Scores of sections for one word: the best of the words that are like it, rare words above frequent ones.
function scoresOf(index, asked) {
    const scores = new Map();
    for (const word in index.words) {
        const like = likeness(asked, word);
        if (like === 0) continue;
        const entries = index.words[word];
        const rare = Math.log(1 + (2 * index.sections.length) / entries.length);
        for (let i = 0; i < entries.length; i += 2) {
            const score = like * rare * entries[i + 1];
            if (score > (scores.get(entries[i]) || 0)) scores.set(entries[i], score);
        }
    }
    return scores;
}

// Returns the best sections, best first: {url, title, heading, text}. Sections with more of the words come before others.
function find(index, query, limit) {
    const total = new Map();
    for (const asked of new Set(wordsOf(query))) {
        for (const [number, score] of scoresOf(index, asked)) {
            const sum = total.get(number) || { words: 0, score: 0 };
            sum.words++;
            sum.score += score;
            total.set(number, sum);
        }
    }
    const same = wordsOf(query).join(" ");
    for (const [number, sum] of total)
        if (wordsOf(index.sections[number][2]).join(" ") === same) sum.score *= 2; // the heading is what was asked for
    return [...total]
        .sort((a, b) => b[1].words - a[1].words || b[1].score - a[1].score || a[0] - b[0])
        .slice(0, limit)
        .map(([number]) => {
            const [url, title, heading, text] = index.sections[number];
            return { url, title, heading, text };
        });
}

// A piece of the text around the first word that was asked for.
function excerpt(text, query) {
    const lower = text.toLowerCase();
    const places = wordsOf(query).map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    const at = places.length ? Math.min(...places) : 0;
    const start = at > 60 ? text.indexOf(" ", at - 60) + 1 : 0;
    return (start > 0 ? "… " : "") + text.slice(start, start + 160) + (start + 160 < text.length ? " …" : "");
}

if (typeof module !== "undefined") module.exports = { find, excerpt };
