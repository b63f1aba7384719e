// Enlarges a part of a chart: drag over it, or use the keys + - 0 and the arrows. A double click shows the whole
// chart again. Without this script the page has the same charts, as on paper.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const TICKS = 6;

  // Returns the distance of ticks: 1, 2 or 5 times a power of ten, at most so many in a length.
  function step(length) {
    const power = 10 ** Math.floor(Math.log10(length / TICKS));
    return [1, 2, 5, 10].map((factor) => factor * power).find((it) => length / it <= TICKS);
  }

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function enlarge(chart) {
    const plot = chart.querySelector(".plot");
    const [left, top, width, height] = ["x", "y", "width", "height"].map((it) => plot[it].baseVal.value);
    const end = plot.dataset.end / plot.dataset.size;
    const ticks = chart.querySelector(".ticks");
    const whole = ticks.innerHTML;
    let [from, to] = [0, 1];

    function show(begin, finish) {
      const least = 1e-5;
      from = Math.max(0, Math.min(begin, 1 - least));
      to = Math.min(1, Math.max(finish, from + least));
      plot.setAttribute("viewBox", `${from * width} 0 ${(to - from) * width} ${height}`);
      if (to - from === 1) {
        ticks.innerHTML = whole;
        return;
      }
      ticks.replaceChildren();
      const each = step((to - from) * end);
      const digits = Math.max(0, -Math.floor(Math.log10(each) + 1e-9));
      for (let count = Math.ceil((from * end) / each); count * each <= to * end; count += 1) {
        const x = left + ((count * each) / end - from) / (to - from) * width;
        ticks.append(element("path", { class: "axis", d: `M${x} ${top + height}v4` }));
        const label = (count * each).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
        ticks.append(element("text", { x, y: top + height + 15, "text-anchor": "middle" }, label));
      }
    }

    // Returns the share of the inner picture's width at which a pointer is.
    function share(event) {
      const box = chart.getBoundingClientRect();
      const x = (event.clientX - box.left) * (chart.viewBox.baseVal.width / box.width);
      return Math.max(0, Math.min(1, (x - left) / width));
    }

    let begun = null;
    const chosen = element("rect", { class: "chosen", y: top, height });
    chart.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begun = share(event);
      chart.setPointerCapture(event.pointerId);
    });
    chart.addEventListener("pointermove", (event) => {
      if (begun === null) return;
      const now = share(event);
      chosen.setAttribute("x", left + Math.min(begun, now) * width);
      chosen.setAttribute("width", Math.abs(now - begun) * width);
      chart.append(chosen);
    });
    const finish = (event) => {
      if (begun === null) return;
      const [low, high] = [begun, share(event)].sort((a, b) => a - b);
      begun = null;
      chosen.remove();
      const at = (it) => from + it * (to - from);
      if (event.type === "pointerup" && high - low > 0.02) show(at(low), at(high));
    };
    chart.addEventListener("pointerup", finish);
    chart.addEventListener("pointercancel", finish);
    chart.addEventListener("dblclick", () => show(0, 1));
    chart.addEventListener("keydown", (event) => {
      const length = to - from;
      const middle = from + length / 2;
      const move = (by) => {
        const begin = Math.max(0, Math.min(1 - length, from + by));
        show(begin, begin + length);
      };
      const keys = {
        "+": () => show(middle - length / 4, middle + length / 4),
        "-": () => show(middle - length, middle + length),
        0: () => show(0, 1),
        ArrowLeft: () => move(-length / 4),
        ArrowRight: () => move(length / 4),
      };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    addEventListener("beforeprint", () => show(0, 1));
  }

  const charts = document.querySelectorAll(".chart");
  charts.forEach(enlarge);
  if (charts.length > 0) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Drag over a part of a chart to enlarge it; a double click shows the whole chart again. "
      + "With the keyboard: + - 0 and the arrows.";
    document.querySelector("h1").after(hint);
  }
})();
