// Nothing needs this: it adds the reader's own time to instants, says points of charts, and looks again at a page of what is new.
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

// A chart says the point that is nearest to the pointer, and brings its line forward.
for (const chart of document.querySelectorAll("svg.chart")) {
  const hits = [...chart.querySelectorAll(".series circle")];
  const place = (hit, box) => {
    const own = hit.getBoundingClientRect();
    return { x: own.left + own.width / 2 - box.left, y: own.top + own.height / 2 - box.top, line: hit.closest(".series"), text: hit.textContent };
  };
  const says = document.createElementNS(chart.namespaceURI, "text");
  says.setAttribute("class", "says");
  const forget = () => {
    chart.classList.remove("pointed");
    for (const each of chart.querySelectorAll(".front")) each.classList.remove("front");
    says.remove();
  };
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const away = (each) => Math.hypot(each.x - x, each.y - y);
    const nearest = hits.map((hit) => place(hit, box)).reduce((best, each) => (best && away(best) <= away(each) ? best : each), null);
    forget();
    if (!nearest || away(nearest) > 60) return;
    chart.classList.add("pointed");
    nearest.line.classList.add("front");
    says.textContent = nearest.text;
    chart.append(says);
    // Beside the point, on the side with more room, and never over the edge of a narrow chart.
    const length = says.getComputedTextLength(), beside = nearest.x < box.width / 2 ? nearest.x + 8 : nearest.x - 8 - length;
    const end = Math.min(box.right, chart.parentElement.getBoundingClientRect().right) - box.left;
    says.setAttribute("x", Math.max(0, Math.min(beside, end - length)));
    says.setAttribute("y", Math.max(nearest.y - 10, 12));
  });
  chart.addEventListener("pointerleave", forget);
}
