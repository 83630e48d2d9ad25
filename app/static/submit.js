// The upload form, livelier: a file that is dropped or chosen is checked at once, its verdict stands below it; progress, a
// try again where the network failed. Without scripts the form works as it is. Every try of a submission carries the
// form's key, so that it counts once; a check never keeps anybody from submitting, unless it found the file wrong.
"use strict";

const PAUSES_SECONDS = [1, 2, 4, 8, 15, 30];
const PASSING = [502, 503, 504];
const CROWDED = 429;  // too many pages of ours wait for news at this moment

const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(18))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const inSize = (bytes) => {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (bytes >= size) return `${(bytes / size).toPrecision(3)} ${unit}`;
  }
  return `${bytes} bytes`;
};

class UploadForm {
  constructor(form) {
    this.form = form;
    this.file = form.querySelector("input[type=file]");
    this.part = (name) => form.querySelector(`[data-${name}]`);
    this.button = form.querySelector("[data-submit]");  // none where the quota is used up
    this.checkAddress = form.querySelector("[data-check]").getAttribute("formaction");
    this.checked = form.querySelector("[data-checked]");
    this.check = null;  // what aborts the check under way
    this.key = new URL(form.action).searchParams.get("key");
    this.wasTried = false;
    this.isLoggedOut = false;
    this.request = null;
    this.file.addEventListener("change", () => this.fileChosen());
    form.addEventListener("submit", (event) => this.submitted(event));
    this.part("cancel").addEventListener("click", () => this.cancel());
    this.listenForDrops();
    window.addEventListener("beforeunload", (event) => { if (this.request) event.preventDefault(); });
    // Coming back by the browser's history: the form is whole again.
    window.addEventListener("pageshow", () => this.rest());
    if (this.file.files.length) this.fileChosen();  // before this script had come
  }

  // ------------------------------------------------------------------------------------------------- choosing a file

