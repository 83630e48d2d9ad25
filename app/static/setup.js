// Setting up a draft: reads the organiser's own gold here, in their browser, before it is sealed, and fills the form of
// columns from it; adds the reader's time zone; shows the board while its columns are ticked. Without scripts each form
// is sent by itself.
"use strict";

const ID_NAMES = ["id", "ids", "item", "item_id", "sent_id", "sentence_id", "guid", "uid"];
const GROUP_NAMES = ["language", "languages", "lang", "group", "domain", "genre", "split"];
const ANSWER_NAMES = {
  label: ["label", "labels", "gold", "answer", "class", "target", "category", "sentiment"],
  labels: ["labels", "label", "gold", "answers", "classes", "categories"],
  number: ["score", "value", "gold", "label", "similarity", "rating", "target"],
  text: ["reference", "target", "answer", "gold", "paraphrase", "output", "summary", "translation", "text"],
};
const ROLES = {
  id: "the item's id", answer: "the answer", group: "a group to score by", "hidden-group": "a group that teams do not see",
  shown: "shown to teams", "left-out": "left out",
};
const GROUP_VALUE = /^[A-Za-z0-9]+([_.-][A-Za-z0-9]+)*$/;
const MOST_GROUPS = 40;
const MOST_LISTED = 12;
const PREVIEWED = 5;

/** Split CSV or TSV into rows of cells; tabs have no quotation marks. */
const parseTable = (text, separator) => {
  if (separator === "\t") return text.split(/\r?\n/).filter((line) => line).map((line) => line.split("\t"));
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (quoted) {
      if (one !== '"') cell += one;
      else if (text[at + 1] === '"') { cell += '"'; at++; }
      else quoted = false;
    } else if (one === '"') quoted = true;
    else if (one === separator) { row.push(cell); cell = ""; }
    else if (one === "\n" || one === "\r") {
      if (one === "\r" && text[at + 1] === "\n") at++;
      row.push(cell);
      if (row.length > 1 || row[0]) rows.push(row);
      row = []; cell = "";
    } else cell += one;
  }
  if (cell || row.length) { row.push(cell); rows.push(row); }
  return rows;
};

const cellOf = (value) => value == null ? "" : typeof value === "string" ? value : JSON.stringify(value);

const SEPARATORS = ["\t", ";", ",", "|"];
const SPREADSHEET = [[0x50, 0x4B, 0x03, 0x04], [0xD0, 0xCF, 0x11, 0xE0]];

/** Decode the bytes of a table: UTF-8, UTF-16 with its mark, or what spreadsheets call "CSV" on Windows. */
const decoded = (bytes) => {
  if (bytes[0] === 0xFF && bytes[1] === 0xFE) return { text: new TextDecoder("utf-16le").decode(bytes), isUtf8: false };
  if (bytes[0] === 0xFE && bytes[1] === 0xFF) return { text: new TextDecoder("utf-16be").decode(bytes), isUtf8: false };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isUtf8: true };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), isUtf8: false };
  }
};

/** Return the separator that gives the first line the most cells. */
const separatorOf = (line) => {
  const cells = (separator) => parseTable(line, separator)[0]?.length ?? 0;
  return SEPARATORS.reduce((best, one) => cells(one) > cells(best) ? one : best, ",");
};

/**
 * Read the bytes of a table into header and rows; null if it is none. all: every row, also those whose number of cells
 * differs from the header's; isPlain: whether a scorer reads the file as it is (UTF-8; commas, tabs or JSON lines).
 */
const readTable = (bytes, name) => {
  if (SPREADSHEET.some((start) => start.every((byte, at) => bytes[at] === byte))) {
    throw new Error(`${name} is a spreadsheet file. Save it as CSV in the spreadsheet program, and choose that file.`);
  }
  const { text: content, isUtf8 } = decoded(bytes);
  let text = content.replace(/^\uFEFF/, "");
  const named = /^sep=(.)\r?\n/.exec(text);
  if (named) text = text.slice(named[0].length);
  const first = text.split(/\r?\n/).find((line) => line.trim()) ?? "";
  if (first.trimStart().startsWith("{")) {
    const objects = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => JSON.parse(line));
    const header = [...new Set(objects.flatMap((one) => Object.keys(one)))];
    const rows = objects.map((one) => header.map((name) => cellOf(one[name])));
    return { header, rows, all: rows, isCsv: false, isPlain: isUtf8 };
  }
  const separator = named?.[1] ?? separatorOf(first);
  const [header, ...all] = parseTable(text, separator);
  if (!header || header.length < 2 || !all.length) return null;
  const rows = all.filter((row) => row.length === header.length);
  const isPlain = isUtf8 && !named && (separator === "," || separator === "\t");
  return { header, rows, all, isCsv: separator !== "\t", isPlain };
};

