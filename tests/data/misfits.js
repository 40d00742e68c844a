// What does not fit a page's window: the board's frame and the page, and the cells that fingers miss, by their labels
const wide = ["#frame", "html"].filter((one) => {
  const { scrollWidth, clientWidth } = document.querySelector(one);
  return scrollWidth > clientWidth;
});
const cells = [...document.querySelectorAll(".cell")].filter((one) => !one.hidden);
const small = cells.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24);
return [...wide, ...small.map((one) => one.getAttribute("aria-label"))];
