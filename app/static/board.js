// A board's rows open in place, its form asks for what was filled in only, and where a table is wider than the page its
// heading and the reader's own row stay in view. Without scripts all of it are plain links and a plain table.
"use strict";

function cleanForm(event) {
  if (event.target.id !== "board-form") return;
  const asked = event.formData;
  for (const name of ["kind", "column", "language"]) {
    const boxes = event.target.querySelectorAll(`input[name=${name}]`);
    if (boxes.length && asked.getAll(name).length === boxes.length) asked.delete(name);
  }
  for (const [name, value] of [...asked.entries()]) if (value === "") asked.delete(name);
}

async function openRow(link) {
  const row = link.closest("tr");
  link.setAttribute("aria-expanded", "true");
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const details = page.getElementById("row");
    if (!answer.ok || !details) throw new Error("no details");
    details.removeAttribute("id");
    for (const more of details.querySelectorAll("details")) more.open = false;
    const cell = document.createElement("td");
    cell.colSpan = row.cells.length;
    const inside = document.createElement("div");
    inside.className = "row-inside";
    inside.append(document.adoptNode(details));
    cell.append(inside);
    const opened = document.createElement("tr");
    opened.className = "opened";
    opened.append(cell);
    if (link.getAttribute("aria-expanded") === "true") row.after(opened);
  } catch {
    location.assign(link.href);
  }
}

function toggleRow(event) {
  const link = event.target.closest("a[data-row]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const next = link.closest("tr").nextElementSibling;
  if (link.getAttribute("aria-expanded") !== "true") return void openRow(link);
  link.setAttribute("aria-expanded", "false");
  if (next && next.classList.contains("opened")) next.remove();
}

// Leaving the search box asks for nothing new, and would put a new table in the place of the row that is just opened.
function passOver(event) {
  if (event.target.id === "board-q") event.stopPropagation();
}

// ------------------------------------------------------------------------------------------------ always in view

// A copy of a part of the table, as wide as it is, that goes along sideways; clicks go to what it is a copy of.
function floating(scroller, part, edge) {
  const table = scroller.querySelector("table");
  const holder = document.createElement("div");
  holder.className = `floating ${edge}`;
  holder.setAttribute("aria-hidden", "true");
  const inside = document.createElement("div");
  const copy = table.cloneNode(false);
  copy.setAttribute("aria-label", "copy");
  copy.append(part.tagName === "THEAD" ? part.cloneNode(true) : document.createElement("tbody"));
  if (part.tagName !== "THEAD") copy.tBodies[0].append(part.cloneNode(true));
  const columns = document.createElement("colgroup");
  copy.prepend(columns);
  for (const box of copy.querySelectorAll("input")) box.remove();
  const links = "a, button";
  const originals = part.querySelectorAll(links);
  copy.querySelectorAll(links).forEach((link, place) => {
    link.tabIndex = -1;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (edge === "bottom") part.scrollIntoView({ block: "center" });
      else originals[place].click();
    });
  });
  for (const one of copy.querySelectorAll("[id], [popovertarget], [data-row], [aria-sort]"))
    for (const name of ["id", "popovertarget", "data-row", "aria-sort"]) one.removeAttribute(name);
  inside.append(copy);
  holder.append(inside);
  const fit = () => {
    copy.style.width = `${table.getBoundingClientRect().width}px`;
    columns.replaceChildren(...[...[...table.tHead.rows].at(-1).cells].filter((cell) => cell.getClientRects().length).map((cell) => {
      const column = document.createElement("col");
      column.style.width = `${cell.getBoundingClientRect().width}px`;
      return column;
    }));
    inside.scrollLeft = scroller.scrollLeft;
  };
  scroller.addEventListener("scroll", () => { inside.scrollLeft = scroller.scrollLeft; }, { passive: true });
  return { holder, fit };
}

function keepInView() {
  const frame = document.querySelector(".board-frame:not([data-kept])");
  const scroller = frame?.querySelector(".board-scroll");
  if (!scroller || getComputedStyle(scroller).overflowX === "visible") return;
  frame.dataset.kept = "yes";
  const head = scroller.querySelector("thead");
  const mine = scroller.querySelector("tr.pinned");
  watch(scroller, head, "top", (entry) => !entry.isIntersecting && entry.boundingClientRect.top < 0);
  if (mine) watch(scroller, mine, "bottom", (entry) => !entry.isIntersecting);
}

// The copy is made when the part is out of view for the first time.
function watch(scroller, part, edge, isOut) {
  let copy = null;
  new IntersectionObserver((entries) => {
    const out = isOut(entries[entries.length - 1]);
    if (out && !copy) {
      copy = floating(scroller, part, edge);
      scroller[edge === "top" ? "before" : "after"](copy.holder);
    }
    if (out) copy.fit();
    copy?.holder.classList.toggle("on", out);
  }).observe(part);
}

document.addEventListener("formdata", cleanForm);
document.addEventListener("change", passOver, true);
document.addEventListener("click", toggleRow);
document.addEventListener("htmx:after:swap", keepInView);
keepInView();
