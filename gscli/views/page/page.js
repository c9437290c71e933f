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

// Sections are examples of a lesson or answers of a comparison, which links to them.
var noun = sections.length ? sections[0].id.split("-")[0] : "";
var previous = button("◀ previous " + noun, function () { turn(-1); });
var following = button("next " + noun + " ▶", function () { turn(1); });
var where = make("span", { role: "status" });
if (sections.length > 1) {
  var nav = make("nav", { "aria-label": noun + "s" });
  [previous, where, following].forEach(function (part) { nav.appendChild(part); });
  sections[0].parentNode.insertBefore(nav, sections[0]);
  window.addEventListener("hashchange", follow);
}

function show(place) {
  current = between(0, place, sections.length - 1);
  sections.forEach(function (section, each) {
    section.classList.toggle("current", each === current);
  });
  where.textContent = noun + " " + (current + 1) + " of " + sections.length;
  enable(previous, current > 0);
  enable(following, current < sections.length - 1);
  all(document, ".answers a").forEach(function (link) {
    if (sections.length > 1 && link.hash === "#" + sections[current].id) {
      link.setAttribute("aria-current", "true");
    } else {
      link.removeAttribute("aria-current");
    }
  });
}

function turn(by) {
  show(current + by);
  history.replaceState(null, "", "#" + sections[current].id);
}

function follow(event) {
  var asked = sections.findIndex(function (section) {
    return "#" + section.id === location.hash;
  });
  show(asked < 0 ? current : asked);
  if (event && asked >= 0) { // what the link leads to was hidden when it was followed
    var heading = sections[current].querySelector("h1, h2");
    nav.scrollIntoView();
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
}

document.addEventListener("keydown", function (event) {
  var example = examples[current];
  var typing = event.target.closest("input, td, .entries, .wide, summary");
  var move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!example || typing || event.altKey || event.ctrlKey || event.metaKey) { return; }
  if (move) { event.preventDefault(); example.move(move); }
});
follow();
