"use strict";
/* What the page's script does: sort, filter, links to copy, values on hover, points. It
   looks for classes and data attributes alone, so that any page with the same tables can use it. */
(() => {
  const all = (what, where = document) => [...where.querySelectorAll(what)];
  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  /* Tables of the class "sortable": by number where a cell begins with one, else by text. */
  const value = (cell) => {
    const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim().replace("−", "-");
    const found = text.match(/^[<>≈]?\s*(-?[\d.,]+(?:e-?\d+)?)/i);
    return { number: found ? parseFloat(found[1].replace(/,/g, "")) : NaN, text };
  };
  const order = (a, b) => {
    const none = (one) => one.text === "" || one.text === "–";
    if (none(a) !== none(b)) return none(a) ? Infinity : -Infinity;
    if (isNaN(a.number) !== isNaN(b.number)) return isNaN(a.number) ? 1 : -1;
    return isNaN(a.number) ? a.text.localeCompare(b.text) : a.number - b.number;
  };
  function sort(table, place) {
    const heads = all("thead th", table);
    const falling = heads[place].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[place].setAttribute("aria-sort", falling ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [row, value(row.cells[place])]);
    rows.sort(([, a], [, b]) => {
      const found = order(a, b);
      return falling && isFinite(found) ? -found : found;
    });
    body.append(...rows.map(([row]) => row));
  }
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, place) => {
      if (!head.textContent.trim()) return;
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, place));
      head.append(button);
    });
  }

  /* The form "filter": what of the class "item" meets it is shown, and of the class "group" what
     holds such an item. Each field looks into the data attribute of its name. */
  const form = document.getElementById("filter");
  if (form) {
    const items = all(".item");
    const words = (item, name) => (item.dataset[name] || "").split("|").filter(Boolean);
    const groups = all(".group").map((group) => [group, all(".item", group)]);
    for (const list of all("select", form)) {
      const known = new Set([...list.options].map((option) => option.value));
      const found = new Set(items.flatMap((item) => words(item, list.name)));
      for (const word of [...found].filter((word) => !known.has(word) && word[0] !== "(").sort())
        list.append(make("option", { value: word }, word));
    }
    const texts = new Map();
    const text = (element) => {
      if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
      return texts.get(element);
    };
    const apply = () => {
      const asked = [...new FormData(form)].filter(([, wanted]) => wanted.trim());
      let shown = 0;
      for (const item of items) {
        const fits = asked.every(([name, wanted]) =>
          name === "text"
            ? wanted.toLowerCase().trim().split(/\s+/).every((word) => text(item).includes(word))
            : words(item, name).includes(wanted));
        item.classList.toggle("out", !fits);
        shown += fits;
      }
      for (const [group, own] of groups)
        group.classList.toggle("out", asked.length > 0 && own.every((item) => item.classList.contains("out")));
      form.querySelector("output").value = asked.length
        ? `${shown} of ${items.length} numbers and claims` : "";
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
  }

  /* What a link leads to is opened; a name's link is copied. */
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest(".out")) form?.reset();
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    const own = target.classList.contains("claim") && target.querySelector("details");
    if (own) own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.anchor");
    if (!link) return;
    navigator.clipboard?.writeText(link.href).then(
      () => { link.textContent = "copied"; setTimeout(() => { link.textContent = "#"; }, 1500); },
      () => {});
  });

  /* The part of the contents that is being read. */
  const nav = document.querySelector("nav");
  const entries = all("nav > ul > li").map((entry) => [entry, document.getElementById(entry.querySelector("a").hash.slice(1))]);
  const sections = entries.filter(([, section]) => section);
  const follow = () => {
    const passed = sections.filter(([, section]) => section.getBoundingClientRect().top < innerHeight / 3);
    const [here] = passed.at(-1) ?? sections[0] ?? [];
    for (const [entry] of sections) entry.classList.toggle("here", entry === here);
    const strip = nav.scrollWidth > nav.clientWidth && here;
    if (strip) nav.scrollLeft = here.offsetLeft - 40;
  };
  if (nav && sections.length) {
    nav.classList.add("told");
    let waiting = false;
    addEventListener("scroll", () => {
      if (!waiting) requestAnimationFrame(() => { waiting = false; follow(); });
      waiting = true;
    }, { passive: true });
    follow();
  }

  /* Tables and figures that are wider than the window say so. */
  const frames = new ResizeObserver((seen) => {
    for (const frame of new Set(seen.map(({ target }) => target.closest(".wide"))))
      frame.classList.toggle("more", frame.scrollWidth > frame.clientWidth + 2);
  });
  for (const frame of all(".wide")) {
    frame.after(make("p", { className: "hint", ariaHidden: "true" }, "Scroll sideways to see the rest →"));
    frames.observe(frame);
    frames.observe(frame.firstElementChild);
  }

  /* A line of text next to the pointer. */
  const tip = make("div", { id: "tip", hidden: true });
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const tell = (text, event) => {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${Math.max(4, event.clientY - height - 12)}px`;
  };

  /* Points of embeddings: one plane per method, a point lit in all of them. */
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  function linked(group, place) {
    const kinds = bytes(group.y), test = bytes(group.test), off = new Set();
    let lit = -1, box = null, wanted = null;
    const planes = group.planes.map(([title, scores, packed]) => {
      const at = bytes(packed), n = at.length / 3;
      const x = new Float32Array(n), y = new Float32Array(n);
      for (let i = 0; i < n; i++) {
        x[i] = ((at[3 * i] << 4) | (at[3 * i + 1] >> 4)) / 4095;
        y[i] = 1 - (((at[3 * i + 1] & 15) << 8) | at[3 * i + 2]) / 4095;
      }
      const canvas = make("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${title}: ${n} samples. ${scores}`);
      return { x, y, canvas, title, scores };
    });
    const count = make("p", { className: "legend" });
    const edge = 8;
    const draw = () => {
      const style = getComputedStyle(document.documentElement);
      for (const plane of planes) {
        const { canvas } = plane, size = canvas.clientWidth, dense = devicePixelRatio || 1;
        if (!size) continue;
        canvas.width = canvas.height = size * dense;
        const pen = canvas.getContext("2d");
        pen.scale(dense, dense);
        const put = (i, radius) => {
          pen.beginPath();
          pen.arc(edge + plane.x[i] * (size - 2 * edge), edge + plane.y[i] * (size - 2 * edge), radius, 0, 7);
          pen.fill();
        };
        for (let i = 0; i < plane.x.length; i++) {
          if (off.has(kinds[i])) continue;
          pen.globalAlpha = wanted && !wanted.has(i) ? 0.07 : test[i] ? 0.9 : 0.55;
          pen.fillStyle = colours[kinds[i]];
          put(i, 2.4);
        }
        pen.globalAlpha = 1;
        if (lit >= 0) {
          pen.fillStyle = style.getPropertyValue("--ink");
          put(lit, 6.5);
          pen.fillStyle = colours[kinds[lit]];
          put(lit, 4.5);
        }
        if (box?.plane === plane) {
          pen.strokeStyle = style.getPropertyValue("--ink");
          pen.strokeRect(box.x, box.y, box.w, box.h);
        }
      }
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let colours;
    const dress = () => {
      colours = group.groups.map(([, light, night]) => (dark.matches ? night : light));
      all(".swatch", tools).forEach((swatch, i) => { swatch.style.background = colours[i]; });
      draw();
    };
    const nearest = (plane, event) => {
      const frame = plane.canvas.getBoundingClientRect(), room = frame.width - 2 * edge;
      let best = -1, least = 14 ** 2;
      for (let i = 0; i < plane.x.length; i++) {
        if (off.has(kinds[i])) continue;
        const away = (edge + plane.x[i] * room - (event.clientX - frame.x)) ** 2
          + (edge + plane.y[i] * room - (event.clientY - frame.y)) ** 2;
        if (away < least) [best, least] = [i, away];
      }
      return best;
    };
    const choose = (plane) => {
      const room = plane.canvas.clientWidth - 2 * edge, inside = new Set();
      const within = (at, from, long) => at >= Math.min(from, from + long) && at <= Math.max(from, from + long);
      for (let i = 0; i < plane.x.length; i++)
        if (!off.has(kinds[i]) && within(edge + plane.x[i] * room, box.x, box.w)
          && within(edge + plane.y[i] * room, box.y, box.h)) inside.add(i);
      wanted = inside.size ? inside : null;
      const tally = new Map();
      for (const i of inside) tally.set(kinds[i], (tally.get(kinds[i]) || 0) + 1);
      count.textContent = inside.size
        ? `${inside.size} samples: ${[...tally].sort((a, b) => b[1] - a[1]).map(([kind, n]) => `${n} ${group.groups[kind][0]}`).join(", ")}. Click to clear the selection.` : "";
    };
    for (const plane of planes) {
      const { canvas } = plane;
      canvas.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch") return;
        canvas.setPointerCapture(event.pointerId);
        box = { plane, x: event.offsetX, y: event.offsetY, w: 0, h: 0 };
      });
      canvas.addEventListener("pointermove", (event) => {
        if (box) [box.w, box.h] = [event.offsetX - box.x, event.offsetY - box.y];
        else {
          lit = nearest(plane, event);
          tell(lit < 0 ? "" : `${group.groups[kinds[lit]][0]}, ${test[lit] ? "test" : "training"} sample ${lit + 1}`, event);
        }
        draw();
      });
      canvas.addEventListener("pointerup", () => {
        if (!box) return;
        choose(plane);
        box = null;
        draw();
      });
      canvas.addEventListener("pointerleave", () => { lit = -1; tell(""); draw(); });
    }
    const tools = make("div", { className: "tools" });
    group.groups.forEach(([name], kind) => {
      const button = make("button", { type: "button", ariaPressed: "true" }, make("span", { className: "swatch" }), name);
      button.addEventListener("click", () => {
        if (!off.delete(kind)) off.add(kind);
        button.ariaPressed = String(!off.has(kind));
        draw();
      });
      tools.append(button);
    });
    const shown = make("div", { className: "planes" });
    for (const { canvas, title, scores } of planes)
      shown.append(make("figure", {}, canvas, make("figcaption", {}, make("b", {}, title), scores ? ` ${scores}` : "")));
    const details = make("details", {}, make("summary", {}, `${planes.length} linked scatter plots${place ? ` (${place + 1})` : ""}`),
      make("p", { className: "legend" }, "Point at a sample to highlight it in every plot. Drag a frame to select samples. Click a class to hide or show it."),
      tools, shown, count);
    details.addEventListener("toggle", dress);
    dark.addEventListener("change", dress);
    addEventListener("resize", () => details.open && draw());
    return details;
  }
  for (const data of all("script.points"))
    JSON.parse(data.textContent).forEach((group, place) => data.closest("figure").after(linked(group, place)));

  /* On paper everything is open. */
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const each of all("details:not([open])")) { each.open = true; closed.push(each); }
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((each) => { each.open = false; }));
})();
