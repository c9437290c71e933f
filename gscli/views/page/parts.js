/* What the page's scripts share. They are joined into one function; page.js starts it. */

function all(root, selector) {
  return Array.from(root.querySelectorAll(selector));
}

function make(name, attributes, text) {
  return dress(document.createElement(name), attributes, text);
}

// An element of a drawing.
function draw(parent, name, attributes, text) {
  var element = document.createElementNS("http://www.w3.org/2000/svg", name);
  return parent.appendChild(dress(element, attributes, text));
}

function dress(element, attributes, text) {
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

function onEnter(element, action) {
  element.addEventListener("keydown", function (event) {
    if (event.key === "Enter") { action(event); }
  });
}

// A disabled button would lose the focus of a keyboard user who pressed it to the end.
function enable(element, on) { element.setAttribute("aria-disabled", !on); }

function between(low, value, high) { return Math.max(low, Math.min(value, high)); }

function unique(list) { return Array.from(new Set(list)); }

// The cells that lie in a part of the page.
function within(part, cells) {
  return cells.filter(function (cell) { return part.contains(cell); });
}

// The numbers of the entries that touch a cell.
function entriesOf(cell) {
  var listed = cell.dataset.e;
  return listed ? listed.split(" ").map(Number) : [];
}

function isCell(element) { return element.tagName === "TD" && !element.classList.contains("gap"); }

// Where a cell lies: its tensor's name and its coordinates, read off the headers.
function placeOf(cell) {
  var table = cell.closest("table");
  var row = cell.parentNode.cells[0];
  var lead = table.dataset.l;
  var at = lead ? lead.split(",") : [];
  if (row.scope) { at.push(row.textContent.replace(/\D/g, "")); }
  if (table.tHead) { at.push(table.tHead.rows[0].cells[cell.cellIndex].textContent); }
  return at.map(Number);
}

function nameOf(cell) { return cell.closest(".tensor").dataset.n; }

// A phone draws no elbows: what is given and what is made do not stand on one screen.
var phone = window.matchMedia("(max-width: 40rem)");
