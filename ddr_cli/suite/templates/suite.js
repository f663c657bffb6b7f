/* The leaderboard and the matrix of pairs, computed anew for what the form "show" asks for. The same
   numbers as ddr_cli/comparison/leaderboard.py; intervals and p, which are not computed here, stand
   only where they are of what is shown. */
(() => {
  const form = document.getElementById("show");
  if (!form) return;
  const data = JSON.parse(document.getElementById("means").textContent);
  const table = document.getElementById("leaderboard"), matrix = document.getElementById("matrix");
  const boxes = (name) => [...form.querySelectorAll(`[name=${name}]`)];
  const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);
  const twelve = (x) => Math.round(x * 1e12) / 1e12;
  const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;

  /* Wins, equal and losses over data sets of one method against another. */
  function counts(means, rows, a, b, lower) {
    const found = [0, 0, 0];
    for (const row of rows) {
      const gain = twelve((lower ? -1 : 1) * (means[row][a] - means[row][b]));
      if (!isNaN(gain)) found[gain > data.equivalence ? 0 : gain < -data.equivalence ? 2 : 1] += 1;
    }
    return found;
  }

  function compute(board, metric, sets, methods) {
    const { means, floors, given } = board.metrics[metric], { lower } = data.metrics[metric];
    const rows = board.datasets.map((set, row) => row).filter((row) => sets.has(board.datasets[row]));
    const columns = board.methods.map((method, column) => column).filter((column) => methods.has(board.methods[column]));
    const perfect = lower ? 0 : 1, full = rows.length === board.datasets.length && columns.length === board.methods.length;
    const scored = rows.filter((row) => floors[row] !== null && Math.abs(floors[row] - perfect) > 1e-9
      && means[row].every((value) => value !== null));
    const weights = rows.map((row) => board.splits[row]), all = weights.reduce((sum, n) => sum + n, 0);
    const weighted = (values) => rows.reduce((sum, row, i) => sum + weights[i] * values(row), 0) / all;
    const found = columns.map((column) => ({
      column,
      method: board.methods[column],
      score: mean(scored.map((row) => (means[row][column] - floors[row]) / (perfect - floors[row]))),
      mean: mean(rows.map((row) => means[row][column]).filter((value) => value !== null)),
      seconds: weighted((row) => board.seconds[row][column]),
      failed: board.failed ? weighted((row) => board.failed[row][column]) : 0,
      interval: rows.length === board.datasets.length ? given[column][0] : "–",
      p: full ? given[column].slice(1) : ["", ""],
    }));
    for (const one of found) one.place = 1 + found.filter((other) => twelve(other.score) > twelve(one.score)).length;
    found.sort((a, b) => a.place - b.place || a.column - b.column);
    const baseline = found.find((one) => one.method === board.baseline);
    const against = (one, other) => (other && one !== other ? counts(means, rows, one.column, other.column, lower) : null);
    for (const one of found) [one.best, one.base] = [against(one, found[0]), against(one, baseline)];
    return { found, rows, means, lower, full, baseline };
  }

  const three = (x) => (isFinite(x) ? String(+x.toPrecision(3)) : "–");
  function show(board, metric, result) {
    const { rate, axis } = data.metrics[metric];
    const cells = (one) => [
      one.place, isNaN(one.score) ? "–" : one.score.toFixed(3),
      one.interval,
      isNaN(one.mean) ? "–" : rate ? (100 * one.mean).toFixed(2) : three(one.mean), three(one.seconds),
      one.failed ? `${Math.round(100 * one.failed)}%` : "",
      one.best ? one.best.join(" / ") : "", one.p[0],
      one.base ? one.base.join(" / ") : "", one.p[1],
    ];
    table.tBodies[0].replaceChildren(...result.found.map((one) => {
      const row = make("tr"), head = make("th", "", { scope: "row" }), [, words, slug] = data.methods[one.method];
      head.append(make("a", words, { href: `methods/${slug}.html` }));
      row.append(head, ...cells(one).map((text) => make("td", text, { className: "number" })));
      return row;
    }));
    for (const head of table.querySelectorAll("[aria-sort]")) head.removeAttribute("aria-sort");
    const say = (name, text) => { table.querySelector(`[data-head=${name}]`).textContent = text; };
    say("metric", axis);
    say("best", data.methods[result.found[0].method][1]);
    say("baseline", data.methods[board.baseline][1]);
    const classifier = form.elements.classifier.selectedOptions[0].textContent;
    table.caption.textContent = `${board.track}, ${classifier}, ${board.tuned ? "tuned" : "at their defaults"}: ${result.rows.length} data sets`;

    const heads = result.found.map((one) => make("th", data.methods[one.method][1], { scope: "col" }));
    matrix.tHead.rows[0].replaceChildren(make("td", ""), ...heads);
    matrix.tBodies[0].replaceChildren(...result.found.map((one) => {
      const row = make("tr");
      row.append(make("th", data.methods[one.method][1], { scope: "row" }), ...result.found.map((other) => {
        if (other === one) return make("td", "");
        const [w, e, l] = counts(result.means, result.rows, one.column, other.column, result.lower);
        const strong = 2 * Math.abs(w - l) > w + e + l ? 2 : 1;
        const className = w === l ? "w0" : `${w > l ? "w" : "l"}${strong}`;
        return make("td", w, { className, title: `${w} wins, ${e} equal, ${l} losses` });
      }));
      return row;
    }));
  }

  function apply() {
    const asked = Object.fromEntries([...new FormData(form)].filter(([name]) => name !== "set" && name !== "method"));
    const chosen = (name) => new Set(boxes(name).filter((box) => box.checked).map((box) => +box.value));
    const fits = (board) => ["track", "classifier"].every((name) => !(name in asked) || board[name] === asked[name])
      && (!("tuned" in asked) || board.tuned === Boolean(asked.tuned));
    const metric = asked.metric ?? Object.keys(data.metrics)[0];
    const board = data.boards.find((each) => fits(each) && metric in each.metrics);
    const result = board && compute(board, metric, chosen("set"), chosen("method"));
    const told = form.querySelector("output");
    if (!result?.found.length || !result.rows.length) {
      told.value = "There are no rows of this choice; the table shows the last one.";
      return;
    }
    show(board, metric, result);
    told.value = result.full ? "" : `${result.rows.length} of ${board.datasets.length} data sets, ${result.found.length} of ${board.methods.length} methods. `
      + "Places, scores, means, seconds and wins are of these; p, and the interval where data sets are left out, are not computed for a choice.";
    const same = [...form.elements].every((each) => each.type === "checkbox" ? each.checked : !each.name || each.selectedIndex <= 0);
    history.replaceState(null, "", same ? location.pathname : `#show?${packed()}`);
  }

  /* A choice is part of the address, so that it can be linked to. */
  const packed = () => {
    const found = new URLSearchParams();
    for (const list of form.querySelectorAll("select")) if (list.selectedIndex > 0) found.set(list.name, list.value);
    if (found.get("group") === "chosen") found.set("sets", boxes("set").filter((box) => box.checked).map((box) => data.datasets[box.value]));
    if (found.get("kind") === "chosen") found.set("methods", boxes("method").filter((box) => box.checked).map((box) => data.methods[box.value][0]));
    return found;
  };
  function unpack() {
    if (!location.hash.startsWith("#show?")) return;
    const given = new URLSearchParams(location.hash.slice(6));
    for (const list of form.querySelectorAll("select")) if (given.has(list.name)) list.value = given.get(list.name);
    tick("group");
    tick("kind");
    const tickNamed = (name, key, nameOf) => {
      const named = given.get(key)?.split(",");
      if (named) for (const box of boxes(name)) box.checked = named.includes(nameOf(box.value));
    };
    tickNamed("set", "sets", (i) => data.datasets[i]);
    tickNamed("method", "methods", (i) => data.methods[i][0]);
    apply();
  }
  function tick(name) {
    const { value } = form.elements[name];
    if (value === "chosen") return;
    if (name === "group") for (const box of boxes("set")) box.checked = !value || data.groups[value].includes(+box.value);
    else for (const box of boxes("method")) box.checked = !value || data.methods[box.value][3] === (value === "users");
  }

  form.hidden = false;
  form.addEventListener("input", ({ target }) => {
    if (target.name === "set") form.elements.group.value = "chosen";
    else if (target.name === "method") form.elements.kind.value = "chosen";
    else tick(target.name);
    apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("hashchange", unpack);
  unpack();
})();
