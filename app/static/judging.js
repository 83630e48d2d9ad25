// Judging by keyboard. Marks are radio buttons of a plain form; htmx sends the form whenever one of them changes.
"use strict";

const form = document.getElementById("marks");
const unsaved = document.getElementById("unsaved");
const questions = [...form.querySelectorAll("fieldset.marks")];
let active = 0;
let sending = 0;
let wantsToGoOn = null;

function choose(name, value) {
  const input = form.querySelector(`input[name="${name}"][value="${value}"]`);
  if (!input || input.checked) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function frame(number) {
  active = Math.max(0, Math.min(number, questions.length - 1));
  questions.forEach((question, place) => question.classList.toggle("now", place === active));
}

function firstOpen() {
  const open = questions.findIndex((question) => !question.querySelector("input:checked"));
  return open < 0 ? 0 : open;
}

function mark(value) {
  choose("removed", "yes");
  choose(questions[active].dataset.question, value);
  frame(active + 1);
}

function follow(id) {
  const link = document.getElementById(id);
  if (link) whenSent(() => link.click());
}

// What was answered last is on its way for a moment: leaving the page must not overtake it.
function whenSent(go) {
  if (!sending) return go();
  wantsToGoOn = go;
}

const keys = {
  x: () => choose("removed", form.querySelector("input[name=removed][value=no]").checked ? "yes" : "no"),
  ArrowUp: () => frame(active - 1),
  ArrowDown: () => frame(active + 1),
  ArrowLeft: () => follow("previous"),
  ArrowRight: () => follow("next"),
  Enter: () => whenSent(() => form.requestSubmit()),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const onControl = event.target.closest("a, button, summary, textarea, input:not([type=radio])");
  if (onControl && (event.key === "Enter" || event.key === " ")) return;
  const deed = /^[0-3]$/.test(event.key) ? () => mark(event.key) : keys[event.key] ?? keys[event.key.toLowerCase()];
  if (!deed) return;
  event.preventDefault();
  if (!event.repeat) deed();
});

form.addEventListener("change", (event) => {
  const place = questions.indexOf(event.target.closest("fieldset"));
  if (place >= 0) frame(place);
});
form.addEventListener("submit", (event) => {
  if (!sending) return;
  event.preventDefault();
  whenSent(() => form.requestSubmit());
});
form.addEventListener("htmx:before:request", () => { sending += 1; });
form.addEventListener("htmx:finally:request", () => {
  sending -= 1;
  setTimeout(goOn); // a request that waited in line begins before that
});
form.addEventListener("htmx:after:request", (event) => { unsaved.hidden = event.detail.ctx.response.status < 400; });
form.addEventListener("htmx:error", () => { unsaved.hidden = false; });

function goOn() {
  if (sending || !wantsToGoOn) return;
  const go = wantsToGoOn;
  wantsToGoOn = null;
  if (unsaved.hidden) go();
}

frame(firstOpen());
