/* Keys in the tables: one cell per tensor is a tab stop, arrows, Home and End move it. */

function Grid(stage) {
  stage.addEventListener("click", function (event) {
    var cell = event.target.closest("td");
    if (cell && isCell(cell)) { visit(cell); }
  });
  stage.addEventListener("keydown", function (event) {
    var cell = event.target.closest("td");
    var to = cell && neighbour(cell, event.key, event.ctrlKey);
    if (to) { event.preventDefault(); event.stopPropagation(); visit(to); }
  });
  all(stage, ".tensor").forEach(function (tensor) {
    var first = tensor.querySelector("td[data-e]") || all(tensor, "td").filter(isCell)[0];
    if (first) { first.tabIndex = 0; }
  });

  function visit(cell) {
    all(cell.closest(".tensor"), "td[tabindex]").forEach(function (each) { each.tabIndex = -1; });
    cell.tabIndex = 0;
    cell.focus();
  }

  function neighbour(cell, key, control) {
    var lines = linesOf(cell.closest(".tensor"));
    var at = lines.findIndex(function (line) { return line.indexOf(cell) >= 0; });
    var column = lines[at].indexOf(cell);
    var moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (moves[key]) {
      at = between(0, at + moves[key][0], lines.length - 1);
      column += moves[key][1];
    } else if (key === "Home" || key === "End") {
      if (control) { at = key === "Home" ? 0 : lines.length - 1; }
      column = key === "Home" ? 0 : Infinity;
    } else {
      return null;
    }
    return lines[at][between(0, column, lines[at].length - 1)];
  }

  // Rows of cells from top to bottom; the tables of a chunk of columns each go on in one line.
  function linesOf(tensor) {
    var lines = [], starts = new Map();
    all(tensor, "table").forEach(function (table) {
      var chunk = table.closest(".chunk"), group = chunk ? chunk.parentNode : table;
      if (!starts.has(group)) { starts.set(group, lines.length); }
      all(table, "tbody tr").forEach(function (row, place) {
        var at = starts.get(group) + place;
        lines[at] = (lines[at] || []).concat(Array.from(row.cells).filter(isCell));
      });
    });
    return lines.filter(function (line) { return line.length; });
  }
}

// Of a group, only the chosen element is a tab stop, and has the focus now.
function rove(group, chosen) {
  group.forEach(function (each) { each.tabIndex = each === chosen ? 0 : -1; });
  chosen.focus();
}
