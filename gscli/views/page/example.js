/* One run: its cells linked, its entries replayed, their sentences told. */

var LETTERS = 4; // entries that a cell names; of more, the first and the last
var SPOKEN = 3; // sentences told at once
var DRAWN = 4; // entries whose curves are drawn at once
var COLOURS = 7;

function Example(section) {
  var facts = JSON.parse(section.querySelector(".facts").textContent);
  var gather = section.classList.contains("gather");
  var stage = section.querySelector(".stage");
  var cells = all(stage, "td[aria-label]");
  var outputs = all(stage, ".output td[aria-label]");
  var rows = all(section, ".entries button");
  var written = outputs.map(entriesOf);
  var skipped = rows.map(function (row) { return row.querySelector("i").className === "x"; });
  var last = facts.steps.length + (facts.finish ? 1 : 0);
  var step = last;
  var replaying = false;
  var linked = facts.labels.map(function () { return []; });
  cells.forEach(function (cell) {
    entriesOf(cell).forEach(function (entry) { linked[entry].push(cell); });
  });

  var back = button("◀ back", function () { go(step - 1); });
  var next = button("next ▶", function () { go(step + 1); });
  var slider = make("input", { type: "range", min: 0, max: last, "aria-label": "step" });
  var told = make("span");
  var controls = make("div", { "class": "controls" });
  var say = make("div", { "class": "say", role: "status" });
  var curves = Curves(stage);
  [back, slider, next, told].forEach(function (part) { controls.appendChild(part); });
  section.insertBefore(controls, stage);
  section.insertBefore(say, stage);

  /* Replaying: the output after `step` entries. */

  function go(to) {
    step = between(0, to, last);
    replaying = true;
    paint();
    rest();
  }

  function paint() {
    var texts = facts.start.slice();
    facts.steps.slice(0, step).forEach(function (changes) {
      for (var at = 0; at < changes.length; at += 2) { texts[changes[at]] = changes[at + 1]; }
    });
    if (step === last) { texts = facts.result; }
    outputs.forEach(function (cell, place) {
      var done = written[place].filter(function (entry) { return entry < step; });
      fill(cell, texts[place], done);
    });
    slider.value = step;
    slider.setAttribute("aria-valuetext", "step " + step + " of " + last);
    told.textContent = "step " + step + " of " + last;
    enable(back, step > 0);
    enable(next, step < last);
  }

  function fill(cell, text, entries) {
    var value = cell.querySelector("b");
    var chips = cell.querySelector(".e");
    var place = cell.getAttribute("aria-label").split(" is ")[0];
    cell.setAttribute("aria-label", place + " is " + (text || "empty") + entryWords(entries));
    value.textContent = text || "·";
    if (!chips) { return; }
    value.className = entries.length ? colour(entries[entries.length - 1]) : "";
    cell.classList.toggle("drop", entries.length > 0 && entries.every(isSkipped));
    chips.textContent = "";
    entries.forEach(function (entry, place) {
      if (entries.length <= LETTERS || place === 0 || place === entries.length - 1) {
        chips.appendChild(make("i", { "class": colour(entry) }, facts.labels[entry]));
      } else if (place === 1) {
        chips.appendChild(make("i", { "class": "m" }, "+" + (entries.length - 2)));
      }
    });
  }

  function isSkipped(entry) { return skipped[entry]; }

  function colour(entry) { return skipped[entry] ? "x" : "c" + (entry % COLOURS); }

  function entryWords(entries) {
    var labels = entries.map(function (entry) { return facts.labels[entry]; });
    var end = labels.pop();
    if (!end) { return ""; }
    return ", entry " + (labels.length ? labels.join(", ") + " and " : "") + end;
  }

  /* Lighting: everything that belongs to some entries, with curves and their sentences. */

  function rest() {
    if (!replaying) {
      light([]);
      tell([
        words(section.querySelector(".counts").textContent),
        words("Point at or tab to a coloured cell to see what belongs to it; "
          + "the slider and the arrow keys replay the entries.")
      ]);
    } else if (step > 0 && step <= facts.steps.length) {
      light([step - 1]);
      tell([sentence(step - 1)]);
    } else {
      light([]);
      tell([words(step > 0 ? facts.finish : facts.opening)]);
    }
  }

  function point(cell) {
    var entries = entriesOf(cell);
    var many = entries.length > SPOKEN;
    light(entries);
    tell(entries.length === 0
      ? [words(cell.getAttribute("aria-label") + ": no entry touches it.")]
      : entries.slice(0, many ? SPOKEN - 1 : SPOKEN).map(sentence).concat(
        many ? [words("and " + (entries.length - SPOKEN + 1) + " more entries")] : []
      ));
  }

  function light(entries) {
    var lit = [];
    entries.forEach(function (entry) { lit = lit.concat(linked[entry]); });
    all(stage, ".lit, .at").forEach(function (part) { part.classList.remove("lit", "at"); });
    stage.classList.toggle("pointing", lit.length > 0);
    lit.forEach(function (cell) {
      var row = cell.parentNode;
      var head = cell.closest("table").tHead;
      cell.classList.add("lit");
      if (row.cells[0].scope) { row.cells[0].classList.add("at"); }
      if (head) { head.rows[0].cells[cell.cellIndex].classList.add("at"); }
    });
    rows.forEach(function (row, entry) {
      row.classList.toggle("now", entries.indexOf(entry) >= 0);
    });
    drawn = entries.slice(0, DRAWN);
    draw();
  }

  function words(text) { return make("span", {}, text); }

  function sentence(entry) {
    var part = make("span");
    all(rows[entry], "i, .s").forEach(function (piece) {
      part.appendChild(piece.cloneNode(true));
      part.appendChild(document.createTextNode(" "));
    });
    return part;
  }

  function tell(parts) {
    say.textContent = "";
    parts.forEach(function (part) { say.appendChild(part); });
  }

  /* Curves: index to data to output, or index and update to output. */

  var drawn = [];

  function draw() {
    var pairs = [];
    drawn.forEach(function (entry) {
      function join(from, to) {
        groups(entry, from).forEach(function (first) {
          groups(entry, to).forEach(function (second) { pairs.push([first, second]); });
        });
      }
      if (gather && skipped[entry]) {
        join("indices", "output");
      } else if (gather) {
        join("indices", "data");
        join("data", "output");
      } else {
        join("indices", "output");
        join("updates", "output");
      }
    });
    curves.draw(pairs);
  }

  // The cells of an entry in the tensors of one role, a list per tensor.
  function groups(entry, role) {
    return all(stage, ".tensor." + role).map(function (tensor) {
      return linked[entry].filter(function (cell) { return tensor.contains(cell); });
    }).filter(function (found) { return found.length; });
  }

  /* Pointer and focus; one entry of the list is a tab stop. */

  stage.addEventListener("mouseover", function (event) {
    var cell = event.target.closest("td[aria-label]");
    if (cell) { point(cell); }
  });
  stage.addEventListener("mouseleave", rest);
  section.addEventListener("focusin", function (event) {
    var cell = event.target.closest("td[aria-label]");
    var row = rows.indexOf(event.target);
    if (cell) { point(cell); }
    if (row >= 0) { light([row]); tell([sentence(row)]); }
  });
  section.addEventListener("focusout", rest);
  rows.forEach(function (row, entry) {
    row.tabIndex = entry ? -1 : 0;
    row.addEventListener("click", function () { go(entry + 1); });
    row.addEventListener("keydown", function (event) {
      var move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!move) { return; }
      event.preventDefault();
      rove(rows, rows[between(0, entry + move, rows.length - 1)]);
    });
  });
  slider.addEventListener("input", function () { go(Number(slider.value)); });
  window.addEventListener("resize", draw);
  stage.addEventListener("scroll", draw, true);

  Grid(stage);
  paint();
  rest();

  return { move: function (by) { go(step + by); } };
}
