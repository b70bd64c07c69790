// The moves of a game as a list of buttons: each leads to the position behind it.

export class MoveList {
  // element: the list. onChoose(plies): the position after these many plies was chosen.
  constructor(element, onChoose) {
    this.element = element;
    element.onclick = ({ target }) => {
      const item = target.closest("li");
      if (item) onChoose([...element.children].indexOf(item) + 1);
    };
  }

  // texts: of the moves, in order; here: plies before the position that is looked at; first: the ply before the list, as
  // games that alternate have two columns (odd: the second player began).
  show(texts, here, first = null) {
    const { element } = this;
    element.classList.toggle("paired", first !== null);
    element.classList.toggle("odd", first === 1);
    while (element.children.length > texts.length) element.lastChild.remove();
    texts.forEach((text, ply) => {
      const button = (element.children[ply] ?? newMove(element)).firstChild;
      if (button.textContent !== text) button.textContent = text;
      if (ply === here - 1) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const current = element.children[here - 1];
    if (current) element.scrollTop = current.offsetTop - element.clientHeight / 2;
    else element.scrollTop = 0;
  }
}

function newMove(element) {
  const item = element.appendChild(document.createElement("li"));
  item.append(Object.assign(document.createElement("button"), { type: "button" }));
  return item;
}
