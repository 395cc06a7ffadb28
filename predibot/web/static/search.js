"use strict";
// Texts of others are only ever set as text.
const most = 50;
const words = document.getElementById("words");
const found = document.getElementById("found");
const count = document.getElementById("count");

function search() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = asked.length
    ? PREDIBOT_INDEX.filter(([kind, text]) => asked.every((word) => `${kind} ${text}`.toLowerCase().includes(word)))
    : [];
  found.replaceChildren(
    ...rows.slice(0, most).map(([kind, text, address]) => {
      const row = document.createElement("li");
      const link = document.createElement("a");
      link.href = address;
      link.textContent = text;
      row.append(`${kind}: `, link);
      return row;
    }),
  );
  count.textContent = asked.length ? `${rows.length} found${rows.length > most ? `, the first ${most} below` : ""}` : "";
}

words.addEventListener("input", search);
search();
