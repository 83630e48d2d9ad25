// Adds to pictures that are there already: what a mark says beside the pointer, the same system's marks in all pictures,
// keys that hide and show, arrow keys from mark to mark, PNG files. Without it every mark still has its title.
"use strict";

const NEAR_PX = 22, SHARP = 2;
const charts = [...document.querySelectorAll(".chart")];
const drawings = charts.flatMap((chart) => [...chart.querySelectorAll("svg.figure")]);

/** The words of a mark, once they are taken from its title, which browsers would show as well. */
const words = new WeakMap();

function marksOf(drawing) {
  return [...drawing.querySelectorAll(".fig-spot:not(.fig-off)")];
}

function middleOf(mark) {
  const { left, top, width, height } = mark.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, width, height };
}

/** The mark below the pointer, or the nearest one within reach. */
function nearest(drawing, x, y) {
  let found = null, least = NEAR_PX;
  for (const mark of marksOf(drawing)) {
    const at = middleOf(mark);
    const inside = Math.abs(x - at.x) <= at.width / 2 && Math.abs(y - at.y) <= at.height / 2;
    const distance = inside ? 0 : Math.hypot(x - at.x, y - at.y);
    if (distance < least || (distance === 0 && found === null)) [found, least] = [mark, distance];
  }
  return found;
}

// -------------------------------------------------------------------------------------------------------- saying it

function say(chart, mark) {
  const tip = chart.querySelector(".tip");
  const before = chart.querySelector(".fig-at");
  if (before === mark) return;
  before?.classList.remove("fig-at");
  seek(mark?.dataset.of);
  tip.hidden = mark === null;
  if (mark === null) return;
  mark.classList.add("fig-at");
  tip.textContent = words.get(mark);
  const [at, around] = [middleOf(mark), chart.getBoundingClientRect()];
  const x = at.x - around.left + 12, y = at.y - around.top - tip.offsetHeight - 10;
  tip.style.left = `${Math.max(4, Math.min(x, around.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${y < 0 ? at.y - around.top + 14 : y}px`;
}

/** The marks of the same system, in every picture; the others fade. */
function seek(owner) {
  for (const drawing of drawings) {
    const theirs = owner === undefined ? [] : marksOf(drawing).filter((mark) => mark.dataset.of === owner);
    drawing.querySelectorAll(".fig-also").forEach((mark) => mark.classList.remove("fig-also"));
    theirs.forEach((mark) => mark.classList.add("fig-also"));
    drawing.classList.toggle("seeks", theirs.length > 0);
  }
}

/** From mark to mark by arrow keys; the picture itself is one stop. */
function step(chart, drawing, event) {
  const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") say(chart, null);
  if (way === undefined) return;
  event.preventDefault();
  const marks = marksOf(drawing);
  const at = marks.indexOf(chart.querySelector(".fig-at"));
  say(chart, marks[at < 0 ? 0 : (at + way + marks.length) % marks.length] ?? null);
}

// ------------------------------------------------------------------------------------------------------------- keys

/** A key that speaks for somebody's marks hides them, and shows them again. */
function choose(drawing, key) {
  const isShown = key.getAttribute("aria-pressed") !== "true";
  key.setAttribute("aria-pressed", String(isShown));
  for (const mark of drawing.querySelectorAll(".fig-spot")) {
    if (mark.dataset.of === key.dataset.of) mark.classList.toggle("fig-off", !isShown);
  }
}

function prepareKey(drawing, key) {
  key.setAttribute("role", "button");
  key.setAttribute("tabindex", "0");
  key.setAttribute("aria-pressed", "true");
  key.addEventListener("click", () => choose(drawing, key));
  key.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(drawing, key);
  });
}

// ------------------------------------------------------------------------------------------------------------ files

/** The SVG file, painted: browsers do that for a picture of our own. */
async function paint(address) {
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SHARP * picture.naturalWidth, SHARP * picture.naturalHeight];
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((finished) => { canvas.toBlob(finished, "image/png"); });
}

function offerPng(chart) {
  const file = chart.querySelector("a.svg");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link file";
  button.textContent = "PNG";
  button.setAttribute("aria-label", file.textContent.replace("SVG", "PNG"));
  button.addEventListener("click", async () => {
    const address = URL.createObjectURL(await paint(file.href));
    const name = file.pathname.split("/").at(-1).replace(/svg$/, "png");
    Object.assign(document.createElement("a"), { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  file.after(button);
}

// -------------------------------------------------------------------------------------------------------- beginning

for (const chart of charts) {
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  tip.setAttribute("role", "status");
  chart.append(tip);
  for (const drawing of chart.querySelectorAll("svg.figure")) {
    const title = drawing.querySelector(":scope > title");
    drawing.setAttribute("aria-label", title.textContent);
    drawing.setAttribute("aria-describedby", drawing.querySelector(":scope > desc").id);
    drawing.removeAttribute("aria-labelledby");
    title.remove(); // browsers would show it wherever no mark is
    drawing.setAttribute("tabindex", "0");
    for (const mark of drawing.querySelectorAll(".fig-spot")) {
      words.set(mark, mark.firstElementChild.textContent);
      mark.firstElementChild.remove();
    }
    const keys = [...drawing.querySelectorAll(".fig-key[data-of]")];
    if (keys.length > 1) {
      drawing.setAttribute("role", "group");
      keys.forEach((key) => prepareKey(drawing, key));
    }
    drawing.addEventListener("pointermove", (event) => say(chart, nearest(drawing, event.clientX, event.clientY)));
    drawing.addEventListener("pointerdown", (event) => say(chart, nearest(drawing, event.clientX, event.clientY)));
    drawing.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") say(chart, null); });
    drawing.addEventListener("keydown", (event) => { if (event.target === drawing) step(chart, drawing, event); });
    drawing.addEventListener("blur", () => say(chart, null));
  }
  offerPng(chart);
}
