/* What the page's scripts share. They are joined into one function; page.js starts it. */

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

// The numbers of the entries that touch a cell.
function entriesOf(cell) {
  var listed = cell.getAttribute("data-e");
  return listed ? listed.split(" ").map(Number) : [];
}
