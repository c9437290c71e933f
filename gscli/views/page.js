/* The tables hold what there is to read; this script links their cells, replays the entries,
   asks for the output of a quiz and leads through several examples. It knows no rule. */
(function () {
  "use strict";

  var SVG = "http://www.w3.org/2000/svg";
  var LETTERS = 4; // entries that a cell names; of more, the first and the last
  var SPOKEN = 3; // entries of one cell whose sentences are told
  var DRAWN = 4; // entries whose curves are drawn at once
  var COLOURS = 7;

  function all(root, selector) {
    return Array.prototype.slice.call(root.querySelectorAll(selector));
  }

  function make(name, attributes, text) {
    var element = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) {
      element.setAttribute(key, attributes[key]);
    });
    if (text) { element.textContent = text; }
    return element;
  }

  function button(text, action) {
    var element = make("button", { type: "button" }, text);
    element.addEventListener("click", function () {
      if (element.getAttribute("aria-disabled") !== "true") { action(); }
    });
    return element;
  }

  // A disabled button would lose the focus of a keyboard user who pressed it to the end.
  function enable(element, on) { element.setAttribute("aria-disabled", String(!on)); }

  function between(low, value, high) { return Math.max(low, Math.min(value, high)); }

  function entriesOf(cell) {
    var listed = cell.getAttribute("data-e");
    return listed ? listed.split(" ").map(Number) : [];
  }

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
    var curves = document.createElementNS(SVG, "svg");
    [back, slider, next, told].forEach(function (part) { controls.appendChild(part); });
    curves.setAttribute("aria-hidden", "true");
    stage.appendChild(curves);
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
      light(entries);
      tell(entries.length
        ? entries.slice(0, SPOKEN).map(sentence).concat(entries.length > SPOKEN
          ? [words("and " + (entries.length - SPOKEN) + " more entries")] : [])
        : [words(cell.getAttribute("aria-label") + ": no entry touches it.")]);
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
      curves.textContent = "";
      drawn.forEach(function (entry) {
        var boxes = {};
        ["indices", "data", "updates", "output"].forEach(function (role) {
          boxes[role] = tensorsOf(entry, role).map(bounds);
        });
        var through = gather && boxes.data.length ? boxes.data : boxes.output;
        if (!skipped[entry] || gather) {
          join(boxes.indices, through);
          join(gather && boxes.data.length ? boxes.data : boxes.updates, boxes.output);
        }
      });
    }

    // The cells of an entry in the tensors of one role, a list per tensor.
    function tensorsOf(entry, role) {
      return all(stage, ".tensor." + role).map(function (tensor) {
        return linked[entry].filter(function (cell) { return tensor.contains(cell); });
      }).filter(function (found) { return found.length; });
    }

    function bounds(group) {
      var origin = stage.getBoundingClientRect();
      var boxes = group.map(function (cell) { return cell.getBoundingClientRect(); });
      function edge(pick, side) {
        return pick.apply(null, boxes.map(function (box) { return box[side]; }));
      }
      var row = all(group[0].parentNode, "td[aria-label]");
      return {
        left: edge(Math.min, "left") - origin.left, right: edge(Math.max, "right") - origin.left,
        top: edge(Math.min, "top") - origin.top, bottom: edge(Math.max, "bottom") - origin.top,
        first: group.indexOf(row[0]) >= 0, last: group.indexOf(row[row.length - 1]) >= 0
      };
    }

    function join(from, to) {
      from.forEach(function (a) { to.forEach(function (b) { curve(a, b); }); });
    }

    // An end leaves a tensor sideways where no cell is in the way, otherwise below or above.
    // `aside` keeps the curves that come and those that go apart.
    function end(box, other, aside) {
      var x = (box.left + box.right) / 2 + aside, y = (box.top + box.bottom) / 2 + aside;
      if (other.left > box.right && box.last) { return { x: box.right + 2, y: y, dx: 1, dy: 0 }; }
      if (other.right < box.left && box.first) { return { x: box.left - 2, y: y, dx: -1, dy: 0 }; }
      if (other.bottom < box.top - 30) { return { x: x, y: box.top - 2, dx: 0, dy: -1 }; }
      return { x: x, y: box.bottom + 2, dx: 0, dy: 1 };
    }

    function curve(from, to) {
      var a = end(from, to, 6), b = end(to, from, -6);
      var reach = 24 + 0.22 * Math.sqrt(Math.pow(b.x - a.x, 2) + Math.pow(b.y - a.y, 2));
      var tip = { x: b.x + 9 * b.dx, y: b.y + 9 * b.dy };
      var shape = ["M", a.x, a.y, "C", a.x + reach * a.dx, a.y + reach * a.dy,
        tip.x + reach * b.dx, tip.y + reach * b.dy, tip.x, tip.y].join(" ");
      line("over", shape);
      line("tip", ["M", b.x, b.y, "L", tip.x - 6 * b.dy, tip.y - 6 * b.dx,
        tip.x + 6 * b.dy, tip.y + 6 * b.dx, "Z"].join(" "));
      curves.insertBefore(line("under", shape), curves.firstChild);
    }

    function line(name, shape) {
      var path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      path.setAttribute("d", shape);
      return curves.appendChild(path);
    }

    /* Pointer and keys. One cell per tensor and one entry of the list are tab stops. */

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
    stage.addEventListener("click", function (event) {
      var cell = event.target.closest("td[aria-label]");
      if (cell) { visit(cell); }
    });
    stage.addEventListener("keydown", function (event) {
      var cell = event.target.closest("td[aria-label]");
      var to = cell && neighbour(cell, event.key, event.ctrlKey);
      if (to) { event.preventDefault(); event.stopPropagation(); visit(to); }
    });
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

    function visit(cell) { rove(all(cell.closest(".tensor"), "td[aria-label]"), cell); }

    function rove(group, chosen) {
      group.forEach(function (each) { each.tabIndex = each === chosen ? 0 : -1; });
      chosen.focus();
    }

    function neighbour(cell, key, control) {
      var tensor = cell.closest(".tensor");
      var lines = all(tensor, "tbody tr").map(function (row) {
        return all(row, "td[aria-label]");
      }).filter(function (line) { return line.length; });
      var at = lines.findIndex(function (line) { return line.indexOf(cell) >= 0; });
      var column = lines[at].indexOf(cell);
      var moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
      if (moves[key]) {
        at = between(0, at + moves[key][0], lines.length - 1);
        column += moves[key][1];
      } else if (key === "Home" || key === "End") {
        if (control) { at = key === "Home" ? 0 : lines.length - 1; }
        column = key === "Home" ? 0 : lines[at].length - 1;
      } else {
        return null;
      }
      return lines[at][between(0, column, lines[at].length - 1)];
    }

    all(stage, ".tensor").forEach(function (tensor) {
      var group = all(tensor, "td[aria-label]");
      var first = group.filter(function (cell) { return entriesOf(cell).length; })[0] || group[0];
      group.forEach(function (cell) { cell.tabIndex = cell === first ? 0 : -1; });
    });
    paint();
    rest();

    return { move: function (by) { go(step + by); } };
  }

  function Quiz(section, solved) {
    var facts = JSON.parse(section.querySelector(".facts").textContent);
    var gather = section.classList.contains("gather");
    var question = section.querySelector(".question");
    var score = make("div", { "class": "say", role: "status" });
    var controls = make("div", { "class": "controls" });
    var cells = all(question, ".output td[aria-label]");
    var inputs = cells.map(function (cell, place) {
      var input = make("input", {
        "aria-label": cell.getAttribute("aria-label") + ", your answer", autocomplete: "off",
        spellcheck: "false", placeholder: gather ? "" : facts.start[place]
      });
      cell.querySelector("b").replaceWith(input);
      input.addEventListener("keydown", function (event) {
        if (event.key === "Enter") { check(); }
      });
      return input;
    });
    score.textContent = "What is the output? Type its values, then check them."
      + (gather ? "" : " A cell that you leave empty keeps the value it starts with.");
    controls.appendChild(button("check", check));
    controls.appendChild(button("reveal", reveal));
    section.insertBefore(controls, question);
    section.insertBefore(score, question);

    function check() {
      var right = 0;
      inputs.forEach(function (input, place) {
        var given = input.value.trim() || (gather ? "" : facts.start[place]);
        var good = same(given, facts.result[place]);
        right += good ? 1 : 0;
        cells[place].className = good ? "right" : "wrong";
        input.setAttribute("aria-invalid", String(!good));
      });
      score.textContent = right === inputs.length
        ? "All " + right + " cells are right. Reveal shows the steps."
        : right + " of " + inputs.length + " cells are right. Try again, or reveal.";
    }

    function reveal() {
      var answer = section.querySelector("template").content;
      [controls, score, section.querySelector(".text")].forEach(function (part) { part.remove(); });
      question.replaceWith(answer);
      solved(Example(section));
      section.querySelector(".controls button").focus();
    }
  }

  // Values are compared as numbers where they are numbers: 41 is 41.0.
  function same(given, wanted) {
    function bare(text) {
      text = text.replace(/^"|"$/g, "").toLowerCase();
      return { "true": "t", "false": "f" }[text] || text;
    }
    var a = bare(given), b = bare(wanted);
    return a === b || (a !== "" && b !== "" && Number(a) === Number(b));
  }

  var sections = all(document, "section");
  var examples = [];
  var current = 0;
  document.documentElement.className = "js";
  sections.forEach(function (section, place) {
    section.classList.add("current"); // curves need its geometry
    if (section.classList.contains("quiz")) {
      Quiz(section, function (example) { examples[place] = example; });
    } else {
      examples[place] = Example(section);
    }
  });

  var previous = button("◀ previous example", function () { show(current - 1); });
  var following = button("next example ▶", function () { show(current + 1); });
  var where = make("span", { role: "status" });
  if (sections.length > 1) {
    var nav = make("nav", { "aria-label": "examples" });
    [previous, where, following].forEach(function (part) { nav.appendChild(part); });
    sections[0].parentNode.insertBefore(nav, sections[0]);
    window.addEventListener("hashchange", follow);
  }

  function show(place) {
    current = between(0, place, sections.length - 1);
    sections.forEach(function (section, each) {
      section.classList.toggle("current", each === current);
    });
    where.textContent = "example " + (current + 1) + " of " + sections.length;
    enable(previous, current > 0);
    enable(following, current < sections.length - 1);
    if (sections.length > 1 && location.hash !== "#" + sections[current].id) {
      history.replaceState(null, "", "#" + sections[current].id);
    }
  }

  function follow() {
    var asked = sections.findIndex(function (section) {
      return "#" + section.id === location.hash;
    });
    show(Math.max(asked, 0));
  }

  document.addEventListener("keydown", function (event) {
    var example = examples[current];
    var typing = event.target.closest("input, td, .entries, summary");
    var move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!example || typing || event.altKey || event.ctrlKey || event.metaKey) { return; }
    if (move) { event.preventDefault(); example.move(move); }
  });
  follow();
}());