  listenForDrops() {
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const over = (is) => this.form.classList.toggle("over", is);
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over(true);
    });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over(false);
      if (this.request) return;
      if (event.dataTransfer.files.length !== 1) return this.say("Please choose one file; put several into one zip.");
      this.file.files = event.dataTransfer.files;
      this.fileChosen();
      this.file.focus();
    });
  }

  isTooLarge() {
    return [...this.file.files].some((chosen) => chosen.size > Number(this.form.dataset.limitBytes));
  }

  fileChosen() {
    if (this.wasTried) this.takeNewKey();  // another file is another submission
    this.part("again").hidden = true;
    this.part("again").querySelector("input").checked = false;
    this.part("too-large").hidden = !this.isTooLarge();
    this.refuse("");
    this.say("");
    this.leaveCheck();
    const [chosen] = this.file.files;
    if (chosen && !this.isTooLarge()) this.startCheck(chosen);
  }

  takeNewKey() {
    this.key = newKey();
    this.wasTried = false;
  }

  // --------------------------------------------------------------------------------------------------------- checking

  leaveCheck() {
    this.check?.abort();
    this.check = null;
    this.checked.hidden = true;
    this.allow(true);
  }

  allow(may) {
    if (this.button) this.button.disabled = !may;
  }

  async startCheck(chosen) {
    const check = this.check = new AbortController();
    const place = this.checked.querySelector("[data-found]");
    this.checked.hidden = false;
    this.mark("");
    place.textContent = `Checking ${chosen.name}, ${inSize(chosen.size)} …`;
    this.say(place.textContent, true);
    const body = new FormData();
    body.append("csrf_token", this.form.querySelector("[name=csrf_token]").value);
    body.append("file", chosen);
    const address = new URL(this.checkAddress, location.href);
    address.searchParams.set("key", newKey());
    try {
      const answer = await fetch(address, { method: "POST", body, signal: check.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (new URL(answer.url).pathname === "/login") return this.loggedOut();
      if (answer.ok && page.querySelector("#live")) return await this.found(page.querySelector("#live"), check);
      place.textContent = `This file could not be checked: ${this.reasons(page)} You can still submit it.`;
    } catch {
      if (check.signal.aborted) return;
      place.textContent = "This file could not be checked: the server cannot be reached. You can still submit it.";
    }
    this.say(place.textContent, true);
  }

  mark(state) {
    this.checked.classList.toggle("valid", state === "valid");
    this.checked.classList.toggle("invalid", state === "invalid");
    this.allow(state !== "invalid");
  }

  // What the check says by now, until it is final, or another file was chosen.
  async found(part, check) {
    const place = this.checked.querySelector("[data-found]");
    while (part && !check.signal.aborted) {
      part.querySelector("#announcement")?.remove();
      part.querySelector("a[href$='/submit']")?.remove();  // we are there
      if (!part.querySelector(".actions a")) part.querySelector(".actions")?.remove();
      place.replaceChildren(...part.childNodes);
      const line = place.querySelector(".state-line");
      this.mark(line?.dataset.state);
      this.say(line?.textContent.trim() ?? "", true);
      const live = place.querySelector("[data-live]")?.dataset.live;
      if (!live) return;
      part = await this.next(live, check);
    }
  }

  async next(live, check) {
    for (const seconds of PAUSES_SECONDS) {
      if (check.signal.aborted) return null;
      try {
        const answer = await fetch(live, { headers: { "HX-Request": "true" }, signal: check.signal });
        if (answer.ok && answer.status !== 204) {
          return new DOMParser().parseFromString(await answer.text(), "text/html").body;
        }
        if (![...PASSING, CROWDED].includes(answer.status)) return null;
      } catch { /* the network: tried again */ }
      await new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });
    }
    return null;
  }

  // --------------------------------------------------------------------------------------------------------- sending

  submitted(event) {
    event.preventDefault();
    if (this.request || this.button?.disabled !== false) return;
    if (!this.file.files.length) return this.refuse("Please choose a file first.");
    if (this.isTooLarge()) return this.file.focus();
    if (this.isLoggedOut) return this.renewed();
    const address = new URL(this.form.action);
    address.searchParams.set("key", this.key);
    this.refuse("");
    this.leaveCheck();
    this.allow(false);
    this.send(address, new FormData(this.form), 0);
  }

  send(address, body, lost) {
    const request = this.request = new XMLHttpRequest();
    this.wasTried = true;
    this.show(0, "Sending…");
    this.say(`Sending ${this.file.files[0].name}.`);
    this.part("cancel").hidden = false;
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      const percent = Math.floor(100 * event.loaded / event.total);
      this.show(percent, `${percent} % of ${inSize(event.total)} sent`);
    });
    request.upload.addEventListener("load", () => {
      this.show(100, "Uploaded. Saving…");
      this.part("cancel").hidden = true;  // it may count by now
      this.say("Uploaded. Saving…");
    });
    request.addEventListener("load", () => {
      if (PASSING.includes(request.status)) this.tryAgain(address, body, lost);
      else this.answered(request);
    });
    request.addEventListener("error", () => this.tryAgain(address, body, lost));
    request.addEventListener("abort", () => { this.rest(); this.say("Cancelled: nothing was submitted."); });
    request.open("POST", address);
    request.send(body);
  }

  tryAgain(address, body, lost) {
    if (lost >= PAUSES_SECONDS.length) {
      this.rest();
      this.refuse("The server cannot be reached. Your file is still selected: submit it again when the connection is back; " +
        "if it has already arrived, it counts only once.");
      return;
    }
    const seconds = PAUSES_SECONDS[lost];
    this.say(`The connection was lost. Trying again in ${seconds} s; your file counts only once.`);
    this.part("cancel").hidden = true;
    this.timer = setTimeout(() => this.send(address, body, lost + 1), 1000 * seconds);
  }

  cancel() {
    this.request?.abort();
  }

  answered(request) {
    const at = new URL(request.responseURL || location.href);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const isNew = at.pathname !== new URL(this.form.action).pathname;
    this.rest();
    if (at.pathname === "/login") return this.loggedOut();
    if (request.status < 400 && isNew) return location.assign(at);
    this.part("again").hidden = page.querySelector("[data-again]:not([hidden])") === null;
    this.say("");
    this.refuse(this.reasons(page));
  }

  // The sentences with which a page refuses, each once.
  reasons(page) {
    const alerts = [...page.querySelectorAll("main [role=alert]")];
    const alert = alerts.find((one) => !one.hidden && one.textContent.trim());
    const told = alert ?? page.querySelector("main h1 ~ p") ?? page.querySelector("main h1");
    const fields = [...page.querySelectorAll(".field.wrong .error[id]")].map((one) => one.textContent.trim());
    return [...new Set([told?.textContent.trim() || "The server did not accept the file.", ...fields])].join(" ");
  }

  loggedOut() {
    this.isLoggedOut = true;
    this.checked.hidden = true;
    this.say("");
    this.refuse("Your log-in has expired, and nothing was uploaded. Log in in another tab, then submit again: " +
      "your file and everything you typed are still here.");
  }

  // After another log-in the form needs its token; everything else in it stays.
  async renewed() {
    const answer = await fetch(this.form.action.split("?")[0]).catch(() => null);
    const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
    const token = page.querySelector("form[data-upload] [name=csrf_token]")?.value;
    if (!token) return this.refuse("You are still not logged in. Log in in another tab, then submit again.");
    this.form.querySelector("[name=csrf_token]").value = token;
    this.isLoggedOut = false;
    this.form.requestSubmit(this.button);
  }

  // ----------------------------------------------------------------------------------------------------------- words

  show(percent, text) {
    this.part("sending").hidden = false;
    this.form.querySelector("progress").value = percent;
    this.part("sent-words").textContent = text;
  }

  // heardOnly: what stands on the page already.
  say(text, heardOnly = false) {
    const told = this.part("told");
    told.classList.toggle("visually-hidden", heardOnly);
    if (told.textContent !== text) told.textContent = text;
  }

  refuse(text) {
    this.part("refused").textContent = text;
  }

  rest() {
    clearTimeout(this.timer);
    this.request = null;
    this.part("sending").hidden = true;
    this.allow(!this.checked.classList.contains("invalid") || this.checked.hidden);
  }
}

for (const form of document.querySelectorAll("form[data-upload]")) new UploadForm(form);
