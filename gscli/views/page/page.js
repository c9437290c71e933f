/* The tables hold what there is to read; the scripts link their cells, replay the entries, ask for
   the output of a quiz and lead through several examples. They know no rule. */

var examples = new Map(); // by section
document.documentElement.className = "js";
all(document, "section").forEach(function (section) {
  section.classList.add("current"); // crosshairs need its geometry
});
all(document, "section").forEach(function (section) {
  if (section.classList.contains("quiz")) {
    Quiz(section, function (example) { examples.set(section, example); });
  } else if (section.querySelector(":scope > .facts")) {
    examples.set(section, Example(section));
  }
});

// Sections are examples of a lesson or answers of a comparison, which links to them.
function Turns(frame, noun) {
  var sections = all(frame, ":scope > section");
  var current = 0;
  var previous = button("◀ previous " + noun, function () { turn(-1); });
  var following = button("next " + noun + " ▶", function () { turn(1); });
  var where = make("span", { role: "status" });
  var nav = make("nav", { "aria-label": noun + "s" });
  if (sections.length > 1) {
    [previous, where, following].forEach(function (part) { nav.appendChild(part); });
    frame.insertBefore(nav, sections[0]);
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
    all(frame, ".answers a").forEach(function (link) {
      if (sections.length > 1 && link.hash === "#" + sections[current].id) {
        link.setAttribute("aria-current", "true");
      } else if (sections.some(function (each) { return link.hash === "#" + each.id; })) {
        link.removeAttribute("aria-current");
      }
    });
    window.dispatchEvent(new Event("resize")); // crosshairs are drawn where they are seen now
  }

  function turn(by) {
    show(current + by);
    history.replaceState(null, "", "#" + sections[current].id);
  }

  function follow(event) {
    var target = document.getElementById(location.hash.slice(1));
    var place = sections.findIndex(function (section) { return target && section.contains(target); });
    show(place < 0 ? current : place);
    if (event && sections[place] === target) { // it was hidden when its link was followed
      var heading = target.querySelector("h1, h2, h3");
      nav.scrollIntoView();
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
  }

  follow();
}

Turns(document.querySelector("main"), "example");
all(document, ".comparison").forEach(function (frame) { Turns(frame, "answer"); });

Paper();

// The example that is seen: the innermost section that is on.
function seen() {
  return all(document, "section.current").filter(function (section) {
    return examples.has(section) && !section.parentNode.closest("section:not(.current)");
  })[0];
}

document.addEventListener("keydown", function (event) {
  var example = examples.get(seen());
  var typing = event.target.closest("input, td, .entries, .wide, summary");
  var move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!example || typing || event.altKey || event.ctrlKey || event.metaKey) { return; }
  if (move) { event.preventDefault(); example.move(move); }
});
