// A board's rows open in place, and its form asks for what was filled in only; without scripts both are plain links.
"use strict";

function cleanForm(event) {
  if (event.target.id !== "board-form") return;
  const asked = event.formData;
  const boxes = [...event.target.querySelectorAll("input[name=kind]")];
  if (boxes.length && asked.getAll("kind").length === boxes.length) asked.delete("kind");
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

document.addEventListener("formdata", cleanForm);
document.addEventListener("change", passOver, true);
document.addEventListener("click", toggleRow);
