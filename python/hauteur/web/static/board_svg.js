// Drawing: elements of SVG, arrows.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

// The outline of an arrow between two points. wide: half its width; head: the length of its head.
export function arrow([x, y], [tipX, tipY], wide, head) {
  const length = Math.hypot(tipX - x, tipY - y), [ux, uy] = [(tipX - x) / length, (tipY - y) / length];
  const [neckX, neckY] = [tipX - ux * head, tipY - uy * head];
  const at = (px, py, out) => `${px - uy * out} ${py + ux * out}`;
  return `M${at(x, y, wide)}L${at(neckX, neckY, wide)}L${at(neckX, neckY, head / 1.5)}L${tipX} ${tipY}`
    + `L${at(neckX, neckY, -head / 1.5)}L${at(neckX, neckY, -wide)}L${at(x, y, -wide)}z`;
}
