/* The question in place of the answer: the output is typed, checked and revealed. */

function Quiz(section, solved) {
  var facts = JSON.parse(section.querySelector(".facts").textContent);
  var gather = section.classList.contains("gather");
  var question = section.querySelector(".question");
  var score = make("div", { "class": "say", role: "status" });
  var controls = make("div", { "class": "controls" });
  var cells = all(question, ".output td[aria-label]");
  var inputs = cells.map(function (cell, place) {
    var input = make("input", {
      "aria-label": cell.getAttribute("aria-label") + ", your answer", autocomplete: "off",
      spellcheck: "false", placeholder: gather ? "" : facts.start[place]
    });
    cell.querySelector("b").replaceWith(input);
    input.addEventListener("keydown", function (event) {
      if (event.key === "Enter") { check(); }
    });
    return input;
  });
  score.textContent = "What is the output? Type its values, then check them."
    + (gather ? "" : " A cell that you leave empty keeps the value it starts with.");
  controls.appendChild(button("check", check));
  controls.appendChild(button("reveal", reveal));
  section.insertBefore(controls, question);
  section.insertBefore(score, question);

  function check() {
    var right = 0;
    inputs.forEach(function (input, place) {
      var given = input.value.trim() || (gather ? "" : facts.start[place]);
      var good = same(given, facts.result[place]);
      right += good ? 1 : 0;
      cells[place].className = good ? "right" : "wrong";
      input.setAttribute("aria-invalid", String(!good));
    });
    score.textContent = right === inputs.length
      ? "All " + right + " cells are right. Reveal shows the steps."
      : right + " of " + inputs.length + " cells are right. Try again, or reveal.";
  }

  function reveal() {
    var answer = section.querySelector("template").content;
    [controls, score, section.querySelector(".text")].forEach(function (part) { part.remove(); });
    question.replaceWith(answer);
    solved(Example(section));
    section.querySelector(".controls button").focus();
  }
}

// Values are compared as numbers where they are numbers: 41 is 41.0.
function same(given, wanted) {
  function bare(text) {
    text = text.replace(/^"|"$/g, "").toLowerCase();
    return { "true": "t", "false": "f" }[text] || text;
  }
  var a = bare(given), b = bare(wanted);
  return a === b || (a !== "" && b !== "" && Number(a) === Number(b));
}
