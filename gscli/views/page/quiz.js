/* The question in place of the answer: the output is typed, checked and revealed. */

function Quiz(section, solved) {
  var gather = section.classList.contains("gather");
  var question = section.querySelector(".question");
  var score = make("div", { "class": "say", role: "status" });
  var controls = make("div", { "class": "controls" });
  var cells = all(question, ".output td[aria-label]");
  var starts = cells.map(function (cell) {
    return cell.querySelector(".was").dataset.t;
  });
  var solution = results().map(function (cell) {
    return (cell.querySelector("b") || cell).textContent;
  });
  var inputs = cells.map(function (cell, place) {
    var input = make("input", {
      "aria-label": cell.getAttribute("aria-label") + ", your answer", autocomplete: "off",
      spellcheck: "false", placeholder: starts[place]
    });
    cell.querySelector("b").replaceWith(input);
    onEnter(input, check);
    return input;
  });
  var changing = cells.filter(function (cell, place) { return changes(place); }).length;
  var counted = gather ? "cells" : "cells that change"; // a gather fills all there are
  score.textContent = "What is the output? Type the values of the " + counted + ", then check."
    + (gather ? "" : " A cell that you leave empty keeps the value it starts with.");
  controls.append(button("check", check), button("reveal", reveal));
  question.before(score, controls);

  // The cells of the answer that waits in its template.
  function results() {
    return all(section.querySelector("template").content, ".output td").filter(isCell);
  }

  function changes(place) { return !equal(starts[place], solution[place]); }

  // A cell counts when it changes, or when it was changed and should not have been.
  function check() {
    var right = 0, spoilt = 0;
    score.style.minHeight = score.offsetHeight + "px"; // what stands below keeps its place
    inputs.forEach(function (input, place) {
      var typed = input.value.trim() || starts[place];
      var good = same(typed, solution[place]);
      right += good && changes(place) ? 1 : 0;
      spoilt += good || changes(place) ? 0 : 1;
      cells[place].className = !good ? "wrong" : changes(place) ? "right" : "";
      input.setAttribute("aria-invalid", !good);
    });
    var done = right === changing && !spoilt;
    score.textContent = (done ? "All " : right + " of ") + changing + " " + counted + " are right"
      + (spoilt ? ", and " + spoilt + " should have kept its value" : "")
      + (done ? ". Reveal shows the steps." : ". Try again, or reveal.");
  }

  // The whole result, beside it what was typed in its place; the steps lie before it.
  function reveal() {
    var answer = section.querySelector("template").content, example;
    var wrong = results().filter(function (cell, place) {
      var typed = inputs[place].value.trim();
      if (!typed || same(typed, solution[place])) { return false; }
      cell.appendChild(make("em", { "data-t": typed, title: "your answer" }));
      cell.classList.add("off");
      return true;
    });
    if (wrong.length) {
      wrong[0].closest(".tensor").appendChild(make("p", { "class": "rest" }, "≠ your answer"));
    }
    [controls, score].concat(all(section, ".text")).forEach(function (part) { part.remove(); });
    question.replaceWith(answer);
    example = Example(section);
    solved(example);
    example.move(Infinity);
    section.querySelector(".controls button").focus();
  }
}

// Values are compared as numbers where they are numbers: 41 is 41.0, and 0,5 is 0.5; those too long
// for that, and texts, which stand in quotes, as they are written.
function equal(typed, right) {
  function bare(text) {
    text = text.toLowerCase().replace(",", ".");
    return { true: "t", false: "f" }[text] || text.replace("infinity", "inf");
  }
  if (right[0] === '"') { return typed.replace(/^"|"$/g, "") === right.slice(1, -1); }
  var a = bare(typed), b = bare(right);
  return a === b || (a && b && !/^-?\d{16}/.test(b) && Number(a) === Number(b));
}

// A fraction may be rounded, to three digits at least: 5.67 and 5.666666667 are 5.6667. It may be
// typed as a quotient: 11/2 is 5.5.
function same(typed, right) {
  var parts = right[0] !== '"' && /^(-?\d+) *\/ *(\d+)$/.exec(typed);
  typed = parts ? "" + parts[1] / parts[2] : typed;
  function length(text) { return text.replace(/e.*|\D/gi, "").replace(/^0+/, "").length; }
  function round(text) {
    return Number(text.replace(",", "."))
      .toPrecision(Math.max(3, Math.min(length(typed), length(right))));
  }
  return equal(typed, right)
    || (/[.e]/.test(right) && +right && round(typed) === round(right));
}
