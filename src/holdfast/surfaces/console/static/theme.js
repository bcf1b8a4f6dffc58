// Puts the chosen look in place before anything is painted. The choice stays in this browser.
(() => {
  try {
    const chosen = localStorage.getItem("holdfast.theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is closed in some private windows: the system's look is used.
  }
})();