const inCsv = (rows) => rows.map((row) => row.map((cell) =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell).join(",") + "\n").join("");

const counted = (cells) => {
  const counts = new Map();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
};

const makeElement = (name, properties = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
};

class SetupFiles {
  constructor(place) {
    this.place = place;
    this.kind = place.dataset.answer;
    this.part = (name) => place.querySelector(`[data-${name}]`);
    this.gold = this.part("gold-form");
    this.form = this.part("columns-form");
    this.items = this.part("items-form");
    this.table = null;
    if (!this.gold || !this.form) return;
    this.goldFile = this.gold.querySelector("input[type=file]");
    this.itemsFile = this.items.querySelector("input[type=file]");
    this.goldFile.addEventListener("change", () => this.goldChosen());
    this.form.addEventListener("submit", (event) => this.submitted(event));
    this.part("preview-items").addEventListener("click", () => this.showItems());
    this.later = [this.part("columns"), this.part("items-section"), this.part("plain-gold")];
    if (this.part("columns-table").hidden && !this.form.querySelector(".error:not([hidden])")) this.showLater(false);
    this.part("make-items").addEventListener("change", () => this.items.toggleAttribute("hidden", this.makesItems()));
    if (this.goldFile.files.length) this.goldChosen();  // before this script had come
  }

  /** Show what follows from the gold, or hide it until gold is chosen. */
  showLater(isShown) {
    for (const one of this.later) one.hidden = !isShown;
    this.part("columns").open = true;
  }

  makesItems() { return this.table !== null && this.part("make-items").checked; }

  /** Show why the chosen file cannot be read; an empty sentence hides it. */
  refuse(sentence) {
    const line = this.part("unreadable");
    line.textContent = sentence;
    line.hidden = !sentence;
    if (sentence) this.goldFile.value = "";
  }

  async goldChosen() {
    const [file] = this.goldFile.files;
    this.table = null;
    this.part("failed").hidden = true;
    this.refuse("");
    this.part("too-large").hidden = !file || file.size <= Number(this.gold.dataset.limitBytes);
    if (!file || !this.part("too-large").hidden) return;
    try {
      this.table = readTable(new Uint8Array(await file.arrayBuffer()), file.name);
      if (!this.table) this.refuse(`${file.name} is not a table: it needs a line of column names and one line per item.`);
    } catch (error) {
      this.refuse(error instanceof SyntaxError ? `${file.name} does not have JSON on each line.` : error.message);
    }
    if (!this.table) return;
    this.mended = !this.table.isPlain;
    const { header, rows } = this.table;
    this.columns = header.map((name, place) => ({ name, values: counted(rows.map((row) => row[place])) }));
    this.showLater(true);
    this.guess();
    this.draw();
    for (const name of ["plain-gold", "plain-items", "typed-answer", "typed-labels", "typed-facts"]) this.part(name)?.setAttribute("hidden", "");
    this.part("made-items").hidden = false;
    this.items.hidden = true;
    this.itemsFile.required = false;
    this.update();
    for (const tick of this.form.querySelectorAll("[name^='baseline.']")) {
      tick.checked = tick.name !== "baseline.copy" || this.form.elements.copied.options.length > 0;
    }
  }

  // ----------------------------------------------------------------------------------------------------------- columns

  guess() {
    const rows = this.table.rows.length;
    const named = (names, fits = () => true) => names.map((name) =>
      this.columns.find((one) => one.name.toLowerCase() === name && !one.role && fits(one))).find(Boolean);
    const isWhole = (one) => one.values.length === rows;
    const id = named(ID_NAMES, isWhole) ?? this.columns.find(isWhole);
    if (id) id.role = "id";
    const few = (one) => one.values.length >= 2 && one.values.length <= MOST_GROUPS;
    for (const one of this.columns) {
      if (!one.role && GROUP_NAMES.includes(one.name.toLowerCase()) && few(one) && this.canGroup(one)) one.role = "group";
    }
    const fits = this.kind === "label" ? (one) => one.values.length <= MOST_GROUPS * 5 : undefined;
    const looksLikeAnswer = {
      number: (one) => one.values.every(([value]) => value.trim() && Number.isFinite(Number(value))),
      text: () => true,
    }[this.kind] ?? ((one) => one.values.length <= Math.max(2, Math.sqrt(rows)));
    const answer = named(ANSWER_NAMES[this.kind], fits) ??
      this.columns.findLast((one) => !one.role && looksLikeAnswer(one)) ?? this.columns.findLast((one) => !one.role);
    if (answer) answer.role = "answer";
    for (const one of this.columns) one.role ??= "shown";
  }

