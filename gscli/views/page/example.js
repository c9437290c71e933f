/* One run: its cells linked, its entries replayed, their sentences told. */

var SPOKEN = 3; // sentences told at once
var MANY = 24; // entries that scroll in a frame
var ROOMY = 4; // columns that may be as wide as a sum

function Example(section) {
  var facts = JSON.parse(section.querySelector(".facts").textContent);
  var gather = section.classList.contains("gather");
  var stage = section.querySelector(".stage");
  var inputs = stage.querySelector(".given");
  var rows = all(section, ".entries button");
  var skipped = rows.map(function (row) { return row.querySelector("i").className === "x"; });
  var linked = facts.labels.map(function () { return []; });
  all(stage, "td[data-e]").forEach(function (cell) {
    entriesOf(cell).forEach(function (entry) { linked[entry].push(cell); });
  });
  var output = Output(stage, facts, gather, skipped);
  var crosshair = Crosshair(stage, facts, linked, output.ink);
  var filling = Filling(stage, facts, output.ink);
  var player = Player(output.last, function (to) { predict.stop(); advance(to); });
  var target = stage.querySelector(gather ? ".data" : ".output") || stage;
  var predict = Predict(target, facts, gather, linked, output.after, tell, function (praise) {
    go(step + 1);
    if (praise) { say.insertBefore(words(praise), say.firstChild); }
    player.focus();
  });
  var sources = gather ? all(stage, ".data td[data-e]").map(function (td) {
    var label = td.getAttribute("aria-label");
    return { td: td, entries: entriesOf(td), spoken: label.slice(0, label.lastIndexOf(", entry ")) };
  }) : [];
  var asks = false;
  var veiled = false;
  player.add("predict", function (pressed) {
    asks = pressed;
    predict.stop();
    if (pressed && step < rows.length) { question(); } else { rest(); }
  });
  var desk = make("div", { "class": "desk" });
  var say = make("div", { "class": "say", role: "status", tabindex: 0, "aria-label": "what happens" });
  var step = output.last;
  var lit = [];
  var now = [];
  desk.append(player.element, say);
  section.insertBefore(desk, stage);

  /* Replaying: the output after `step` entries. Before the first, the first is pointed out. */

  // One step on is asked for first, if that is wanted.
  function advance(to) {
    if (asks && to === step + 1 && to <= rows.length) { question(); } else { go(to); }
  }

  // While steps are predicted, neither the list below nor what is read tells those that are to come.
  function veil() {
    rows.forEach(function (row, entry) { row.classList.toggle("ahead", asks && entry >= step); });
    section.classList.toggle("asks", asks);
    if (!asks && !veiled) { return; }
    veiled = asks;
    sources.forEach(function (cell) {
      output.mark(cell.td, cell.entries.filter(function (entry) { return !asks || entry < step; }),
        cell.spoken, "");
    });
  }

  function question() {
    veil();
    light([]);
    crosshair.redraw();
    lit = within(inputs, linked[step]);
    lit.forEach(function (cell) { cell.classList.add("lit"); });
    predict.ask(step);
  }

  function go(to) {
    step = between(0, to, output.last);
    output.go(step);
    player.show(step);
    settle();
    reveal();
    crosshair.redraw();
  }

  function rest() {
    if (predict.asking()) { return; }
    settle();
    crosshair.redraw();
  }

  function settle() {
    veil();
    var entry = step ? step - 1 : 0;
    if (entry >= rows.length) {
      light([]);
      tell([words(rows.length && step ? facts.finish : facts.opening)]);
      return;
    }
    light([entry]);
    tell(step ? [sentence(entry)] : [words(facts.opening + " First:"), sentence(entry)]);
  }

  // The cells of a step are seen, however large their tensors are.
  function reveal() {
    if (!step || step > rows.length) { return; }
    var cell = output.cells(step - 1)[0];
    [inputs.querySelector(".lit"), rows[step - 1]].map(function (part) {
      return part && part.closest(".tall") ? [part.closest(".tall"), hidden(part)] : [null, 0];
    }).forEach(function (move) { if (move[1]) { move[0].scrollTop += move[1]; } });
    if (cell) { cell.scrollIntoView({ block: "nearest", inline: "nearest" }); }
  }

  // How far a part lies outside its frame.
  function hidden(part) {
    var inner = part.getBoundingClientRect(), outer = part.closest(".tall").getBoundingClientRect();
    return Math.min(0, inner.top - outer.top - 60) + Math.max(0, inner.bottom - outer.bottom + 20);
  }

  /* Lighting: everything that belongs to some entries, and the crosshair of the last of them. */

  function point(cell) {
    var entries = entriesOf(cell);
    var many = entries.length > SPOKEN;
    light(entries);
    crosshair.redraw();
    tell(entries.length === 0
      ? [words(nameOf(cell) + " " + placeOf(cell).join(",") + " is " + cell.textContent
        + ": no entry touches it.")]
      : entries.slice(0, many ? SPOKEN - 1 : SPOKEN).map(sentence).concat(
        many ? [words("and " + (entries.length - SPOKEN + 1) + " more entries")] : []
      ));
  }

  function light(entries) {
    var entry = entries.at(-1) ?? null;
    lit.forEach(function (cell) {
      cell.classList.remove("lit", "sum");
      cell.removeAttribute("data-s");
    });
    now.forEach(function (row) { row.classList.remove("now"); });
    lit = entries.flatMap(function (each) { return linked[each]; });
    now = entries.map(function (each) { return rows[each]; });
    lit.forEach(function (cell) { cell.classList.add("lit"); });
    now.forEach(function (row) { row.classList.add("now"); });
    stage.classList.toggle("pointing", lit.length > 0);
    add(entry);
    crosshair.show(entry);
  }

  // The target of a written cell reads as a sum that fits, and a bar says how it filled up.
  function add(entry) {
    var cells = entry === null ? [] : output.cells(entry);
    var alone = !gather && cells.length === 1 ? cells[0] : null;
    // No entry brings what the gradient of data holds.
    var writers = alone && facts.act !== "gradient"
      ? entriesOf(alone).filter(function (each) { return each < step; }) : [];
    if (alone && entry === step - 1 && facts.entries[entry].sum && !alone.matches(".off")) {
      alone.setAttribute("data-s", facts.entries[entry].sum);
      alone.classList.add("sum");
      var width = parseFloat(getComputedStyle(alone, "::after").width);
      alone.classList.toggle("sum", width < alone.offsetWidth + 1);
    }
    filling.show(writers, alone ? output.start(alone) : "", alone ? output.value(alone) : "");
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
    say.append.apply(say, parts);
  }

  /* Pointer and focus; one entry of the list is a tab stop. */

  function cellAt(event) {
    var cell = event.target.closest("td");
    return cell && isCell(cell) ? cell : null;
  }

  stage.addEventListener("mouseover", function (event) {
    var cell = cellAt(event);
    if (cell && !predict.asking()) { player.stop(); point(cell); }
  });
  stage.addEventListener("mouseleave", rest);
  section.addEventListener("focusin", function (event) {
    var cell = cellAt(event);
    var row = rows.indexOf(event.target);
    if (predict.asking()) { return; }
    if (cell) { point(cell); }
    if (row >= 0) { light([row]); crosshair.redraw(); tell([sentence(row)]); }
  });
  section.addEventListener("focusout", rest);
  rows.forEach(function (row, entry) {
    row.tabIndex = entry ? -1 : 0;
    row.addEventListener("click", function () { predict.stop(); go(entry + 1); });
    row.addEventListener("keydown", function (event) {
      var move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!move) { return; }
      event.preventDefault();
      rove(rows, rows[between(0, entry + move, rows.length - 1)]);
    });
  });

  // Paper shows the result, and all that leads to it while that is predicted.
  var was;
  window.addEventListener("beforeprint", function () {
    was = asks;
    asks = false;
    veil();
    output.go(output.last);
    light([]);
  });
  window.addEventListener("afterprint", function () {
    asks = was;
    veil();
    output.go(step);
    rest();
  });

  // Narrow tensors get columns in which every sum finds room, if they stay where they are then.
  var grid = stage.querySelector(".output");
  var first = grid.querySelector("tbody tr");
  var longest = facts.entries.reduce(function (most, entry) {
    return Math.max(most, entry.sum.length);
  }, 0);
  if (longest && first && first.cells.length <= ROOMY + 1) {
    var top = grid.getBoundingClientRect().top;
    grid.classList.add("roomy");
    grid.style.setProperty("--sum", 0.9 * longest + 2 + "ch");
    if (grid.getBoundingClientRect().top > top) { grid.classList.remove("roomy"); }
  }

  // Many entries scroll in frames of their own, so that the target stays in sight.
  if (rows.length > MANY) {
    [inputs, section.querySelector(".entries")].forEach(function (part) {
      part.classList.add("tall");
    });
  }

  // Tables that are not laid out until they come in sight keep their columns and their place.
  function measure() {
    var tables = all(stage, ".block table"), parts = all(stage, ".chunk, .block");
    if (!parts.length) { return; }
    tables.forEach(function (table) { table.style.tableLayout = ""; table.style.width = ""; });
    stage.classList.add("whole");
    var widths = tables.map(function (table) {
      return [table.offsetWidth, all(table, "thead > tr > *").map(function (head) {
        return head.offsetWidth;
      })];
    });
    tables.forEach(function (table, number) {
      all(table, "thead > tr > *").forEach(function (head, place) {
        head.style.width = widths[number][1][place] + "px";
      });
      table.style.width = widths[number][0] + "px";
      table.style.tableLayout = "fixed";
    });
    var sizes = parts.map(function (part) {
      var inner = part.className === "chunk" ? part.firstChild : part;
      return [inner.offsetWidth, inner.offsetHeight];
    });
    stage.classList.remove("whole");
    parts.forEach(function (part, place) {
      part.style.containIntrinsicSize = sizes[place].join("px ") + "px";
    });
  }

  phone.addEventListener("change", measure);
  phone.addEventListener("change", rest);
  measure();
  Grid(stage);
  output.go(0);
  player.show(0);
  step = 0;
  rest();

  return { move: function (by) { player.stop(); predict.stop(); advance(step + by); } };
}
