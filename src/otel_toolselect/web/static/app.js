"use strict";
// What pages do beyond htmx: the theme, and where the focus is after a part of a page was replaced. Pages work without.
(() => {
  const root = document.documentElement;
  const NEXT = { "": "dark", dark: "light", light: "" };
  const SAID = { "": "as the system", dark: "dark", light: "light" };

  const showTheme = (button) => {
    const theme = root.dataset.theme || "";
    button.hidden = false;
    button.querySelector(".said").textContent = SAID[theme];
  };

  const turnTheme = (button) => {
    const theme = NEXT[root.dataset.theme || ""];
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    const age = theme ? 31536000 : 0;
    document.cookie = `toolselect-theme=${theme}; path=${button.dataset.root}/; max-age=${age}; samesite=lax`;
    showTheme(button);
  };

  const button = document.getElementById("theme");
  if (button) {
    showTheme(button);
    button.addEventListener("click", () => turnTheme(button));
  }

  // On a phone the list of pages is longer than the screen: show where one is.
  const here = document.querySelector(".top nav a[aria-current]");
  if (here) here.closest("nav").scrollLeft = here.offsetLeft - 60;

  // A form with data-auto is sent when a choice in it changes; its button is for those who cannot, and for texts.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
  });

  // Addresses are shared: what was left open in a form need not stand in them. An empty `since` means ever.
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.verb !== "get") return;
    const sent = event.detail.formData;
    for (const name of new Set(sent.keys())) {
      if (name !== "since" && sent.getAll(name).every((value) => value === "")) sent.delete(name);
    }
  });

  // data-confirm: asked before a form is sent.
  document.addEventListener("submit", (event) => {
    const words = event.submitter && event.submitter.dataset.confirm;
    if (words && !window.confirm(words)) event.preventDefault();
  });

  // data-copy: a button that copies the text of the element it names.
  document.addEventListener("click", (event) => {
    const copier = event.target.closest("button[data-copy]");
    if (!copier || !navigator.clipboard) return;
    const source = document.getElementById(copier.dataset.copy);
    if (source) navigator.clipboard.writeText(source.textContent).then(() => { copier.textContent = "copied"; });
  });

  document.body.addEventListener("htmx:responseError", (event) => {
    const place = document.getElementById("trouble");
    if (!place) return;
    place.textContent = event.detail.xhr.status === 401
      ? "The session is over: load the page again."
      : `The server answered ${event.detail.xhr.status}: load the page again to see why.`;
  });
  document.body.addEventListener("htmx:sendError", () => {
    const place = document.getElementById("trouble");
    if (place) place.textContent = "The server does not answer.";
  });
})();