  canGroup(column) {
    return column.values.length <= MOST_GROUPS &&
      column.values.every(([value]) => GROUP_VALUE.test(value) && value !== "all" && value !== "mean") &&
      GROUP_VALUE.test(column.name);
  }

  draw() {
    const table = this.part("columns-table");
    table.hidden = false;
    const body = table.querySelector("tbody");
    body.replaceChildren(...this.columns.map((column, place) => {
      const role = makeElement("select", { name: `column.${place}.role`, ariaLabel: `What ${column.name} is` },
        ...Object.entries(ROLES).map(([value, words]) => makeElement("option", {
          value, textContent: words, selected: value === column.role,
          disabled: value.endsWith("group") && !this.canGroup(column),
        })));
      role.addEventListener("change", () => { column.role = role.value; this.update(); });
      const words = makeElement("td", { textContent: this.words(column) });
      if (GROUP_NAMES.includes(column.name.toLowerCase()) && !this.canGroup(column) && column.values.length <= MOST_GROUPS) {
        words.append(makeElement("span", { className: "hint", textContent: "To score by this column, its name and values may only have letters a–z, digits, . _ - and no spaces." }));
      }
      return makeElement("tr", {}, makeElement("th", { scope: "row", textContent: column.name }),
        makeElement("td", {},
          makeElement("input", { type: "hidden", name: `column.${place}.name`, value: column.name }),
          makeElement("input", { type: "hidden", name: `column.${place}.values` }), role),
        words);
    }));
  }

  words(column) {
    const { values } = column;
    if (values.length <= MOST_LISTED && values.length < this.table.rows.length) {
      return values.map(([value, count]) => `${value || "(empty)"} ${count}`).join(" · ");
    }
    const numbers = values.map(([value]) => Number(value));
    if (values.length && numbers.every((number, at) => values[at][0].trim() && Number.isFinite(number))) {
      return `${numbers.reduce((one, other) => Math.min(one, other))} to ${numbers.reduce((one, other) => Math.max(one, other))}`;
    }
    const lengths = values.map(([value]) => value.split(/\s+/).filter(Boolean).length);
    const longest = lengths.reduce((one, other) => Math.max(one, other), 0);
    if (longest < 3) return `${values.length} different`;
    const shortest = lengths.reduce((one, other) => Math.min(one, other));
    return `${values.length} different, ${shortest === longest ? longest : `${shortest} to ${longest}`} words`;
  }

  answer() { return this.columns.find((one) => one.role === "answer"); }

  /** Fill in what the form sends and shows, after a role has changed. */
  update() {
    this.columns.forEach((column, place) => {
      const values = this.form.elements[`column.${place}.values`];
      values.value = column.role.endsWith("group") ? column.values.map(([value]) => value).sort().join("\n") : "";
    });
    const answer = this.answer();
    this.part("answer-name").textContent = answer?.name ?? "the answer";
    if (answer) this.fillFacts(answer);
    const copied = this.form.elements.copied;
    if (copied) {
      copied.replaceChildren(...this.columns.filter((one) => one.role === "shown").map((one) =>
        makeElement("option", { textContent: one.name })));
    }
    this.noteSlips();
    if (!this.part("items-preview").hidden) this.showItems();
  }

  fillFacts(answer) {
    const { usual, low, high, labels } = this.form.elements;
    if (this.kind === "label" || this.kind === "labels") {
      const cells = answer.values.flatMap(([value, count]) =>
        (this.kind === "labels" ? value.split("|").filter(Boolean) : [value]).map((one) => [one, count]));
      const counts = new Map();
      for (const [value, count] of cells) counts.set(value, (counts.get(value) ?? 0) + count);
      const ordered = [...counts].sort((one, other) => other[1] - one[1]).map(([value]) => value);
      usual.value = ordered[0] ?? "";
      labels.value = [...ordered].sort().join("\n");
    } else if (this.kind === "number") {
      const place = this.table.header.indexOf(answer.name);
      const numbers = this.table.rows.map((row) => Number(row[place])).filter(Number.isFinite);
      if (!numbers.length) return;
      usual.value = String(numbers.reduce((sum, one) => sum + one, 0) / numbers.length);
      low.value = String(numbers.reduce((one, other) => Math.min(one, other)));
      high.value = String(numbers.reduce((one, other) => Math.max(one, other)));
    }
  }

