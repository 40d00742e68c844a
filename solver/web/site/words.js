/**
 * Every text of the pages. `{name}` stands for what is put there. A language is a file of its own beside this one, with
 * the same keys: `words-de.js`. `?lang=de` in an address chooses it, and the links of the page keep it. What comes from
 * the rules stays as it is: moves, the names of men, the title and what is said of the game.
 */

export const ENGLISH = {
  // the page, as it stands in its HTML
  allGames: "All games",
  wholePage: "The whole page",
  puzzles: "Puzzles",
  darkTheme: "Dark theme",
  lightOrDark: "Light or dark (l)",
  puzzle: "Puzzle",
  hint: "Hint",
  solution: "Solution",
  next: "Next",
  daily: "Puzzle of the day",
  wholeGame: "The whole game",
  theGame: "The game",
  unscripted: "This is the start of the game. To play, open the page from a web server, with JavaScript.",
  board: "Board",
  setUpMen: "Set up men",
  whatClickPuts: "What a click puts",
  toMove: "To move",
  clear: "Clear",
  done: "Done",
  cancel: "Cancel",
  play: "Play",
  throwDice: "Throw",
  undo: "Undo",
  redo: "Redo",
  playBest: "Play best",
  watch: "Watch",
  stop: "Stop",
  newGame: "New game",
  backToGame: "Back to the game",
  pagePlays: "The page plays",
  swapSides: "Swap sides",
  strength: "Strength",
  showValues: "Show values",
  realDice: "Real dice",
  legend: "Green wins, grey draws, orange loses, for the side to move. The number counts moves of both sides to the end.",
  why: "Why",
  moves: "Moves",
  throws: "Throws",
  thisGame: "This game",
  howFirstStood: "How the first player stood, move by move",
  otherLines: "Other lines",
  thisPosition: "This position",
  movesOrNumber: "Moves, or #number",
  movesOrRows: "Moves, #number, or rows and who is to move: {example}",
  start: "start",
  setUp: "Set up",
  putMen: "Put men on the board",
  link: "Link",
  copyMoves: "Copy moves",
  copyNumber: "Copy number",
  copyJson: "Copy JSON",
  copyEmbed: "Copy embed code",
  saveSvg: "Save SVG",
  savePng: "Save PNG",
  toBeCopied: "To be copied",
  keys: "Keys",
  keyDigits: "1 to 9 play the move of that name, or of that place in the list",
  keyThrow: "t throw the dice; or choose what your own dice show, for both sides if they are \u201creal dice\u201d",
  keyArrows: "arrows go over the board, the list and the chart, Enter plays",
  keyLetters: "u undo, r redo, b play best, w watch best play, n new game, Esc let go of a man",
  keyShow: "v show or hide values, l light or dark",
  aboutPage: "About this page",
  bookItself: "The book itself",

  // players and levels
  firstPlayer: "First player",
  secondPlayer: "Second player",
  black: "Black",
  white: "White",
  red: "Red",
  blue: "Blue",
  yellow: "Yellow",
  amber: "Amber",
  green: "Green",
  sky: "Sky",
  fox: "Fox",
  hare: "Hare",
  hounds: "Hounds",
  north: "North",
  south: "South",
  beginner: "beginner",
  easy: "easy",
  medium: "medium",
  hard: "hard",
  perfect: "perfect",
  tricky: "perfect and tricky",

  // values
  win: "win",
  draw: "draw",
  loss: "loss",
  unknown: "unknown",
  estimate: "estimate",
  searching: "searching",
  tie: "tie",
  within: " in ",
  distanceUnknown: "distance unknown",
  comma: ", ",
  depth: "depth {depth}",
  shortWin: "W",
  shortDraw: "=",
  shortLoss: "L",
  shortUnknown: "?",
  shortEstimate: "\u2248",
  shortSearching: "\u2026",
  looks: "looks {impression} ({words})",
  better: "better",
  even: "even",
  worse: "worse",
  winningChance: "winning chance {words}",
  expectedMargin: "expected margin {words}",
  stillToCome: "{words} still to come",
  marginSoFar: "margin so far {gained}, still to come {words}",
  best: "best",
  likely: "likely",

  // the status
  played: "{who} played {move}.",
  threw: "{who} threw {throw}.",
  threwAnd: "{who} threw {throw} ({what}).",
  onlyMovePlayed: "the only move is played",
  noMove: "no move",
  toMoveNow: "{who} to move",
  toThrowNow: "{who} to throw",
  looking: "Asking the book, and looking ahead where it ends.",
  noneBest: "No move is known to be best.",
  bookEnds: "The book ends here: no move is known to be best.",
  isSearching: "Searching.",
  playsOn: "The page plays on as well as it can.",
  repeats: "The position repeats.",
  bestAre: "Best: {moves}.",
  manyKeep: "{count} moves keep it.",
  likelyAre: "Likely best: {moves}.",
  manyAlike: "{count} moves look alike.",
  isDrawn: "The game is drawn",
  wins: "{who} wins",
  winMany: "{who} win",
  byMargin: " by {margin}",
  inARow: ", with {count} in a row",
  withChain: ", with a chain from edge to edge",
  putting: "Set up men: choose one, and click cells.",
  toBeThrown: "to be thrown",
  thrown: "thrown: {faces}",
  and: " and ",

  // why, and puzzles
  playsAndWhy: "{who} plays {move}: it {why}.",
  mustPlay: "{who} must play {move}.",
  onlyDelays: "{who} can only delay: {move}.",
  playsOnly: "{who} plays {move}, the only move that keeps the value.",
  plays: "{who} plays {move}.",
  isOver: "The game is over.",
  thatHolds: "That holds the draw.",
  willWin: "{who} will win.",
  winsIn: "{who} wins in {plies}.",
  givesAway: "gives {margin} away",
  makesOf: "makes a {after} of a {before}",
  keepsValue: "keeps the value",
  holdsDraw: "holds the draw",
  winsSoon: "wins in {plies}",
  losesSoon: "loses in {plies}",
  doesWin: "wins",
  doesLose: "loses",
  askWhy: "why?",
  line: "line",
  whyLabel: "why? {move} gives value away",
  lineLabel: "line after {move}",
  task: "Puzzle {number} of {count}. {who} to move. {goal}",
  findWin: "One move wins in {plies}. Find it.",
  findDraw: "One move holds the draw. Find it.",
  findMargin: "One move keeps the best margin. Find it.",
  isNotIt: "{move} is not it: it {why}. Try again.",
  solved: "Solved.",
  solvedPlayOn: "Solved. Play on from here, or take the next.",
  theSolution: "This is the solution.",
  solvedOf: "{solved} of {tried} solved at the first try.",
  oneOf: "It is one of {moves}.",

  // the board, the lists and the chart, for screen readers
  columnRow: "column {column}, row {row}",
  doPlay: ", play {moves}",
  doPut: ", put {man}",
  furtherOne: ", 1 move from here",
  further: ", {count} moves from here",
  longerOne: ", 1 longer move from here",
  longer: ", {count} longer moves from here",
  atBest: ", at best {words}",
  likelyBest: "likely best",
  mistake: "a mistake",
  gaveAway: "It gave something away.",
  threwNumber: "{number}. threw",
  orNumber: "or {number}.",

  // what goes wrong
  runsOtherwise: "The rules run otherwise here than in Python, at state {state}: export the page again",
  twoExports: "book.bin and game.js are of two exports: reload, or export again",
  cannotSearch: "The page cannot search past its book: {reason}",
  stateNotInBook: "The state of the link is not in the book; the start is shown.",
  stateNotInABook: "The state of the link is not in a book; the start is shown.",
  moveNotLegal: "Move {number} of the link, {move}, is not legal there; the moves before it are shown.",
  lineNotShown: "The line cannot be shown: {reason}",
  bookNotRead: "The book cannot be read: {reason}",
  searchFailed: "The search has failed: {reason}",
  bookHasNot: "The book has no such position: play does not lead to it.",
  pageHasNot: "The page has no such position: play does not lead to it.",
  noBoard: "This game has no board to draw.",
  copied: "Copied: {text}",
  noMoves: "no moves",
  copyHere: "Copy it from here:",
  rowsAre: "Rows are {rows} of {cells} cells, with / between them, as in {example}",
  afterRows: "After the rows stands who is to move: {letters}",
  or: " or ",
  noSuchPosition: "the rules have no such position",
};

const RIGHT_TO_LEFT = ["he"];
const LANGUAGES = { de: () => import("./words-de.js"), he: () => import("./words-he.js") };

/** The language that an address asks for, if the page has it; else undefined, which is English. */
export const language = Object.keys(LANGUAGES).find((one) => one === new URLSearchParams(globalThis.location?.search).get("lang"));

const words = language ? { ...ENGLISH, ...(await LANGUAGES[language]()).WORDS } : ENGLISH;

/** A text by its key, with values in the places of their names. */
export function phrase(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

/** The name of a side of a drawing, as people call it. */
export const sideName = (name) => words[name] ?? name[0].toUpperCase() + name.slice(1);

/** Put the language's texts in the places of the page's own: `data-words` names a text, `data-label` that of an attribute. */
export function translatePage(root = document) {
  if (!language) return;
  root.documentElement.lang = language;
  root.documentElement.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
  const all = (/** @type {string} */ selector) => /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(selector));
  for (const one of all("[data-words]")) one.textContent = phrase(one.dataset.words);
  for (const one of all("[data-label]")) {
    for (const pair of (one.dataset.label ?? "").split(" ")) {
      const [attribute, key] = pair.split(":");
      one.setAttribute(attribute, phrase(key));
    }
  }
}
