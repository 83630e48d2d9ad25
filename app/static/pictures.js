// Draws the pictures of a board when somebody asks for them: by the button, or by a link to one of them. The numbers come
// from the API, the library only now. They are drawn anew in the dark, on another width and for paper.
"use strict";

const asking = document.querySelector("[data-script]");
const figures = [...document.querySelectorAll("figure[data-picture]")];
const [isDark, isPrinted] = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
const drawn = new Map();
const NARROW = 560, FILE_WIDTH = 900, SHARP = 3;
const FILE_FONT = "Helvetica, Arial, sans-serif";

// Okabe and Ito's colours, for those who see colours otherwise; darkened where they stand on white.
const LIGHT = {
  ink: "#1b211e", soft: "#59625c", line: "#e3e0d5", strong: "#8d8c80", card: "#ffffff", gold: "#8a610c", onPalette: "#ffffff",
  palette: ["#0b6b4f", "#c2500a", "#0067a6", "#a0447e", "#6b5b00", "#3d3d3d"],
  ramp: ["#eef5f0", "#8fc3a8", "#0b4b37"], rampInk: ["#1b211e", "#ffffff"], rampTurn: 0.74,
};
const DARK = {
  ink: "#e8e6dd", soft: "#a2aaa3", line: "#2c332f", strong: "#6d766f", card: "#1a1f1c", gold: "#e3bd63", onPalette: "#10201a",
  palette: ["#63c79f", "#f0a04b", "#6cbcf0", "#e39ac4", "#e6d95c", "#d0d0d0"],
  ramp: ["#202a25", "#35755a", "#a9ecca"], rampInk: ["#e8e6dd", "#0d2118"], rampTurn: 0.55,
};
const PAPER = { ...LIGHT, ink: "#000000", soft: "#333333", line: "#d0d0d0", gold: "#000000" };

/** Colours and room of what is drawn here and now. */
function lookOf(width) {
  const colours = isPrinted.matches || isPrinting ? PAPER : isDark.matches ? DARK : LIGHT;
  return { ...colours, font: getComputedStyle(document.body).fontFamily, width, isNarrow: width < NARROW, isFile: false };
}
let isPrinting = false;

function load(address) {
  return new Promise((loaded, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: address, onload: loaded, onerror: () => failed(new Error("the library did not come")) });
    document.head.append(script);
  });
}

async function numbersOf(figure) {
  const answer = await fetch(figure.dataset.picture, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the numbers did not come (${answer.status})`);
  return answer.json();
}

// ------------------------------------------------------------------------------------------------------------ drawing

function draw(figure) {
  const { picture, canvas } = drawn.get(figure);
  const look = lookOf(canvas.clientWidth);
  canvas.style.height = `${heightOf(picture, look)}px`;
  drawn.get(figure).chart?.dispose();
  const chart = echarts.init(canvas, null, { renderer: "canvas", devicePixelRatio: Math.max(devicePixelRatio, isPrinting ? SHARP : 1) });
  chart.setOption(optionOf(picture, look));
  Object.assign(drawn.get(figure), { chart, width: canvas.clientWidth });
  figure.dataset.drawn = isPrinting || isPrinted.matches ? "paper" : isDark.matches ? "dark" : "light";
}

function drawAll() {
  for (const figure of drawn.keys()) draw(figure);
}

async function show(figure) {
  const picture = await numbersOf(figure);
  const canvas = document.createElement("div");
  canvas.className = "canvas";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${picture.title}. ${picture.summary}`);
  figure.querySelector("figcaption").after(canvas);
  drawn.set(figure, { picture, canvas, chart: null, width: 0 });
  draw(figure);
  figure.querySelector("details").open = false;
  figure.querySelector(".plot-foot").append(fileButton(figure, "SVG", svgOf), fileButton(figure, "PNG", pngOf));
  new ResizeObserver(() => { if (canvas.clientWidth && canvas.clientWidth !== drawn.get(figure).width) draw(figure); }).observe(canvas);
}

async function showAll() {
  const [button, said] = [asking.querySelector("button"), asking.querySelector("[role=status]")];
  button.disabled = true;
  said.textContent = "Drawing …";
  try {
    await load(asking.dataset.script);
    await Promise.all(figures.map(show));
    button.hidden = true;
    said.textContent = "";
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  } catch (error) {
    button.disabled = false;
    said.textContent = `That did not work: ${error.message}. The tables say the same.`;
  }
}

// -------------------------------------------------------------------------------------------------------------- files

/** What XML cannot hold; names of teams may have any character. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

// As text: a parsed file would be bound by this page's policy, which refuses its styles.
const escaped = (text) => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

/** The chart as a file shows it: light, with its title, as wide as a page. */
function forFile(figure, start, use) {
  const { picture } = drawn.get(figure);
  const look = { ...LIGHT, font: FILE_FONT, width: FILE_WIDTH, isNarrow: false, isFile: true };
  const chart = start({ width: FILE_WIDTH, height: heightOf(picture, look) + FILE_HEAD });
  chart.setOption(optionOf(picture, look, figure.dataset.context));
  const made = use(chart);
  chart.dispose();
  return { made, picture };
}

async function svgOf(figure) {
  const { made, picture } = forFile(figure, (size) => echarts.init(null, null, { renderer: "svg", ssr: true, ...size }), (chart) => chart.renderToSVGString());
  const names = `<title>${escaped(picture.title)}</title><desc>${escaped(picture.summary)}</desc>`;
  const file = made.replace(/<svg[^>]*>/, (start) => start + names).replace(UNPRINTABLE, " ");
  return new Blob([file], { type: "image/svg+xml" });
}

function pngOf(figure) {
  const start = (size) => echarts.init(document.createElement("div"), null, { renderer: "canvas", ...size });
  const { made } = forFile(figure, start, (chart) => chart.renderToCanvas({ pixelRatio: 2, backgroundColor: "#ffffff" }));
  return new Promise((finished) => made.toBlob(finished, "image/png"));
}

function fileButton(figure, kind, make) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link file";
  button.textContent = `Download ${kind}`;
  button.setAttribute("aria-label", `Download ${kind}: ${drawn.get(figure).picture.title}`);
  button.addEventListener("click", async () => {
    const address = URL.createObjectURL(await make(figure));
    const link = Object.assign(document.createElement("a"), { href: address, download: `${figure.dataset.file}.${kind.toLowerCase()}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  return button;
}

// ---------------------------------------------------------------------------------------------------------- beginning

function offer() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = figures.length === 1 ? "Draw the picture" : "Draw the pictures";
  button.addEventListener("click", showAll);
  asking.prepend(button);
  asking.hidden = false;
  const named = decodeURIComponent(location.hash.slice(1));
  if (named && document.getElementById(named)?.closest(".picture, .room-head")) showAll();
}

function onPaper(starts) {
  isPrinting = starts;
  drawAll();
}

if (asking && figures.length) {
  offer();
  isDark.addEventListener("change", drawAll);
  isPrinted.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
}
