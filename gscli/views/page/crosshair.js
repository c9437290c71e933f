/* The crosshair of one entry: its address lifts out of the indices, elbows lead to the headers it
   names, bands cross at the target. Elbows run in empty lanes, never over a cell: beside the card,
   above column headers, left of row headers. */

var LANE = 9; // between a lane and the headers that it passes
var APART = 7; // between two elbows of one entry

function Crosshair(stage, facts, linked, ink) {
  var gather = Boolean(stage.closest(".gather"));
  var target = stage.querySelector(gather ? ".data" : ".output");
  var output = stage.querySelector(".output");
  var flowsBack = facts.act === "gradient" && stage.querySelector(".updates");
  var inputs = stage.querySelector(".given");
  var under = draw(stage, "svg", { "class": "under", "aria-hidden": "true" });
  var over = draw(stage, "svg", { "class": "over", "aria-hidden": "true" });
  var lane = make("div", { "class": "lane", "aria-hidden": "true" });
  var card = lane.appendChild(make("div", { "class": "card" }));
  var current = null;
  var marked = [];
  var shapes = [];
  inputs.after(lane);

  function show(entry) {
    marked.forEach(function (head) { head.classList.remove("at", ink(current)); });
    current = entry;
    marked = [];
    card.textContent = "";
    card.className = "card";
    if (entry !== null) { lift(); mark(); }
  }

  /* The card: a line per coordinate, and what the entry does. */

  function lift() {
    card.className = "card full " + ink(current);
    parts().forEach(function (part) { line(part.name, part.at); });
    var value = facts.entries[current].value; // of an entry that is refused there is none
    var act = facts.act === "copy" && ink(current) === "x" ? "fill" : facts.act;
    if (value) { line(act, [value, value]); }
  }

  // The coordinates that the entry fixes: their names, the headers that hold them, what they are.
  function parts() {
    return facts.parts.map(function (part, place) {
      return { name: part[0], header: part[1], at: facts.entries[current].at[place] };
    }).filter(function (part) { return part.at[1]; });
  }

  // [coordinate, as written] or, of an entry that has no target, ["", as written].
  function line(name, at) {
    var row = card.appendChild(make("div", {}, name));
    if (at[1] !== at[0]) { row.appendChild(make("span", {}, at[1] + (at[0] ? " → " : " ✗"))); }
    row.appendChild(make("b", {}, at[0]));
  }

  /* Headers of the target's rows, columns and planes. */

  function own(tensor) { return tensor ? within(tensor, linked[current]) : []; }

  function heads(cells, kind) {
    return unique(cells.map(function (cell) {
      var table = cell.closest("table");
      if (kind === "plane") { return table.caption; }
      if (kind === "row") { return cell.parentNode.cells[0]; }
      return table.tHead && table.tHead.rows[0].cells[cell.cellIndex];
    })).filter(Boolean);
  }

  function mark() {
    var cells = own(target);
    parts().forEach(function (part) {
      if (part.header) { marked = marked.concat(heads(cells, part.header)); }
    });
    marked.forEach(function (head) { head.classList.add("at", ink(current)); });
  }

  /* Drawing. Everything is measured within the stage first and drawn then: each measure after a
     change would lay the page out again. */

  function box(element) { return around([element]); }

  function around(cells) {
    var origin = stage.getBoundingClientRect();
    var boxes = cells.map(function (cell) { return cell.getBoundingClientRect(); });
    function edge(pick, side, start) {
      return pick.apply(null, boxes.map(function (each) { return each[side]; })) - start;
    }
    var left = edge(Math.min, "left", origin.left), right = edge(Math.max, "right", origin.left);
    var top = edge(Math.min, "top", origin.top), bottom = edge(Math.max, "bottom", origin.top);
    return {
      left: left, right: right, top: top, bottom: bottom,
      x: (left + right) / 2, y: (top + bottom) / 2
    };
  }

  function redraw() {
    shapes = [];
    if (current !== null) { compose(); }
    under.textContent = "";
    over.textContent = "";
    shapes.forEach(function (shape) { draw(shape[0], shape[1], shape[2]); });
  }

  function compose() {
    var cells = own(target);
    place();
    if (cells.length) {
      unique(cells.map(function (cell) { return cell.closest("table"); })).forEach(function (table) {
        bands(table, within(table, cells));
      });
    }
    if (phone.matches) { return; }
    wedge();
    if (cells.length) { address(cells); }
    if (gather) { copy(cells); }
  }

  // The card stands beside the numbers that it holds, where it has room beside them.
  function place() {
    card.style.transform = "";
    var from = own(inputs);
    if (!from.length || phone.matches || box(lane).left < box(inputs).right) { return; }
    var room = box(lane), rows = around(from), height = box(card).bottom - box(card).top;
    var top = rows.y - height / 2 - room.top;
    var down = between(0, top, Math.max(0, room.bottom - room.top - height));
    card.style.transform = "translateY(" + down + "px)";
  }

  function bands(table, cells) {
    var seen = box(table.closest(".tensor")), mine = around(cells), whole = box(table.tBodies[0]);
    var kinds = parts().map(function (part) { return part.header; });
    var head = table.tHead ? box(table.tHead).top : whole.top;
    if (kinds.indexOf("row") >= 0) { band(whole.left, mine.top - 4, whole.right + 4, mine.bottom + 4); }
    if (kinds.indexOf("column") >= 0) { band(mine.left - 4, head, mine.right + 4, whole.bottom + 4); }

    function band(left, top, right, bottom) {
      left = Math.max(left, seen.left);
      right = Math.min(right, seen.right);
      if (right > left) {
        shapes.push([under, "rect", {
          "class": ink(current), x: left, y: top, width: right - left, height: bottom - top, rx: 6
        }]);
      }
    }
  }

  // From the entry's own numbers to the card.
  function wedge() {
    var from = own(inputs), to = box(card);
    if (!from.length) { return; }
    var numbers = around(from);
    if (to.left < numbers.right) { return; }
    shapes.push([under, "path", {
      "class": ink(current), d: "M" + [numbers.right + 2, numbers.top, to.left, to.top + 8,
        to.left, to.bottom - 8, numbers.right + 2, numbers.bottom] + "Z"
    }]);
  }

  function address(cells) {
    var lines = all(card, "div"), elbows = 0, drawn = parts();
    drawn.forEach(function (part, order) {
      var head = part.header && heads(cells, part.header)[0];
      if (!head) { return; }
      var line = box(lines[order]), edge = box(card), where = box(target);
      var start = where.left > edge.right
        ? [[edge.right, line.y], [edge.right + LANE + 3 + APART * (drawn.length - order - 1), line.y]]
        : [[edge.left + 20 + APART * elbows, edge.bottom]];
      lead(start, where, head, part.header, elbows);
      elbows += 1;
    });
  }

  // Gather copies: from the end of the band in data to the header of the result.
  function copy(cells) {
    var results = own(output), start;
    if (!results.length) { return; }
    var where = box(output);
    if (cells.length) {
      var from = around(cells), table = cells[0].closest("table"), edge = box(table), outer = box(target);
      var rows = facts.parts.some(function (part) { return part[1] === "row"; });
      var out = outer.right + LANE;
      if (rows && outer.right - edge.right < 40) {
        start = [[edge.right + 2, from.y], [out, from.y]];
      } else {
        start = [[from.x, box(table.tBodies[0]).bottom + 2], [from.x, edge.bottom + LANE],
          [out, edge.bottom + LANE]];
      }
    } else {
      start = [[box(card).right, box(card).y], [box(card).right + LANE, box(card).y]];
    }
    var row = heads(results, "row")[0], column = heads(results, "column")[0];
    var spans = table_spans(results);
    if (row && row.scope && !spans.rows) { lead(start, where, row, "row", 0); }
    else if (column && !spans.columns) { lead(start, where, column, "column", 0); }
    else { lead(start, where, results[0].closest("table").caption, "plane", 0); }
  }

  // Whether an entry's cells fill all rows, all columns of their table.
  function table_spans(cells) {
    var table = cells[0].closest("table");
    var mine = within(table, cells);
    var rows = unique(mine.map(function (cell) { return cell.parentNode; })).length;
    var columns = unique(mine.map(function (cell) { return cell.cellIndex; })).length;
    var wide = all(table.tBodies[0].rows[0], "td:not(.gap)").length;
    return {
      rows: rows > 1 && rows === table.tBodies[0].rows.length, columns: columns > 1 && columns === wide
    };
  }

  // On through empty lanes to a header; `start` ends beside its tensor, or before it.
  function lead(start, where, head, kind, nth) {
    var table = head.closest("table"), to = box(head), body = box(table);
    if (to.x < where.left || to.x > where.right) { return; } // scrolled away
    var points = start.slice(), from = points.at(-1);
    var left = body.left - LANE - APART * nth;
    var above = (table.tHead ? box(table.tHead).top : box(table.tBodies[0]).top) - LANE + 2;
    if (where.left < from[0]) { // the tensor lies below: down to it, and along its left side
      var line = where.top - LANE - APART * nth;
      left = where.left - LANE - APART * nth;
      points.push([from[0], line], [left, line]);
      from = [left, line];
    }
    if (kind === "row") {
      if (body.left - where.left > 40) {
        left = body.left - LANE;
        points.push([from[0], above], [left, above]);
        from = [left, above];
      }
      points.push([from[0], to.y], [to.left + 1, to.y]);
    } else if (kind === "column") {
      points.push([from[0], above], [to.x, above], [to.x, to.top + 1]);
    } else {
      points.push([from[0], to.top - 6], [to.left + 14, to.top - 6], [to.left + 14, to.top]);
    }
    elbow(flowsBack ? points.reverse() : points);
  }

  function elbow(points) {
    var shape = "M" + points[0], end = points.at(-1), before = points.at(-2);
    var dx = Math.sign(end[0] - before[0]), dy = Math.sign(end[1] - before[1]);
    for (var at = 1; at < points.length - 1; at += 1) {
      shape += corner(points[at - 1], points[at], points[at + 1]);
    }
    shape += " L" + [end[0] - 5 * dx, end[1] - 5 * dy];
    ["casing", "line " + ink(current)].forEach(function (kind) {
      shapes.push([over, "path", { "class": kind, d: shape }]);
    });
    shapes.push([over, "path", {
      "class": "tip", d: "M3 0 -7 -6 -7 6Z",
      transform: "translate(" + end + ") rotate(" + (90 * dy + (dx < 0 ? 180 : 0)) + ")"
    }]);
  }

  // A rounded corner at `at`, as wide as its sides allow.
  function corner(from, at, to) {
    function toward(other) {
      var dx = other[0] - at[0], dy = other[1] - at[1], length = Math.abs(dx) + Math.abs(dy) || 1;
      var reach = Math.min(7, length / 2);
      return [at[0] + dx / length * reach, at[1] + dy / length * reach].join(" ");
    }
    return " L" + toward(from) + " Q" + at + " " + toward(to);
  }

  var waiting = 0;
  function later() {
    window.cancelAnimationFrame(waiting);
    waiting = window.requestAnimationFrame(redraw);
  }
  window.addEventListener("resize", later);
  stage.addEventListener("scroll", later, true);
  return { show: show, redraw: redraw };
}
