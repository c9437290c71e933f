/* How one cell filled up: what it held at first, what each entry brought, what it holds now. */

function Filling(stage, facts, ink) {
  var bar = make("p", { "class": "filling" });
  stage.appendChild(bar);

  // `writers`: the entries that wrote the cell, in order; none: no cell of its own to tell of.
  function show(writers, start, now) {
    bar.textContent = "";
    if (!writers.length) { return; }
    bar.appendChild(make("span", {}, "how this cell filled up "));
    if (start && !facts.fresh) { part("", start, ""); }
    writers.forEach(function (entry) {
      part(ink(entry), facts.sign + facts.entries[entry].value, facts.labels[entry]);
    });
    bar.appendChild(make("b", {}, " → " + now));
  }

  function part(colour, text, label) {
    var piece = bar.appendChild(make("span", { "class": "part " + colour }, text));
    if (label) { piece.appendChild(make("i", {}, label)); }
  }

  return { show: show };
}
