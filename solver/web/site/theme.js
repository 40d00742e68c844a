/** Light or dark as the system is, or as was chosen here before; a classic script, so that nothing flashes. */
(() => {
  const root = document.documentElement;
  if (location.protocol !== "file:") root.classList.add("scripted"); // modules do not run from files
  if (new URLSearchParams(location.search).has("embed")) root.classList.add("embed");
  let kept;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    // a browser that keeps nothing
  }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  document.addEventListener("DOMContentLoaded", () => {
    const button = /** @type {HTMLElement} */ (document.getElementById("theme"));
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const say = () => button.setAttribute("aria-pressed", String(isDark()));
    say();
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      say();
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        // then it lasts as long as the page
      }
    });
  });
})();