  /** Name rows with other numbers of cells; and labels and groups with spaces around them, and offer to mend them. */
  noteSlips() {
    const line = this.part("slips");
    const { header, all } = this.table;
    const misfit = all.findIndex((row) => row.length !== header.length);
    if (misfit >= 0) {
      line.hidden = false;
      return line.replaceChildren(`Row ${misfit + 1} has ${all[misfit].length} cells, but there are ${header.length} columns. Correct the row and choose the file again.`);
    }
    const checked = this.columns.filter((one) => one.role === "group" || (one.role === "answer" && this.kind === "label"));
    const slip = checked.flatMap((column) => column.values.filter(([value]) => value !== value.trim())
      .map(([value]) => ({ column, value })))[0];
    line.hidden = !slip;
    if (!slip) return line.replaceChildren();
    const place = this.table.header.indexOf(slip.column.name);
    const row = this.table.rows.findIndex((one) => one[place] === slip.value);
    line.replaceChildren(`${slip.column.name}: “${slip.value}” has a space around it (row ${row + 1}). `);
    if (!this.table.isCsv) return;
    const mend = makeElement("button", { type: "button", className: "button quiet small", textContent: "Correct it" });
    mend.addEventListener("click", () => this.mend(checked));
    line.append(mend);
  }

  mend(columns) {
    for (const column of columns) {
      const place = this.table.header.indexOf(column.name);
      for (const row of this.table.rows) row[place] = row[place].trim();
      column.values = counted(this.table.rows.map((row) => row[place]));
    }
    this.mended = true;
    this.draw();
    this.update();
  }

  // ------------------------------------------------------------------------------------------------------------- items

  /** Return the items, header first, without answers; by id, since the order of gold could tell something. */
  itemRows() {
    const kept = this.columns.map((one, place) => [one.role, place])
      .filter(([role]) => ["id", "group", "shown"].includes(role)).map(([, place]) => place);
    const id = this.columns.findIndex((one) => one.role === "id");
    const byId = ([one], [other]) => one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);
    const rows = this.table.rows.map((row) => [row[id] ?? "", kept.map((place) => row[place])]).sort(byId);
    return [kept.map((place) => this.table.header[place]), ...rows.map(([, cells]) => cells)];
  }

  showItems() {
    const [header, ...rows] = this.itemRows();
    const preview = this.part("items-preview");
    preview.querySelector("thead tr").replaceChildren(...header.map((name) =>
      makeElement("th", { scope: "col", textContent: name })));
    preview.querySelector("tbody").replaceChildren(...rows.slice(0, PREVIEWED).map((row) =>
      makeElement("tr", {}, ...row.map((cell) => makeElement("td", { textContent: cell })))));
    preview.hidden = false;
  }

  // ----------------------------------------------------------------------------------------------------------- sending

  async submitted(event) {
    if (!this.table) {
      if (this.part("unreadable").hidden) return;
      event.preventDefault();
      return this.part("unreadable").scrollIntoView({ block: "center" });
    }
    event.preventDefault();
    const failed = this.part("failed"), working = this.part("working");
    failed.hidden = true;
    working.hidden = false;
    try {
      await this.sendItems();
      await this.sendGold();
      window.location.assign(this.place.dataset.next);
    } catch (error) {
      failed.textContent = error.message;
      failed.hidden = false;
      working.hidden = true;
      failed.scrollIntoView({ block: "center" });
    }
  }

  async sendItems() {
    const answers = new URLSearchParams(new FormData(this.form));
    for (const name of ["csrf_token", "base"]) answers.delete(name);
    const [chosen] = this.itemsFile.files;
    const file = this.makesItems() ? new File([inCsv(this.itemRows())], "items.csv", { type: "text/csv" }) : chosen;
    if (!file) return this.send(this.form.action, new URLSearchParams(new FormData(this.form)));
    const body = new FormData();
    body.append("csrf_token", this.form.elements.csrf_token.value);
    body.append("answers", answers.toString());
    body.append("file", file);
    return this.send(this.place.dataset.items, body);
  }

  sendGold() {
    const [chosen] = this.goldFile.files;
    const { header, all } = this.table;
    const name = chosen.name.replace(/\.[^.]*$/, "") + ".csv";
    const file = this.mended ? new File([inCsv([header, ...all])], name, { type: "text/csv" }) : chosen;
    const body = new FormData();
    for (const [name, value] of new FormData(this.gold)) if (name !== "file" && name !== "describe") body.append(name, value);
    body.append("file", file);
    return this.send(this.place.dataset.gold, body);
  }

  async send(address, body) {
    const answer = await fetch(address, { method: "POST", body, headers: { Accept: "text/html" } });
    if (answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const told = [...page.querySelectorAll("main .notice.bad p, main .notice.bad li, main .error:not([hidden])")]
      .map((one) => one.textContent.trim()).filter(Boolean);
    throw new Error([...new Set(told)].join(" ") || `The server answered ${answer.status}. Please try again.`);
  }
}

