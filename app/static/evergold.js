// Small comforts; every page works without them. How long something still takes, local times, copying a token, one upload per click.
"use strict";

const MINUTE = 60, HOUR = 3600, DAY = 86400;

function inWords(seconds) {
  const unit = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  if (seconds >= 2 * DAY) return unit(Math.floor(seconds / DAY), "day");
  if (seconds < 0) return "no time";
  const [hours, minutes] = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE)];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % MINUTE)} s`;
}

function countTime() {
  for (const element of document.querySelectorAll("[data-until], [data-since]")) {
    const { until, since } = element.dataset;
    const left = (Date.parse(element.dateTime) - Date.now()) / 1000;
    const words = until ? until.replace("{}", inWords(left)) : since.replace("{}", inWords(Math.max(0, -left)));
    const place = element.querySelector(".left");
    if (place.textContent !== words) place.textContent = words;
    element.classList.add("counts");
  }
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// A deadline has a second clock in brackets: the reader's own instead of UTC, in the words of evergold/moments.py.
function showOwnClocks() {
  for (const element of document.querySelectorAll("time.deadline")) {
    const here = new Date(element.dateTime);
    const yearThere = new Date(here.getTime() - 12 * HOUR * 1000).getUTCFullYear();
    const year = here.getFullYear() === yearThere ? "" : ` ${here.getFullYear()}`;
    const parts = [here.getHours(), here.getMinutes(), ...(here.getSeconds() ? [here.getSeconds()] : [])];
    const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
    const place = element.querySelector(".other-clock > span");
    place.textContent = `(${here.getDate()} ${MONTHS[here.getMonth()]}${year}, ${clock} your time)`;
  }
}

function offerCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }
}

function watchUploads() {
  for (const form of document.querySelectorAll("form[data-once]")) {
    const file = form.querySelector("input[type=file]");
    const tooLarge = form.querySelector("[data-too-large]");
    const uploading = form.querySelector("[data-uploading]");
    const button = form.querySelector("button[type=submit]");
    const isTooLarge = () => [...file.files].some((chosen) => chosen.size > Number(form.dataset.limitBytes));
    const warn = () => { tooLarge.hidden = !isTooLarge(); };
    file.addEventListener("change", warn);
    warn();  // of a file that was chosen before this script had come
    form.addEventListener("submit", (event) => {
      if (isTooLarge() || button.disabled) return event.preventDefault();
      button.disabled = true;
      uploading.hidden = false;
    });
    // Coming back by the browser's history: the form is whole again.
    window.addEventListener("pageshow", () => { button.disabled = false; uploading.hidden = true; });
  }
}

// Menus close when one looks elsewhere.
function closeMenus(event) {
  const inside = event.type === "keydown" ? null : event.target.closest("details.menu");
  if (event.type === "keydown" && event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu === inside) continue;
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (event.type === "keydown" && hadFocus) menu.querySelector("summary").focus();
  }
}

document.addEventListener("click", closeMenus);
document.addEventListener("keydown", closeMenus);
// The tab that one is on is in view.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
countTime();
setInterval(countTime, 1000);
showOwnClocks();
offerCopying();
watchUploads();

// Paper says where and when it was printed.
window.addEventListener("beforeprint", () => {
  const said = document.createElement("p");
  said.className = "printed-at";
  const now = new Date();
  const day = `${now.getUTCDate()} ${MONTHS[now.getUTCMonth()]} ${now.getUTCFullYear()}`;
  said.textContent = `${location.href.split("#")[0]}, ${day}, ${now.toISOString().slice(11, 16)} UTC`;
  document.querySelector("main h1, h1")?.after(said);
});
window.addEventListener("afterprint", () => document.querySelector(".printed-at")?.remove());
