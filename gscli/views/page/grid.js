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
    var lines = all(cell.closest(".tensor"), "tbody tr").filter(function (row) {
      return Array.prototype.some.call(row.cells, isCell);
    });
    var at = lines.indexOf(cell.parentNode);
    var column = cellsOf(lines[at]).indexOf(cell);
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
    var line = cellsOf(lines[at]);
    return line[between(0, column, line.length - 1)];
  }

  function cellsOf(row) { return Array.prototype.filter.call(row.cells, isCell); }
}

// Of a group, only the chosen element is a tab stop, and has the focus now.
function rove(group, chosen) {
  group.forEach(function (each) { each.tabIndex = each === chosen ? 0 : -1; });
  chosen.focus();
}
