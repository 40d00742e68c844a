/**
 * The board as buttons, a cell each, or as text where the rules do not say how cells are drawn.
 *
 * Only one cell is in the order of Tab; arrows go from cell to cell. A move is chosen by its cells, one after the other;
 * what has no cells, or the same ones as another move, is chosen in the list.
 */

const SHORT = { win: "W", draw: "=", loss: "L", unknown: "?", estimate: "\u2248", searching: "\u2026" }; // where a cell is too small for a word
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export function createBoard(place, play) {
  let rows = [];
  let cells = [];
  let moves = [];
  let chosen = []; // the cells of a move that is being made
  let current = 0; // the cell that Tab comes to
  let last; // where the last move went
  let falls; // whether a move is known by its column alone
  let named; // whether moves are named by the cells that they go to: a1 bottom left
  let untold; // whether that is not known yet: chance has had to decide first

  /** Show rows of characters, or text, with the moves: { name, place, kind, words, best }. */
  function draw(board, labelled, lastPlace) {
    if (String(board) !== String(rows)) chosen = []; // values that come late find a move begun
    [moves, last] = [labelled, lastPlace];
    if (typeof board === "string") {
      place.classList.add("text");
      place.replaceChildren(Object.assign(document.createElement("pre"), { textContent: board, tabIndex: 0 }));
      return;
    }
    if (!cells.length || untold) build(board);
    rows = board;
    update();
  }

  function build(board) {
    rows = board;
    const width = rows[0].length;
    untold = moves.length > 0 && moves.every((move) => move.weight !== undefined);
    falls = isByColumn();
    named = moves.some((move) => move.place.length && move.name.includes(nameOf(move.place.at(-1))));
    cells = Array.from({ length: width * board.length }, (_, cell) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "cell" });
      button.addEventListener("click", () => choose(cell));
      button.addEventListener("focus", () => rove(cell));
      return button;
    });
    place.style.setProperty("--columns", width);
    place.classList.toggle("edged", named);
    const edge = (text) => Object.assign(span("edge", text), { ariaHidden: "true" });
    const lines = rows.flatMap((_, row) => [
      ...(named ? [edge(String(rows.length - row))] : []),
      ...cells.slice(row * width, (row + 1) * width),
    ]);
    const below = Array.from({ length: width }, (_, column) => edge(named ? LETTERS[column] : String(column + 1)));
    place.replaceChildren(...lines, ...(named ? [edge(""), ...below] : falls ? below : []));
  }

  /** A cell as most games write it. */
  function nameOf(cell) {
    const width = rows[0].length;
    return `${LETTERS[cell % width]}${rows.length - Math.floor(cell / width)}`;
  }

  /** Whether men fall: at the start, each column has one move at most, of one cell, and there are several rows. */
  function isByColumn() {
    const columns = moves.map((move) => move.place.length === 1 && move.place[0] % rows[0].length);
    return rows.length > 1 && moves.length > 1 && !columns.includes(false) && new Set(columns).size === columns.length;
  }

  /** The moves that may still be meant if this cell is chosen next, and the cell of theirs that is. */
  function meant(cell, before = chosen) {
    const starts = moves.filter((move) => before.every((one, step) => move.place[step] === one));
    const exact = starts.filter((move) => move.place[before.length] === cell);
    if (exact.length || !falls) return { moves: exact, cell };
    const below = starts.filter((move) => move.place[0] % rows[0].length === cell % rows[0].length);
    return { moves: below, cell: below[0]?.place[0] };
  }

  function choose(cell) {
    current = cell;
    let found = meant(cell);
    let before = chosen;
    if (!found.moves.length && chosen.length) [found, before] = [meant(cell, []), []];
    if (chosen.includes(cell)) [found, before] = [{ moves: [] }, []];
    chosen = found.moves.length ? [...before, found.cell] : [];
    const whole = found.moves.filter((move) => move.place.length === chosen.length);
    if (whole.length === 1 && found.moves.length === 1) play(whole[0]);
    else {
      update();
      if (whole.length) document.querySelector("#moves button")?.focus();
    }
  }

  function letGo() {
    chosen = [];
    if (cells.length) update();
  }

  function update() {
    const width = rows[0].length;
    const marks = rows.map((row) => [...row]).flat();
    cells.forEach((button, cell) => {
      const { moves: some, cell: target } = meant(cell);
      const best = some.find((move) => move.best) ?? some[0];
      const man = marks[cell];
      const side = man === "." || man === " " ? "" : man !== man.toLowerCase() ? "first" : man !== man.toUpperCase() ? "second" : "neutral";
      button.className = ["cell", man === " " && "gap", side && `man ${side}`, cell === last && "last"].filter(Boolean).join(" ");
      button.classList.toggle("valued", Boolean(target === cell && best?.words));
      button.classList.toggle("chosen", chosen.includes(cell));
      button.classList.toggle("open", some.length > 0);
      button.setAttribute("aria-disabled", String(!some.length && !chosen.includes(cell)));
      if (chosen.length || some.some((move) => move.place.length > 1)) button.setAttribute("aria-pressed", String(chosen.includes(cell)));
      else button.removeAttribute("aria-pressed");
      button.setAttribute("aria-label", label(cell, man, some, width));
      button.replaceChildren(...faces(man, side, target === cell ? best : undefined));
      button.tabIndex = cell === current ? 0 : -1;
    });
  }

  /** What a cell shows: its man, and what going there is worth. */
  function faces(man, side, move) {
    const parts = [];
    if (side) parts.push(span("disc", man.toUpperCase()));
    if (move) {
      const [word, count] = move.words.split(/, | in |(?<=estimate) /);
      const chip = span(`chip ${move.kind}${move.best ? " best" : ""}`, "");
      if (word) chip.append(span("word", word));
      if (word in SHORT) chip.firstChild.dataset.short = SHORT[word];
      if (count) chip.append(span("count", count));
      parts.push(chip);
    }
    return parts;
  }

  function label(cell, man, some, width) {
    const where = named ? nameOf(cell) : `column ${(cell % width) + 1}, row ${rows.length - Math.floor(cell / width)}`;
    const what = man === "." ? "empty" : man === " " ? "no cell" : man.toUpperCase();
    const ends = some.filter((move) => move.place.length === chosen.length + 1);
    const say = (move) => `${move.name}${move.words && `: ${move.words}`}${move.best ? ", best" : ""}`;
    const leads = ends.length ? `, play ${ends.map(say).join("; ")}` : some.length ? `, ${some.length} moves from here` : "";
    return `${where}: ${what}${leads}`;
  }

  function rove(cell) {
    cells[current].tabIndex = -1;
    current = cell;
    cells[current].tabIndex = 0;
  }

  /** Go from cell to cell by an arrow key; false where there are no cells, or the focus is elsewhere. */
  function walk(key) {
    const inside = place.contains(document.activeElement);
    if (!cells.length || !(inside || document.activeElement === document.body)) return false;
    const width = rows[0].length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width }[key];
    const stays = (step === -1 && current % width === 0) || (step === 1 && current % width === width - 1);
    const next = inside && !stays ? current + step : current;
    if (next >= 0 && next < cells.length) cells[next].focus();
    return true;
  }

  return { draw, letGo, walk };
}

function span(className, text) {
  return Object.assign(document.createElement("span"), { className, textContent: text });
}
