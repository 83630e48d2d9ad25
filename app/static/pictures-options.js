// From a picture's numbers (/api/v1/…/pictures/NAME) to what ECharts is to draw. Marks, dashes and words tell things
// apart, colours only help. `look` has the colours, the font, and how wide it is; nothing here knows the page.
"use strict";

const MARKS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
const DASHES = ["solid", [7, 4], [2, 3], [10, 3, 2, 3], [1, 3], [14, 5]];
const MOST_NAME = 22, MOST_WORDS = 34;
const DAY_MS = 24 * 3600e3;

const short = (text, most = MOST_NAME) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

/** A value of an axis, as people write it. */
function told(axis, value) {
  if (axis.kind === "time") return `${new Date(value).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (typeof value !== "number") return String(value ?? "–");
  const digits = (axis.percent ? 100 * value : value).toFixed(axis.decimals);
  return `${Number(digits) === 0 ? digits.replace("-", "") : digits.replace("-", "\u2212")}${axis.percent ? " %" : ""}`;
}

/** The same at a tick, without zeros at its end. */
const atTick = (axis) => (value) => `${Number((axis.percent ? 100 * value : value).toFixed(6))}`.replace("-", "\u2212");
const titled = (axis) => (axis.percent ? `${axis.title} (%)` : axis.title);

function base(look) {
  return {
    animation: false,
    backgroundColor: look.isFile ? "#ffffff" : "transparent",
    textStyle: { fontFamily: look.font, color: look.ink, fontSize: 13 },
    tooltip: {
      renderMode: "richText", confine: true, transitionDuration: 0, backgroundColor: look.card, borderColor: look.strong,
      textStyle: { color: look.ink, fontFamily: look.font, fontSize: 13 },
    },
    grid: { left: 26, right: 20, top: 20, bottom: 26 },
  };
}

function axisOf(axis, look, more = {}) {
  return {
    name: titled(axis), nameLocation: "middle", nameGap: 32, nameTextStyle: { color: look.soft, fontSize: 13 },
    axisLine: { show: false, lineStyle: { color: look.strong } }, axisTick: { show: false },
    axisLabel: { color: look.soft, fontSize: 12, hideOverlap: true },
    splitLine: { lineStyle: { color: look.line } },
    ...more,
  };
}

const numbers = (axis, look, more = {}) => {
  const made = axisOf(axis, look, { type: "value", scale: true, nameGap: 44, ...more });
  made.axisLabel = { ...made.axisLabel, formatter: atTick(axis) };
  return made;
};

/** Values to compare with, as dashed lines with their names: those of x above the plot, each in a row of its own. */
function comparing(picture, look, low = 0, high = 1) {
  const lines = picture.lines.map((line, place) => {
    const isUpright = line.axis === "x";
    const upright = { position: "end", rotate: 0, distance: [0, 5 + 17 * place], align: line.value < (low + high) / 2 ? "left" : "right" };
    return {
      [isUpright ? "xAxis" : "yAxis"]: line.value,
      lineStyle: { color: look.gold, type: DASHES[1 + (place % 3)], width: 1.8 },
      label: {
        formatter: short(line.label, MOST_WORDS), color: look.gold, fontSize: 12, fontWeight: 600, distance: 4, position: "insideEndTop",
        textBorderColor: look.card, textBorderWidth: 3, ...(isUpright ? upright : {}),
      },
    };
  });
  return { symbol: "none", silent: true, animation: false, data: lines };
}

/** What the names of upright lines take up above the plot. */
const aboveOf = (picture) => 17 * picture.lines.filter((line) => line.axis === "x").length;

/** Of records that a team broke itself, the last has the name. */
const isNamed = (points, place) => points[place + 1]?.label !== points[place].label;

// ------------------------------------------------------------------------------------------------------------ by kind

const OPTIONS = {
  steps(picture, look) {
    const [entries, record] = picture.series;
    const times = entries.points.map((point) => Date.parse(point.x));
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const air = Math.max((last - first) * 0.04, DAY_MS / 4);
    const end = { value: [last + air, record.points.at(-1).y], symbolSize: 0, label: { show: false } };
    const values = [...entries.points.map((point) => point.y), ...picture.lines.map((line) => line.value)];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return {
      ...base(look),
      useUTC: true,
      grid: { left: 26, right: 24, top: 30, bottom: 26 },
      xAxis: axisOf(picture.x, look, {
        type: "time", min: first - air, max: last + air, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: look.strong } },
        splitNumber: look.isNarrow ? 3 : 6,
        axisLabel: { color: look.soft, fontSize: 12, hideOverlap: true, formatter: { year: "{yyyy}", month: "{MMM} {yyyy}", day: "{d} {MMM}", hour: "{HH}:{mm}", minute: "{HH}:{mm}" } },
      }),
      yAxis: numbers(picture.y, look),
      series: [
        {
          type: "line", name: record.name, step: "end", symbol: "diamond", symbolSize: 11, z: 3, data: [
            ...record.points.map((point, place, all) => ({ value: [Date.parse(point.x), point.y], name: isNamed(all, place) ? point.label : "" })), end,
          ],
          lineStyle: { color: look.palette[0], width: 2.4 }, itemStyle: { color: look.palette[0], borderColor: look.card, borderWidth: 1 },
          label: { show: true, position: "top", distance: 6, offset: [4, 0], align: "right", color: look.ink, fontSize: 12, textBorderColor: look.card, textBorderWidth: 3, formatter: (drawn) => short(drawn.name) },
          labelLayout: { hideOverlap: true }, emphasis: { disabled: true }, tooltip: { show: false },
          markLine: comparing(picture, look),
        },
        {
          type: "scatter", name: entries.name, z: 2,
          data: entries.points.map((point) => ({
            value: [Date.parse(point.x), point.y], name: point.label,
            symbol: point.is_mine ? "rect" : "circle", symbolSize: point.is_mine ? 9 : 7,
            itemStyle: { opacity: 1, color: point.is_mine ? look.palette[1] : look.card, borderColor: point.is_mine ? look.ink : look.soft, borderWidth: 1.6 },
          })),
          tooltip: { formatter: ({ name, value }) => `${name}\n${told(picture.y, value[1])}\n${told(picture.x, value[0])}` },
        },
        { type: "scatter", silent: true, symbolSize: 0, data: [[first, low], [last, high]], tooltip: { show: false } },
      ],
    };
  },

  bars(picture, look) {
    const [counts] = picture.series;
    const few = counts.points.length <= 31 && !look.isNarrow;
    return {
      ...base(look),
      xAxis: axisOf(picture.x, look, { type: "category", data: picture.x.categories, axisLine: { show: true, lineStyle: { color: look.strong } } }),
      yAxis: numbers(picture.y, look, { scale: false, minInterval: 1 }),
      series: [{
        type: "bar", data: counts.points.map((point) => point.y), barMaxWidth: 46, barMinHeight: 0,
        itemStyle: { color: look.palette[0] }, emphasis: { disabled: true },
        label: { show: few, position: "top", color: look.ink, fontSize: 12, formatter: ({ value }) => (value ? value : "") },
        tooltip: { formatter: ({ name, value }) => `${name}\n${told(picture.y, value)}` },
      }],
    };
  },

  histogram(picture, look) {
    const [counts] = picture.series;
    const low = counts.points[0].x;
    const high = low + picture.width * counts.points.length;
    const every = Math.ceil(counts.points.length / (look.isNarrow ? 4 : 11));
    return {
      ...base(look),
      grid: { left: 26, right: 30, top: 20 + aboveOf(picture), bottom: 26 },
      xAxis: [
        { type: "category", data: picture.x.categories, show: false },
        numbers(picture.x, look, { min: low, max: high, interval: every * picture.width, nameGap: 32, position: "bottom", splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: look.strong } }, axisTick: { show: true, lineStyle: { color: look.strong } } }),
      ],
      yAxis: numbers(picture.y, look, { scale: false, minInterval: 1 }),
      series: [
        {
          type: "bar", data: counts.points.map((point) => point.y), barCategoryGap: "6%", itemStyle: { color: look.palette[0] }, emphasis: { disabled: true },
          label: { show: true, position: "insideTop", distance: 6, color: look.onPalette, fontSize: 12, formatter: ({ value }) => (value ? value : "") },
          tooltip: { formatter: ({ name, value }) => `${name}\n${told(picture.y, value)}` },
        },
        { type: "line", xAxisIndex: 1, data: [], markLine: comparing(picture, look, low, high) },
      ],
    };
  },

  profile(picture, look) {
    const colour = (place) => look.palette[place % look.palette.length];
    const legendRows = Math.ceil(picture.series.length / Math.max(1, Math.floor(look.width / 180)));
    const lastOf = (points) => points.findLastIndex((point) => point.y !== null);
    return {
      ...base(look),
      tooltip: { ...base(look).tooltip, trigger: "axis", axisPointer: { lineStyle: { color: look.strong } }, formatter: (drawn) => [drawn[0].name, ...drawn.map(({ seriesName, data }) => `${seriesName}  ${told(picture.y, data.value)}`)].join("\n") },
      legend: look.isNarrow ? { top: 0, left: 0, textStyle: { color: look.ink, fontSize: 12 }, itemWidth: 34, formatter: short, inactiveColor: look.soft, selectedMode: false } : undefined,
      grid: { left: 26, right: look.isNarrow ? 20 : 120, top: look.isNarrow ? 24 + 22 * legendRows : 20, bottom: 26 },
      xAxis: axisOf(picture.x, look, { type: "category", data: picture.x.categories, boundaryGap: true, axisLine: { show: true, lineStyle: { color: look.strong } }, splitLine: { show: true, lineStyle: { color: look.line } } }),
      yAxis: numbers(picture.y, look),
      series: picture.series.map((one, place) => ({
        type: "line", name: one.name, symbol: MARKS[place % MARKS.length], symbolSize: 9,
        data: one.points.map((point, at) => ({ value: point.y, label: { show: !look.isNarrow && at === lastOf(one.points) } })),
        lineStyle: { color: colour(place), type: DASHES[place % DASHES.length], width: 2 }, itemStyle: { color: colour(place) },
        label: { position: "right", formatter: short(one.name), color: look.ink, fontSize: 12.5, distance: 10, textBorderColor: look.card, textBorderWidth: 3 },
        labelLayout: { moveOverlap: "shiftY" }, emphasis: { focus: "none", lineStyle: { width: 2 } },
      })),
    };
  },

  scatter(picture, look) {
    const marks = { team: "circle", baseline: "rect", published: "triangle" };
    const titles = picture.series.length > 1;
    const all = picture.series.flatMap((one) => one.points).filter((point) => point.x !== null && point.y !== null);
    const values = all.flatMap((point) => [point.x, point.y]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const rails = picture.diagonal ? [[low, low], [high, high]] : picture.lines.map((line) => [line.value, all[0].y]);
    const [left, right] = [Math.min(...all.map((point) => point.x)), Math.max(...all.map((point) => point.x))];
    const diagonal = {
      symbol: "none", silent: true, lineStyle: { color: look.gold, type: DASHES[1], width: 1.6 },
      label: { show: false }, data: [[{ coord: [low, low] }, { coord: [high, high] }]],
    };
    return {
      ...base(look),
      legend: titles ? { top: 0, left: 0, itemWidth: 14, itemHeight: 12, itemGap: 18, textStyle: { color: look.ink, fontSize: 12.5 }, selectedMode: false } : undefined,
      grid: { left: 26, right: 30, top: (titles ? 40 : 20) + aboveOf(picture), bottom: 26 },
      xAxis: numbers(picture.x, look, { nameGap: 32 }),
      yAxis: numbers(picture.y, look),
      series: [
        ...picture.series.map((one, place) => ({
          type: "scatter", name: one.name, symbol: marks[one.look], symbolSize: 12, z: 3,
          itemStyle: one.look === "published"
            ? { color: look.card, borderColor: look.palette[1], borderWidth: 2, opacity: 1 }
            : { color: look.palette[one.look === "team" ? 0 : 2], borderColor: look.card, borderWidth: 1, opacity: 1 },
          data: one.points.filter((point) => point.x !== null && point.y !== null).map((point) => ({
            value: [point.x, point.y], name: point.label,
            ...(point.is_mine ? { itemStyle: { borderColor: look.ink, borderWidth: 3 }, symbolSize: 15 } : {}),
          })),
          label: { show: true, position: "right", distance: 7, color: look.ink, fontSize: 12.5, formatter: ({ name }) => short(name), textBorderColor: look.card, textBorderWidth: 3 },
          labelLayout: (drawn) => ({ hideOverlap: true, ...(drawn.labelRect.x + drawn.labelRect.width > look.width - 8 ? { dx: -(drawn.labelRect.width + 28) } : {}) }),
          emphasis: { scale: 1.3 },
          tooltip: { formatter: ({ name, value }) => `${name}\n${picture.y.title} ${told(picture.y, value[1])}\n${picture.x.title} ${told(picture.x, value[0])}` },
          ...(place === 0 ? { markLine: picture.diagonal ? diagonal : comparing(picture, look, left, right) } : {}),
        })),
        { type: "scatter", silent: true, symbolSize: 0, data: rails, tooltip: { show: false } },
      ],
    };
  },

  heat(picture, look) {
    const { categories: columns } = picture.x;
    const { categories: lines } = picture.y;
    const cells = picture.series[0].points;
    const values = cells.map((cell) => cell.value).filter((value) => value !== null);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const isDeep = (value) => (high > low ? (value - low) / (high - low) : 1) > look.rampTurn;
    const place = (cell) => [columns.indexOf(cell.x), lines.indexOf(cell.y)];
    const names = { type: "category", splitLine: { show: false }, nameGap: 12 };
    return {
      ...base(look),
      grid: { left: 40, right: 8, top: topOfHeat(picture, look), bottom: 46 },
      xAxis: { ...axisOf(picture.x, look, names), data: columns, position: "top", name: "", axisLabel: { color: look.soft, fontSize: 12, interval: 0, rotate: isSteep(picture, look) ? 40 : 0 } },
      yAxis: { ...axisOf(picture.y, look, names), data: lines, inverse: true, name: "", axisLabel: { color: look.ink, fontSize: 13, interval: 0 } },
      visualMap: {
        min: low, max: high > low ? high : low + 1e-9, seriesIndex: 0, orient: "horizontal", left: "center", bottom: 0, itemWidth: 12, itemHeight: 130, calculable: false, hoverLink: false,
        inRange: { color: look.ramp }, text: [told(picture.scale, high), told(picture.scale, low)], textStyle: { color: look.soft },
      },
      series: [
        {
          type: "heatmap", progressive: 0, itemStyle: { borderColor: look.card, borderWidth: 2, borderRadius: 4 }, emphasis: { disabled: true },
          data: cells.filter((cell) => cell.value !== null).map((cell) => ({
            value: [...place(cell), cell.value], label: { color: look.rampInk[isDeep(cell.value) ? 1 : 0] },
          })),
          label: { show: true, fontSize: look.isNarrow ? 10.5 : 12.5, formatter: ({ value }) => told({ ...picture.scale, percent: false }, picture.scale.percent ? 100 * value[2] : value[2]) },
          tooltip: { formatter: ({ value }) => `${lines[value[1]]}, ${columns[value[0]]}\n${told(picture.scale, value[2])}` },
        },
        {
          type: "scatter", symbolSize: 22, itemStyle: { color: "transparent" }, data: cells.filter((cell) => cell.value === null).map((cell) => ({ value: place(cell), name: cell.reason })),
          label: { show: true, formatter: "–", color: look.soft }, emphasis: { disabled: true },
          tooltip: { formatter: ({ name, value }) => `${lines[value[1]]}, ${columns[value[0]]}\n${name}` },
        },
      ],
    };
  },
};

/** Whether the names of columns must stand askew to find room, and what they take up then. */
const isSteep = (picture, look) => Math.max(...picture.x.categories.map((name) => name.length)) * 7.5 * picture.x.categories.length > look.width - 60;
const topOfHeat = (picture, look) => (isSteep(picture, look) ? 24 + 5 * Math.max(...picture.x.categories.map((name) => name.length)) : 32);

/** How high a picture of this width is. */
function heightOf(picture, look) {
  if (picture.kind === "heat") return 50 + topOfHeat(picture, look) + 34 * picture.y.categories.length;
  if (picture.kind === "scatter") return Math.min(Math.max(look.width * 0.72, 320), 470);
  if (picture.kind === "profile" && look.isNarrow) return 330 + 11 * picture.series.length;
  return Math.min(Math.max(look.width * 0.5, 290), 380);
}

/** What to draw; a file has its title in it, because it lies on no page. */
function optionOf(picture, look, context = "") {
  const option = OPTIONS[picture.kind](picture, look);
  if (!look.isFile) return option;
  const title = { text: picture.title, subtext: context, left: 12, top: 10, textStyle: { color: look.ink, fontSize: 17, fontFamily: look.font }, subtextStyle: { color: look.soft, fontSize: 12.5, fontFamily: look.font } };
  const lower = (part) => (part && part.top !== undefined ? { ...part, top: part.top + FILE_HEAD, ...(part.left === 0 ? { left: 10 } : {}) } : part);
  return { ...option, title, grid: lower(option.grid), legend: lower(option.legend), tooltip: undefined };
}

/** What the title of a file takes up. */
const FILE_HEAD = 60;
