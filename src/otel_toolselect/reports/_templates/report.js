"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const all = (query) => Array.from(document.querySelectorAll(query));
  const runs = all("details.run");
  const groups = all("details.group");
  const cells = all("a[data-cell]");
  const fields = [find("f-text"), find("f-state"), find("f-owner")];
  let cell = "";

  const matches = (run) => {
    const [text, state, owner] = fields.map((field) => field.value);
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (!state || run.dataset.state === state) && (!owner || run.dataset.owner === owner)
      && words.every((word) => run.dataset.text.includes(word));
  };

  const apply = () => {
    const asked = fields.some((field) => field.value);
    let shown = 0;
    for (const run of runs) {
      const here = !cell || run.parentElement.id === cell;
      run.hidden = !(here && matches(run));
      if (!run.hidden) shown += 1;
    }
    for (const group of groups) {
      const left = Array.from(group.children).some((child) => child.matches("details.run") && !child.hidden);
      group.hidden = cell ? group.id !== cell : asked && !left;
      if (asked && left) group.open = true;
    }
    for (const link of cells) {
      if (link.dataset.cell === cell) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    find("f-count").value = asked || cell ? `${shown} of ${runs.length} runs shown` : `${runs.length} runs`;
  };

  const reveal = (id) => {
    const target = id && find(id);
    if (!target) return;
    if (target.hidden || target.parentElement.hidden) { cell = ""; fields.forEach((field) => { field.value = ""; }); apply(); }
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
    const summary = target.tagName === "DETAILS" ? target.querySelector("summary") : null;
    if (summary) summary.focus({ preventScroll: true });
  };

  for (const link of cells) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      cell = link.dataset.cell;
      fields.forEach((field) => { field.value = ""; });
      apply();
      history.replaceState(null, "", `#${cell}`);
      reveal(cell);
    });
  }
  fields.forEach((field) => field.addEventListener("input", () => { cell = ""; apply(); }));
  find("f-clear").addEventListener("click", () => { cell = ""; fields.forEach((field) => { field.value = ""; }); apply(); });
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => reveal(location.hash.slice(1)));

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details.run.fail:not([open]), details.group:not([open])")
      .filter((node) => node.matches(".run") || node.querySelector(".run.fail"));
    closed.forEach((node) => { node.open = true; });
  });
  window.addEventListener("afterprint", () => { closed.forEach((node) => { node.open = false; }); });

  document.querySelector(".filter").hidden = false;
  apply();
  reveal(location.hash.slice(1));
})();