document.querySelectorAll("[data-setup-files]").forEach((place) => new SetupFiles(place));

for (const select of document.querySelectorAll("select[data-zone]")) {
  const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (mine && mine !== "UTC" && ![...select.options].some((one) => one.value === mine)) {
    select.append(makeElement("option", { value: mine, textContent: `Mine, ${mine}` }));
  }
}

for (const form of document.querySelectorAll("[data-setup-board]")) {
  const preview = document.querySelector("[data-board-preview]");
  const draw = () => {
    for (const tick of form.querySelectorAll("[data-column]")) {
      for (const cell of preview.querySelectorAll(`[data-cell="${tick.dataset.column}"]`)) cell.hidden = !tick.checked;
    }
    const rank = form.querySelector("[data-rank]:checked");
    for (const heading of preview.querySelectorAll("th[data-cell]")) {
      heading.querySelector("[data-ranking]").hidden = heading.dataset.cell !== rank?.dataset.rank;
    }
    const scoreOf = (row) => Number.parseFloat(row.querySelector(`[data-cell="${rank?.dataset.rank}"]`)?.textContent);
    const sign = rank?.dataset.order === "ascending" ? -1 : 1;
    const rows = [...preview.tBodies[0].rows].filter((row) => Number.isFinite(scoreOf(row)));
    preview.tBodies[0].prepend(...rows.sort((one, other) => sign * (scoreOf(other) - scoreOf(one))));
  };
  form.addEventListener("change", draw);
  draw();  // what was ticked before this script had come
}

/** The drawing of the phases follows their dates while they are typed; the server draws it from the fields so far. */
class PhasesDrawing {
  constructor(form) {
    this.form = form;
    this.place = document.querySelector("[data-drawn-phases]");
    this.drawn = this.fields().toString();
    form.addEventListener("input", () => this.typed());
  }

  fields() { return new URLSearchParams([...new FormData(this.form)].filter(([name]) => name.startsWith("phase."))); }

  /** Whether each phase has dates in their order: one that is half typed would take its phase off the drawing. */
  isWhole() {
    return [...this.form.querySelectorAll(".phase-dates")].every((phase) => {
      const [start, end] = phase.querySelectorAll("input[type=datetime-local]");
      return start.value && !end.validity.badInput && (!end.value || end.value > start.value);
    });
  }

  typed() {
    window.clearTimeout(this.pause);
    this.pause = window.setTimeout(() => this.draw(), 300);
  }

  async draw() {
    const fields = this.fields().toString();
    if (fields === this.drawn || !this.isWhole()) return;
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const answer = await fetch(`${window.location.pathname}?${fields}`, { headers: { Accept: "text/html" }, signal: this.asked.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const drawing = answer.ok && page.querySelector("[data-drawn-phases]");
      if (!drawing) return;
      const isOpen = this.place.querySelector("details")?.open ?? false;
      this.place.replaceChildren(...drawing.childNodes);
      this.place.querySelector("details")?.toggleAttribute("open", isOpen);
      this.drawn = fields;
    } catch {
      // The next change draws it again.
    }
  }
}

document.querySelectorAll("[data-setup-phases]").forEach((form) => new PhasesDrawing(form));

/** Replace what workers are still at, until nothing is awaited any more; what was typed or ticked stays. */
const refreshAwaited = async (pause) => {
  try {
    const answer = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const one of answer.ok ? document.querySelectorAll("[data-fresh]") : []) {
      const fresh = page.querySelector(`[data-fresh="${CSS.escape(one.dataset.fresh)}"]`);
      if (fresh) one.replaceWith(fresh);
    }
  } catch {
    // The next look may find the server again.
  }
  awaitWorkers(Math.min(pause * 1.5, 15_000));
};
const awaitWorkers = (pause) => {
  if (document.querySelector("[data-awaited]")) window.setTimeout(() => refreshAwaited(pause), pause);
};
awaitWorkers(800);
