// The contrast of each text on a page with what is behind it, [HTML, ratio]
const light = (color) => { // relative luminance, WCAG 2
  const parts = color.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const behind = (one) => {
  for (; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if (color !== "rgba(0, 0, 0, 0)") return color;
  }
};
return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && !one.disabled &&
  [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => {
    const pair = [light(getComputedStyle(one).color), light(behind(one))].sort((a, b) => b - a);
    return [one.outerHTML.slice(0, 80), (pair[0] + 0.05) / (pair[1] + 0.05)];
  });
