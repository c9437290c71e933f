/* The tables hold what there is to read; the scripts link their cells, replay the entries, ask for
   the output of a quiz and lead through several examples. They know no rule. */

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
