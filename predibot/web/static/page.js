// Nothing needs this: it adds the reader's own time to instants, and looks again at a page of what is new.
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
