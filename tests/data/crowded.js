// The chips on a page's board that leave their cells or touch each other, as HTML
const frame = (one, out) => { // with the outline
  const { left, top, right, bottom } = one.getBoundingClientRect();
  return { left: left - out, top: top - out, right: right + out, bottom: bottom + out };
};
const ends = [["left", "right"], ["top", "bottom"]];
const inside = (one, other) => ends.every(([low, high]) => one[low] >= other[low] && one[high] <= other[high]);
const apart = (one, other) => ends.some(([low, high]) => one[high] <= other[low] || other[high] <= one[low]);
const chips = [...document.querySelectorAll(".cell .chip:not(:empty)")];
return chips.filter((chip) => {
  const taken = frame(chip, chip.classList.contains("best") ? 2 : 0);
  const fits = chip.scrollWidth <= chip.clientWidth && inside(taken, frame(chip.closest(".cell"), 0.5));
  return !fits || chips.some((other) => other !== chip && !apart(taken, frame(other, 0)));
}).map((chip) => chip.parentElement.outerHTML);
