// Nothing needs this: it adds the reader's own time to instants, searches rows, tells values of charts, and looks again at a page of what is new.
"use strict";

for (const each of document.querySelectorAll("time[datetime]")) {
  const at = new Date(each.dateTime);
  if (!Number.isNaN(at.getTime())) each.title = `${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" })}, your time`;
}

const fresh = document.querySelector("[data-refresh]");
if (fresh) {
  const label = document.createElement("label"), box = document.createElement("input"), said = document.createElement("span");
  // A browser may keep nothing; then each page begins as the first one.
  const kept = (value) => { try { if (value) sessionStorage.setItem("refresh", value); return sessionStorage.getItem("refresh"); } catch { return null; } };
  const seconds = Number(fresh.dataset.refresh);
  let used = false;
  const show = () => { said.textContent = box.checked && used ? " Look again every minute (waits, because you are reading)" : " Look again every minute"; };
  box.type = "checkbox";
  box.checked = kept() !== "off";
  box.addEventListener("change", () => { used = false; kept(box.checked ? "on" : "off"); show(); });
  for (const kind of ["keydown", "pointerdown", "wheel", "touchmove"]) addEventListener(kind, (event) => {
    if (!label.contains(event.target)) { used = true; show(); }
  }, { passive: true });
  setInterval(() => { if (box.checked && !used && !document.hidden) location.reload(); }, 1000 * seconds);
  label.append(box, said);
  fresh.append(" ", label);
  show();
}

// The rows of a long list that do not have all the words that are typed are hidden.
for (const list of document.querySelectorAll(".wide.cards")) {
  const rows = [...list.querySelectorAll("tbody tr")], texts = rows.map((row) => row.textContent.toLowerCase());
  if (rows.length < 12 || list.querySelectorAll("tbody").length > 1) continue;
  const label = document.createElement("label"), words = document.createElement("input"), count = document.createElement("span");
  words.type = "search";
  count.setAttribute("role", "status");
  words.addEventListener("input", () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [number, row] of rows.entries()) row.hidden = !asked.every((word) => texts[number].includes(word));
    count.textContent = asked.length ? ` ${rows.filter((row) => !row.hidden).length} found` : "";
  });
  label.className = "sift";
  label.append(`Search these ${rows.length} rows `, words, count);
  list.before(label);
}

// A chart tells in a box what all its lines were at the instant that is nearest to the pointer, or chosen by arrow keys.
const FORM = /^(?:(.*), )?(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?): (.*)$/s, MOST = 12;
for (const chart of document.querySelectorAll("svg.chart")) {
  const lines = [...chart.querySelectorAll(".series")].map((line) => ({ line, points: [...line.querySelectorAll("circle")].flatMap((hit) => {
    const [, name = "", at, value] = FORM.exec(hit.textContent) ?? [];
    // The browser's own words would lie over the box.
    if (at) hit.replaceChildren();
    return at ? [{ hit, line, name, at, value }] : [];
  }) })).filter((each) => each.points.length);
  const instants = [...new Set(lines.flatMap((each) => each.points.map((point) => point.at)))].sort();
  if (!instants.length) continue;
  const card = chart.closest(".card, figure"), tip = document.createElement("div");
  const guide = document.createElementNS(chart.namespaceURI, "line");
  let shown = -1;
  tip.className = "tip";
  tip.setAttribute("role", "status");
  guide.setAttribute("class", "guide");
  const place = ({ hit }) => { const box = hit.getBoundingClientRect(); return { x: box.left + box.width / 2, y: box.top + box.height / 2 }; };
  const forget = () => {
    shown = -1;
    chart.classList.remove("pointed");
    for (const each of chart.querySelectorAll(".front")) each.classList.remove("front");
    tip.remove();
    guide.remove();
  };
  // Of a line the point at an instant is its last one until then; a line that has ended has none, and dots are of their day.
  const valueAt = ({ line, points }, at) => {
    if (line.classList.contains("dots")) return points.findLast((each) => each.at.slice(0, 10) === at.slice(0, 10));
    return points.at(-1).at < at ? undefined : points.findLast((each) => each.at <= at);
  };
  const row = (point, isFront) => {
    const told = document.createElement("p"), dot = document.createElement("span"), name = document.createElement("span"), value = document.createElement("span");
    const colour = [...point.line.classList].find((each) => /^c\d$/.test(each));
    dot.className = colour ? `dot ${colour}` : "dot";
    name.append(dot, point.name);
    value.textContent = point.value;
    told.append(name, value);
    if (isFront) told.className = "front";
    return told;
  };
  const show = (number, x, y) => {
    forget();
    shown = number;
    const all = lines.map((each) => valueAt(each, instants[number])).filter(Boolean);
    const places = new Map(all.map((each) => [each, place(each)]));
    const away = (each) => Math.hypot(places.get(each).x - x, places.get(each).y - y);
    const near = x === undefined ? all : [...all].sort((one, other) => away(one) - away(other));
    const rows = near.slice(0, MOST).sort((one, other) => places.get(one).y - places.get(other).y);
    const head = document.createElement("p"), more = document.createElement("p");
    head.textContent = instants[number];
    if (all.length > MOST) more.textContent = `and ${all.length - MOST} more`;
    tip.replaceChildren(head, ...rows.map((each) => row(each, each === near[0] && rows.length > 1)), more);
    chart.classList.add("pointed");
    near[0].line.classList.add("front");
    const box = chart.getBoundingClientRect(), own = card.getBoundingClientRect();
    const at = place(all.find((each) => each.at === instants[number]) ?? near[0]).x;
    for (const end of ["x1", "x2"]) guide.setAttribute(end, at - box.left);
    guide.setAttribute("y1", 0);
    guide.setAttribute("y2", box.height - 30);
    chart.append(guide);
    card.append(tip);
    // Beside the instant, on the side with more room.
    const isLeft = at - box.left < box.width / 2;
    tip.style.left = `${Math.max(0, isLeft ? at - own.left + 14 : at - own.left - 14 - tip.offsetWidth)}px`;
    tip.style.top = `${box.top - own.top + 8}px`;
  };
  const point = (event) => {
    const away = (each) => { const at = place(each); return Math.abs(at.x - event.clientX) + 0.2 * Math.abs(at.y - event.clientY); };
    const nearest = lines.flatMap((each) => each.points).map((each) => [away(each), each]).reduce((best, each) => (best[0] <= each[0] ? best : each))[1];
    show(instants.indexOf(nearest.at), event.clientX, event.clientY);
  };
  chart.tabIndex = 0;
  chart.addEventListener("pointermove", point);
  chart.addEventListener("pointerdown", point);
  // Pointing is no choosing by keys, which has a frame.
  chart.addEventListener("mousedown", (event) => event.preventDefault());
  // A finger that is lifted leaves what it pointed at to be read.
  chart.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") forget(); });
  addEventListener("pointerdown", (event) => { if (!chart.contains(event.target)) forget(); });
  chart.addEventListener("blur", forget);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") forget();
    if (!step) return;
    event.preventDefault();
    show(Math.min(Math.max((shown < 0 && step < 0 ? instants.length : shown) + step, 0), instants.length - 1));
  });
}
