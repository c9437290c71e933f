/* On paper nothing scrolls: a wide table is scaled down, a very wide one goes on below itself. */

var PAPER = 680; // pixels across a page
var SCREEN = 0.8; // size of print beside that of the screen
var SMALLEST = 0.6; // further scaling could not be read

function Paper() {
  var undo = [];

  function fit(table) {
    var scale = PAPER / (table.offsetWidth * SCREEN);
    if (scale >= 1) { return; }
    if (scale < SMALLEST) { wrap(table, scale); } else { zoom(table, scale); }
  }

  function zoom(table, scale) {
    table.style.zoom = scale;
    undo.push(function () { table.style.zoom = ""; });
  }

  // Copies of the table with some of the columns each, row headers in all of them.
  function wrap(table, scale) {
    var columns = table.tHead ? table.tHead.rows[0].cells.length - 1 : 0;
    var each = Math.max(1, Math.floor(columns * scale / SMALLEST));
    if (!columns || each >= columns) { zoom(table, scale); return; }
    for (var first = columns; first > 0; first -= each) { part(Math.max(0, first - each), first); }
    table.hidden = true;
    undo.push(function () { table.hidden = false; });

    function part(from, to) {
      var copy = table.cloneNode(true);
      copy.classList.add("part-of");
      all(copy, "tr").forEach(function (row) {
        Array.from(row.cells).forEach(function (cell, place) {
          if (cell.colSpan === 1 && place && (place <= from || place > to)) { cell.remove(); }
        });
      });
      copy.style.zoom = SMALLEST;
      table.after(copy);
      undo.push(function () { copy.remove(); });
    }
  }

  window.addEventListener("beforeprint", function () {
    document.documentElement.classList.add("paper"); // hidden examples have no width
    all(document, ".tensor table").forEach(fit);
  });
  window.addEventListener("afterprint", function () {
    document.documentElement.classList.remove("paper");
    undo.splice(0).forEach(function (step) { step(); });
  });
}
