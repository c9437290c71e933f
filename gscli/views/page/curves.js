/* Curves from cell to cell, drawn over a stage of tensors. */

function Curves(stage) {
  var SVG = "http://www.w3.org/2000/svg";
  var drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("aria-hidden", "true");
  stage.appendChild(drawing);

  // Pairs of groups of cells, a curve from the first to the second of each.
  function draw(pairs) {
    drawing.textContent = "";
    pairs.forEach(function (pair) { curve(bounds(pair[0]), bounds(pair[1])); });
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
    drawing.insertBefore(line("under", shape), drawing.firstChild);
  }

  function line(name, shape) {
    var path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    path.setAttribute("d", shape);
    return drawing.appendChild(path);
  }

  return { draw: draw };
}
