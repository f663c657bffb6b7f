/* Shows the leaderboard that the form "show" asks for. Every number was computed by ddr; a choice that
   it computed no leaderboard for has none. Choosing kinds of methods only hides rows. */
(() => {
  const form = document.getElementById("show");
  if (!form) return;
  const data = JSON.parse(document.getElementById("boards").textContent);
  const table = document.getElementById("leaderboard");
  const lists = [...form.querySelectorAll("select")];
  const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);

  function show(board, kind) {
    table.tBodies[0].replaceChildren(...board.rows.map(([method, ...cells]) => {
      const [words, slug, uses] = data.methods[method];
      const row = make("tr", "", { hidden: Boolean(kind) && uses !== (kind === "users") }), head = make("th", "", { scope: "row" });
      head.append(make("a", words, { href: `methods/${slug}.html` }));
      row.append(head, ...cells.map((text) => make("td", text, { className: "number" })));
      return row;
    }));
    for (const head of table.querySelectorAll("[aria-sort]")) head.removeAttribute("aria-sort");
    for (const [name, text] of Object.entries(board.heads)) table.querySelector(`[data-head=${name}]`).textContent = text;
    table.caption.textContent = board.caption;
  }

  function apply() {
    const asked = Object.fromEntries(new FormData(form));
    const told = form.querySelector("output");
    const board = data.boards.find((each) => Object.keys(asked).every((name) => name === "kind" || each[name] === asked[name]));
    told.value = board ? (asked.kind ? "Ranks and comparisons are among all methods." : "")
      : "There is no leaderboard for this choice; the table shows the previous one.";
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
