"use strict";
// Sorts tables, filters rows and episodes, and copies links. Without it the page lacks only these.
const number = (cell) => {
  const text = cell.dataset.value ?? cell.textContent.replace("\u2212", "-");
  const found = /^[+-]?\d+(\.\d+)?/.exec(text.trim().replace(/^p [=<] /, ""));
  return found ? Number(found[0]) : null;
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (x !== null && y !== null) return x - y;
  if (x !== null || y !== null) return x === null ? 1 : -1;
  return a.textContent.trim().localeCompare(b.textContent.trim(), "en", { numeric: true });
};
for (const head of document.querySelectorAll("table.sorts thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(a.cells[head.cellIndex], b.cells[head.cellIndex]));
    body.append(...(up ? rows : rows.reverse()));
  });
}
for (const list of document.querySelectorAll("[data-filter]")) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  input.type = "search";
  label.className = "filter";
  label.append(`Show ${list.dataset.filter} with all of these words `, input, " ", count);
  (list.closest(".scroll") ?? list).before(label);
  const items = list.tBodies ? [...list.tBodies[0].rows] : [...list.children];
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      const text = (item.querySelector(":scope > summary") ?? item).textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    count.textContent = words.length ? `${items.filter((item) => !item.hidden).length} of ${items.length}` : "";
  });
}
for (const link of document.querySelectorAll("a.here")) {
  link.addEventListener("click", () => navigator.clipboard?.writeText(link.href).catch(() => undefined));
}
// A link to something inside of a closed part opens it.
const open = () => {
  let part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const target = part;
  while (part) {
    if (part instanceof HTMLDetailsElement) part.open = true;
    part = part.parentElement;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
