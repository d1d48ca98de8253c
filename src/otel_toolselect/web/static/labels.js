"use strict";
// Labelling by keyboard: a key chooses, Enter keeps, w says wrong, n goes to the note.
(() => {
  const form = document.getElementById("label");
  if (!form) return;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (event.key === "Enter" && (writing || !event.target.matches("button, a, summary"))) {
      event.preventDefault();
      form.requestSubmit(form.querySelector('button[value="give"]'));
      return;
    }
    if (writing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "n") {
      event.preventDefault();
      form.elements.note.focus();
      return;
    }
    const chosen = [...form.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
    if (!chosen) return;
    event.preventDefault();
    if (chosen.matches("button")) form.requestSubmit(chosen);
    else chosen.checked = !chosen.checked;
  });
})();
