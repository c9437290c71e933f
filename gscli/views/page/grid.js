/* Keys in the tables: one cell per tensor is a tab stop, arrows, Home and End move it. */

function Grid(stage) {
  stage.addEventListener("click", function (event) {
    var cell = event.target.closest("td[aria-label]");
    if (cell) { visit(cell); }
  });
  stage.addEventListener("keydown", function (event) {
    var cell = event.target.closest("td[aria-label]");
    var to = cell && neighbour(cell, event.key, event.ctrlKey);
    if (to) { event.preventDefault(); event.stopPropagation(); visit(to); }
  });
  all(stage, ".tensor").forEach(function (tensor) {
    var group = all(tensor, "td[aria-label]");
    var first = group.filter(function (cell) { return entriesOf(cell).length; })[0] || group[0];
    group.forEach(function (cell) { cell.tabIndex = cell === first ? 0 : -1; });
  });

  function visit(cell) { rove(all(cell.closest(".tensor"), "td[aria-label]"), cell); }

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
}

// Of a group, only the chosen element is a tab stop, and has the focus now.
function rove(group, chosen) {
  group.forEach(function (each) { each.tabIndex = each === chosen ? 0 : -1; });
  chosen.focus();
}
