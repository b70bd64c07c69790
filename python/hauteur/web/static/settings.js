// Settings of a search that are not as by default: a row each, and a list to add one from (web/search_form.py).

export class SettingsForm {
  // groups: of search_form(); onChange(): something was changed. `values` is {key: text}, such as {"solver": "on"}.
  constructor(element, groups, { onChange = () => {}, label = "settings" } = {}) {
    this.onChange = onChange;
    this.known = new Map();
    element.classList.add("settings");
    this.list = make("div", { className: "settings-rows" }, element);
    this.more = make("select", { ariaLabel: `${label}: change one` }, element);
    make("option", { value: "", textContent: "change a setting …" }, this.more);
    for (const group of groups) this.offer(group);
    this.more.onchange = () => this.add(this.more.value);
    this.rows = new Map();
  }

  offer({ name, title, label, text, optional, settings }) {
    const options = make("optgroup", { label }, this.more);
    if (optional) {
      this.known.set(name, { key: name, kind: "on", text, label: title });
      make("option", { value: name, textContent: "on, with its defaults" }, options);
    }
    for (const setting of settings) {
      const { key, words } = setting, [sentence] = setting.text.split(/\.(?: |$)/);
      this.known.set(key, { ...setting, label: title ? `${title}: ${words}` : words });
      make("option", { value: key, textContent: sentence ? `${words}: ${sentence}` : words, title: key }, options);
    }
  }

  get values() {
    return Object.fromEntries([...this.rows].map(([key, { field }]) => [key, field ? field.value.trim() : "on"]));
  }

  set values(values) {
    this.rows.clear();
    this.list.replaceChildren();
    for (const [key, value] of Object.entries(values)) this.row(key, value);
    this.offered();
  }

  // The settings as the words that commands take.
  get words() {
    return Object.entries(this.values)
      .map(([key, value]) => (/[\s'"\\]/.test(value) ? `'${key}=${value.replaceAll("'", "")}'` : `${key}=${value}`)).join(" ");
  }

  add(key) {
    this.row(key, this.known.get(key).default);
    this.offered();
    const { field } = this.rows.get(key);
    (field ?? this.more).focus();
    field?.select?.();
    this.onChange();
  }

  row(key, value) {
    const setting = this.known.get(key) ?? { key, kind: "text", text: "", label: key };
    const row = make("div", { className: "settings-row" }, this.list);
    const label = make("label", { title: `${key}: ${setting.text}` }, row);
    make("span", { textContent: setting.kind === "on" ? `${setting.label}: on` : setting.label }, label);
    const field = setting.kind === "on" ? null : control(setting, value, label);
    if (field) field.onchange = () => this.onChange();
    const remove = make("button", { type: "button", textContent: "×", ariaLabel: `${setting.label} as by default`, className: "small" }, row);
    remove.onclick = () => { this.rows.delete(key); row.remove(); this.offered(); this.more.focus(); this.onChange(); };
    this.rows.set(key, { row, field });
  }

  // What has a row is not offered again.
  offered() {
    this.more.value = "";
    for (const option of this.more.options) option.disabled = this.rows.has(option.value);
  }
}

function control({ kind, choices, least, most, text }, value, parent) {
  if (choices?.length) {
    const select = make("select", {}, parent);
    for (const choice of choices) make("option", { value: choice, textContent: choice }, select);
    select.value = value;
    return select;
  }
  const field = make("input", { title: text, required: true, maxLength: 500 }, parent);
  if (value === "none" || (kind !== "whole" && kind !== "number")) field.value = value;
  else Object.assign(field, { type: "number", step: kind === "whole" ? "1" : "any", min: least ?? "", max: most ?? "", value });
  return field;
}

function make(name, properties, parent) {
  const element = Object.assign(document.createElement(name), properties);
  parent.append(element);
  return element;
}
