/* Back, next, play, and a slider over the steps. */

var PACE = 1800; // milliseconds per step

function Player(last, go) {
  var step = 0;
  var timer = null;
  var back = button("◀ back", function () { stop(); go(step - 1); });
  var next = button("next ▶", function () { stop(); go(step + 1); });
  var play = button("▶ play", function () { if (timer) { stop(); } else { start(); } });
  var slider = make("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "step" });
  var progress = make("span");
  var element = make("div", { "class": "controls" });
  element.append(back, next, play, slider, progress);
  slider.addEventListener("input", function () { stop(); go(Number(slider.value)); });

  function start() {
    if (step === last) { go(0); }
    timer = window.setInterval(function () {
      go(step + 1);
      if (step === last) { stop(); }
    }, PACE);
    play.textContent = "❚❚ pause";
  }

  function stop() {
    window.clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
  }

  function show(at) {
    step = at;
    slider.value = step;
    progress.textContent = "step " + step + " of " + last;
    slider.setAttribute("aria-valuetext", progress.textContent);
    enable(back, step > 0);
    enable(next, step < last);
    enable(play, last > 0);
  }

  // A button that stays pressed.
  function add(text, action) {
    var toggle = button(text, function () {
      var pressed = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", pressed);
      stop();
      action(pressed);
    });
    toggle.setAttribute("aria-pressed", "false");
    play.after(toggle);
  }

  return {
    element: element, show: show, stop: stop, add: add, focus: function () { next.focus(); }
  };
}
