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
  var counted = gather ? "Cells" : "Cells that change"; // a gather fills all there are
  score.textContent = "What is the output? Type the values of the " + counted.toLowerCase() + ", then check."
    + (gather ? "" : " A cell that you leave empty keeps the value it starts with.");
  controls.append(button("check", check), button("reveal", reveal));
  question.before(score, controls);

  // The cells of the answer that waits in its template.
  function results() {
    return all(section.querySelector("template").content, ".output td").filter(isCell);
  }

  function changes(place) { return gather || !equal(starts[place], solution[place]); }

  // A cell counts when it changes, or when it was changed and should not have been.
  function check() {
    var right = 0, spoilt = 0;
    score.style.minHeight = score.offsetHeight + "px"; // what stands below keeps its place
    inputs.forEach(function (input, place) {
      var typed = input.value.trim() || starts[place];
      var good = typed !== "" && same(typed, solution[place]);
      right += good && changes(place) ? 1 : 0;
      spoilt += good || changes(place) ? 0 : 1;
      cells[place].className = !good ? "wrong" : changes(place) ? "right" : "";
      input.setAttribute("aria-invalid", !good);
    });
    score.textContent = counted + ": " + right + " of " + changing + " right"
      + (spoilt ? "; of the others " + spoilt + " wrong" : "")
      + (right === changing && !spoilt ? ". Reveal shows the steps." : ". Try again, or reveal.");
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
    controls.remove();
    score.remove();
    question.replaceWith(answer);
    example = Example(section);
    solved(example);
    example.move(Infinity);
    section.querySelector(".controls button").focus();
  }
}

// Values are compared as numbers where they are numbers: 41 is 41.0, and 0,5 is 0.5; those too long
// for that, and texts, which may stand in quotes, as they are written. T and F are also 1 and 0.
function equal(typed, right) {
  var a = bare(typed), b = bare(right);
  if (right[0] === '"') {
    return [typed, typed.replace(/^["'“‘]|["'”’]$/g, "")].includes(right.slice(1, -1));
  }
  if (right === "T") { return /^(t|true|1)$/.test(a); }
  if (right === "F") { return /^(f|false|0)$/.test(a); }
  return a === b || (a && b && !/^-?\d{16}/.test(b) && Number(a) === Number(b));
}

// A number in one of its spellings: -∞, -infinity and -Inf are -inf.
function bare(text) {
  return text.toLowerCase().replace(",", ".").replace(/^\+/, "").replace(/infinity|∞/, "inf");
}

// A fraction may be rounded, to three digits at least: 5.67 and 5.666666667 are 5.6667. What the
// table itself had to round is also right with all its digits: 0.0001234 is 0.0001. It may be typed
// as a quotient: 11/2 is 5.5. A whole number may have its thousands apart.
function same(typed, right) {
  if (right[0] === '"') { return equal(typed, right); }
  typed = typed.replace(/[−–]/g, "-");
  if (/[^a-z]j$/.test(right)) {
    return partsOf(right).every(function (part, place) { return same(partsOf(typed)[place], part); });
  }
  if (/^-?\d+$/.test(right)) { typed = typed.replace(/[ ,_](?=\d{3}(\D|$))/g, ""); }
  var quotient = /^(-?\d+) *\/ *(\d+)$/.exec(typed), digits = /\.(\d{4,})$/.exec(right);
  typed = quotient ? "" + quotient[1] / quotient[2] : typed;
  function length(text) { return text.replace(/e.*|\D/gi, "").replace(/^0+/, "").length; }
  function round(text) {
    return Number(bare(text)).toPrecision(Math.max(3, Math.min(length(typed), length(right))));
  }
  return equal(typed, right) || (/[.e]/.test(right) && +right && (round(typed) === round(right)
    || (digits && Number(bare(typed)).toFixed(digits[1].length) === right)));
}

// The two parts of a complex number: of 1+2j, (1 + 2i), 2j and 1.
function partsOf(text) {
  text = text.toLowerCase().replace(/[\s()]/g, "").replace(/i$/, "j").replace(/^(?![+-])/, "+");
  var pair = /^(.*[^e])?([+-][^+-]*(?:e[+-]\d+)?)j$/.exec(text) || [0, text, "+0"];
  return [pair[1] || "+0", pair[2].replace(/^.$/, "$&1")].map(function (part) {
    return part.replace("+", "");
  });
}
