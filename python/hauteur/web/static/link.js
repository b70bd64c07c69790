// Links that repeat a search: made for the search of the page, and opened where the address of the page is one.

const OF_LINKS = ["digest", "sha256", "core", "batch_size"];

// The address of the page as a link; null where it has no more than a position and settings.
export function linkInAddress() {
  const query = new URLSearchParams(location.search);
  return OF_LINKS.some((key) => query.has(key)) ? `${location.pathname}${location.search}` : null;
}

export class LinkBox {
  // element: gets the link of the last search; ask(): asks the desk for it, {link, note}.
  constructor(element, ask) {
    this.element = element;
    this.ask = ask;
    const label = make("label", { textContent: "Link that repeats this search " }, element);
    this.field = make("input", { readOnly: true, spellcheck: false }, label);
    this.copy = make("button", { type: "button", textContent: "Copy" }, element);
    this.note = make("p", { className: "soft", role: "status" }, element);
    this.copy.onclick = () => this.put();
    this.field.onfocus = () => this.field.select();
  }

  async show() {
    const { link, note } = await this.ask();
    this.element.hidden = false;
    this.field.value = location.origin + link;
    this.text = note;
    await this.put();
  }

  // Puts the link where it can be pasted from; where that is not allowed it is selected, to be copied by hand.
  async put() {
    this.field.focus();
    this.field.select();
    try {
      await navigator.clipboard.writeText(this.field.value);
      this.note.textContent = `Copied. ${this.text}`;
    } catch {
      this.note.textContent = `Copy it with Ctrl-C. ${this.text}`;
    }
  }

  hide() {
    this.element.hidden = true;
  }
}

// What a repeated search came to, as a line.
export function verdictLine({ equal, verdict }) {
  return `The search of the link was repeated${equal === false ? ", but gave" : ":"} ${verdict}.`;
}

function make(name, properties, parent) {
  const element = Object.assign(document.createElement(name), properties);
  parent.append(element);
  return element;
}
