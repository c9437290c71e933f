/* Before a step: where does the entry land, and what will the cell hold? A wrong answer is met by
   what leads to it. */

// `target`: the tensor that entries address; `after(cell, entry)`: what a cell holds after it.
function Predict(target, facts, gather, linked, after, tell, done) {
  var entry = null; // the entry that is asked about
  var there; // the cells of the target that it touches
  var cell = null; // its cell, once that is found
  var input, reply;

  function ask(about) {
    entry = about;
    there = within(target, linked[entry]);
    cell = null;
    pose(gather ? "Which " + facts.thing + " does " : "Where does ", gather ? " read? " : " land? ",
      "Click " + (facts.thing === "cell" ? "it" : "any cell there") + ", or type its address.",
      place, "address");
    extra("nowhere", function () { answer(null); });
  }

  // A question about the entry: a field, its check, and a way out.
  function pose(before, behind, how, check, name) {
    var question = make("span", { "class": "ask" });
    question.appendChild(document.createTextNode(before));
    question.appendChild(make("i", { "class": "c" + (entry % COLOURS) }, facts.labels[entry]));
    question.appendChild(document.createTextNode(behind + how + " "));
    input = question.appendChild(make("input", { "aria-label": name, autocomplete: "off" }));
    onEnter(input, function (event) {
      event.preventDefault(); // the button that has the focus next is not pressed
      check(input.value);
    });
    question.appendChild(button("check", function () { check(input.value); }));
    question.appendChild(button("show me", function () { finish(""); }));
    reply = make("span", { "class": "reply" });
    tell([question, reply]);
  }

  function extra(text, action) { input.after(button(text, action)); }

  // `data[3,:]` means all of its cells; a 3 alone is on the axis that an entry fixes, or counts
  // through the cells where the entry does.
  function place(typed) {
    var numbers = (typed.replace(/^[^[]*\[/, "").match(/-?\d+|:/g) || []).map(function (text) {
      return text === ":" ? null : Number(text);
    });
    var flat = facts.parts.length > facts.axes.length ? facts.entries[entry].at[0][0] : "";
    if (flat && numbers.length === 1 && numbers[0] === Number(flat)) { answer(there[0]); return; }
    var chosen = all(target, "td").filter(isCell).filter(function (each) {
      var at = placeOf(each), count = numbers.length;
      if (count === facts.axes.length) { at = facts.axes.map(function (axis) { return at[axis]; }); }
      return at.length === count && matches(numbers, at);
    });
    var right = chosen.filter(function (each) { return there.includes(each); }).length;
    if (right % chosen.length === 0) { answer(chosen[0]); } // all of them or none, of some
    else {
      reply.textContent = right ? "Only some of these cells are right." : "No such cell is shown.";
    }
  }

  function answer(chosen) {
    if (there.includes(chosen)) { askValue(chosen); return; }
    if (!chosen && !there.length) { finish("Right, nowhere. "); return; }
    var known = chosen && facts.entries[entry].places.find(function (each) {
      return matches(each[0], placeOf(chosen));
    });
    if (!there.length) { reply.textContent = facts.why.outside; }
    else if (!chosen) { reply.textContent = facts.why.inside; }
    else {
      reply.textContent = known ? facts.why[known[1]]
        : "Not there. Read the numbers of " + facts.labels[entry] + " again.";
    }
  }

  function matches(place, coordinates) {
    return place.every(function (at, axis) { return at === null || at === coordinates[axis]; });
  }

  function askValue(chosen) {
    if (there.length > 1) { finish("Right. "); return; }
    cell = gather ? linked[entry].find(function (each) { return !target.contains(each)
      && each.closest(".output"); }) : chosen;
    if (!cell || !after(cell, entry)) { finish("Right. "); return; } // or a bag goes on
    pose("Right. What will ", " leave " + (gather ? "in output?" : "there?"), "", value, "value");
    input.focus();
  }

  function value(typed) {
    var right = after(cell, entry);
    if (same(typed.trim(), right)) { finish("Right. "); return; }
    var known = facts.entries[entry].values.find(function (each) {
      return same(typed.trim(), each[0]) && !same(each[0], right);
    });
    reply.textContent = known ? facts.why[known[1]] : "Not " + (typed.trim() || "empty") + ".";
  }

  function finish(praise) {
    entry = null;
    done(praise);
  }

  target.addEventListener("click", choose);
  onEnter(target, choose);

  function choose(event) {
    var chosen = event.target.closest("td");
    if (entry === null || cell || !chosen || !isCell(chosen)) { return; }
    event.preventDefault();
    event.stopPropagation();
    answer(chosen);
  }

  return {
    ask: ask,
    stop: function () { entry = null; },
    asking: function () { return entry !== null; }
  };
}
