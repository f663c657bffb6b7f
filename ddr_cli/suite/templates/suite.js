/* Shows the leaderboard that the form "show" selects. ddr has computed every number. Selecting kinds of
   methods only hides rows. */
(() => {
  const form = document.getElementById("show");
  if (!form) return;
  const data = JSON.parse(document.getElementById("boards").textContent);
  const table = document.getElementById("leaderboard");
  const lists = [...form.querySelectorAll("select")];
  const example = table.tBodies[0].rows[0];

  function show(board, kind) {
    table.tBodies[0].replaceChildren(...board.rows.map(([method, ...cells], place) => {
      const [words, slug, uses] = data.methods[method], [style, level] = board.drawn[place];
      const row = example.cloneNode(true), [head, ...rest] = row.cells;
      row.hidden = Boolean(kind) && uses !== (kind === "users");
      row.style.cssText = style;
      row.dataset.level = level;
      Object.assign(head.firstChild, { textContent: words, href: `methods/${slug}.html` });
      rest.forEach((cell, i) => { cell.textContent = cells[i]; });
      return row;
    }));
    for (const head of table.querySelectorAll("[aria-sort]")) head.removeAttribute("aria-sort");
    for (const [name, text] of Object.entries(board.heads)) for (const each of document.querySelectorAll(`[data-head=${name}]`)) each.textContent = text;
    table.caption.textContent = board.caption;
  }

  function apply() {
    const asked = Object.fromEntries(new FormData(form));
    const told = form.querySelector("output");
    const board = data.boards.find((each) => Object.keys(asked).every((name) => name === "kind" || each[name] === asked[name]));
    told.value = board ? (asked.kind ? "The ranks and comparisons still use all methods." : "")
      : "There is no leaderboard for this selection. The table shows the previous leaderboard.";
    if (!board) return;
    show(board, asked.kind);
    /* A choice is part of the address, so that it can be linked to. */
    const chosen = String(new URLSearchParams(lists.filter((list) => list.selectedIndex > 0).map((list) => [list.name, list.value])));
    history.replaceState(null, "", chosen ? `#show?${chosen}` : location.pathname);
  }

  function unpack() {
    if (!location.hash.startsWith("#show?")) return;
    const given = new URLSearchParams(location.hash.slice(6));
    for (const list of lists) if (given.has(list.name)) list.value = given.get(list.name);
    apply();
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("hashchange", unpack);
  unpack();
})();
