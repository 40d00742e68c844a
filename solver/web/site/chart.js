/**
 * Who stood how after each move: a column a position, up for the first player, down for the second; a mark where a move
 * gave something away.
 */

import { element } from "./elements.js";
import { phrase } from "./words.js";

/**
 * Draw positions { share, name, isTurn, words }: share is from -1 to 1, undefined where nothing is known. `at` is the one
 * that is looked at, `go` leads to another.
 */
export function drawChart(place, positions, at, go) {
  const had = place.contains(document.activeElement);
  place.replaceChildren(
    ...positions.map(({ share, name, isTurn, words }, ply) => {
      const button = element("button", { type: "button", className: "column", title: `${name}${words && `: ${words}`}`, tabIndex: ply === at ? 0 : -1 });
      button.setAttribute("aria-label", `${name}${words && `: ${words}`}${isTurn ? `, ${phrase("mistake")}` : ""}`);
      if (ply === at) button.setAttribute("aria-current", "step");
      const bar = element("span", { className: share === undefined ? "bar unknown" : share > 0 ? "bar first" : share < 0 ? "bar second" : "bar even" });
      bar.style.height = `${share ? Math.max(4, 46 * Math.abs(share)).toFixed(1) : 3}%`;
      button.append(bar, ...(isTurn ? [element("span", { className: `turn ${share >= 0 ? "below" : ""}`, textContent: "?" })] : []));
      button.addEventListener("click", () => go(ply));
      return button;
    }),
  );
  if (had) place.children[at]?.focus();
  const column = place.children[at];
  if (column) place.scrollLeft = column.offsetLeft - place.clientWidth / 2;
}
