// Traps in a position, as a table with what its columns mean.

import { percent, signed } from "./numbers.js";

export function trapTable(found) {
  const made = document.createElement("table");
  made.className = "moves";
  made.createTHead().innerHTML = "<tr><th>move</th><th>score</th><th>gain</th><th>finds</th><th>answer</th></tr>";
  for (const { move, plain, gain, finds, answer, trap } of found) {
    const row = made.insertRow();
    row.classList.toggle("trap", trap);
    for (const text of [`${move}${trap ? " ⚑" : ""}`, percent(plain), `${signed(100 * gain, 1)} %`, percent(finds, 0), answer]) row.insertCell().textContent = text;
  }
  return made;
}

export function trapLegend(against) {
  const made = document.createElement("dl"), meanings = [
    ["⚑", `a trap: worth at least 5 % more against ${against}`],
    ["score", "expected score (win + draw/2) of the move if the replies are the best ones"],
    ["gain", `how much more is expected if ${against} replies`],
    ["finds", `how often ${against} finds an answer: a reply within 5 % of the best one`],
    ["answer", "the best reply"]];
  made.className = "keys";
  for (const [name, meaning] of meanings) for (const [tag, textContent] of [["dt", name], ["dd", meaning]]) made.append(Object.assign(document.createElement(tag), { textContent }));
  return made;
}
