/* The cells of the result as they are after some of the entries. A step rewrites no cell but those
   that its entries touch. */

var LETTERS = 4; // entries that a cell names; of more, the first and the last
var COLOURS = 7;

function Output(stage, facts, gather, skipped) {
  var last = facts.entries.length + (facts.finish ? 1 : 0);
  var step = last;
  // Gradients of updates come to be as the result does; their letters stand there from the start.
  var gradients = facts.act === "gradient" ? all(stage, ".updates td[data-e]") : [];
  var cells = all(stage, ".output td[data-e]").concat(gradients).map(function (td, number) {
    var label = td.getAttribute("aria-label") || "";
    var was = td.querySelector(".was"), expected = td.querySelector("em");
    return {
      td: td, number: number, entries: entriesOf(td), start: was ? was.dataset.t : "",
      end: td.querySelector("b").textContent,
      label: label, place: label.split(" is ")[0],
      expected: expected ? ", " + (expected.title || "expected") + " " + expected.dataset.t : ""
    };
  });
  var written = facts.entries.map(function () { return []; });
  cells.forEach(function (cell) {
    cell.entries.forEach(function (entry) { written[entry].push(cell); });
  });
  // Entries that are not told follow in a last step.
  var late = facts.finish ? cells.filter(function (cell) {
    return text(cell, last) !== text(cell, last - 1);
  }) : [];

  function done(cell, at) {
    return cell.entries.filter(function (entry) { return entry < at; });
  }

  function text(cell, at) {
    var writers = done(cell, at);
    var writer = writers.at(-1);
    if (at === last) { return cell.end; }
    if (writer === undefined) { return cell.start; }
    if (gather) { return writers.length < cell.entries.length ? "" : cell.end; } // a bag is read whole
    return (facts.between[writer] || {})[cell.number] || cell.end;
  }

  function go(to) {
    var low = Math.min(step, to), high = Math.max(step, to);
    var changed = new Set(high === last ? late : []);
    written.slice(low, high).forEach(function (group) {
      group.forEach(function (cell) { changed.add(cell); });
    });
    step = to;
    changed.forEach(fill);
  }

  function fill(cell) {
    var entries = done(cell, step), now = text(cell, step);
    cell.td.querySelector("b").textContent = now || "·";
    if (gradients.includes(cell.td)) {
      if (cell.label) { cell.td.setAttribute("aria-label", now ? cell.label : cell.place + " is empty"); }
      return;
    }
    var filled = entries.length && now !== "·" && entries.every(function (entry) { return skipped[entry]; });
    var off = cell.expected && isFinal(cell, entries);
    mark(cell.td, entries, cell.place + " is " + (now || "empty") + (filled ? ", filled" : "")
      + (off ? cell.expected : ""), (filled ? " fill" : "") + (off ? " off" : ""));
  }

  // The colour and the letters of the entries that a cell shows.
  function mark(td, entries, spoken, kind) {
    var chips = td.querySelector(".e");
    td.setAttribute("aria-label", spoken + entryWords(entries));
    td.className = (entries.length ? ink(entries.at(-1)) : "") + kind
      + " n" + Math.min(entries.length, LETTERS);
    chips.textContent = "";
    entries.forEach(function (entry, place) {
      if (entries.length <= LETTERS || place === 0 || place === entries.length - 1) {
        chips.appendChild(make("i", { "class": ink(entry), "data-t": facts.labels[entry] }));
      } else if (place === 1) {
        chips.appendChild(make("i", { "class": "m", "data-t": "+" + (entries.length - 2) }));
      }
    });
  }

  // Whether nothing that follows changes the cell: then it may be held against what is expected.
  function isFinal(cell, entries) {
    return entries.length === cell.entries.length && (step === last || late.indexOf(cell) < 0);
  }

  function ink(entry) { return skipped[entry] ? "x" : "c" + (entry % COLOURS); }

  function entryWords(entries) {
    var labels = entries.map(function (entry) { return facts.labels[entry]; });
    var end = labels.pop();
    if (!end) { return ""; }
    return ", entry " + (labels.length ? labels.join(", ") + " and " : "") + end;
  }

  function cellOf(td) { return cells.find(function (cell) { return cell.td === td; }); }

  return {
    last: last, go: go, ink: ink, mark: mark,
    cells: function (entry) { return written[entry].map(function (cell) { return cell.td; }); },
    after: function (td, entry) { return text(cellOf(td), entry + 1); },
    value: function (td) { return text(cellOf(td), step); },
    start: function (td) { return cellOf(td).start; }
  };
}
