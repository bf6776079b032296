// Naming places: the tag of an event, and the dialog in which a person names a context or moves one event to a place.

const placeDialog = make("dialog", { class: "place-dialog", "aria-labelledby": "place-title" });
document.body.append(placeDialog);

function placeButton(label, action) {
  const name = label === null || contextIsLetter(label) ? "Name" : "Rename";
  const what = label === null ? "this place" : contextIsLetter(label) ? `context ${label}` : label;
  const button = make("button", { type: "button", class: "place-button", "aria-label": `${name} ${what}` }, name);
  button.addEventListener("click", action);
  return button;
}

function contextIsLetter(label) {
  return [...contextLetters.values()].includes(label) && !places.some((place) => place.name?.trim() === label);
}

function contextTag(event) {
  const tag = make("button", { type: "button", class: "tag", title: "Show only events like this" },
    make("span", { class: "dot", "aria-hidden": "true" }), make("span", { class: "tag-text", dir: "auto" }));
  tag.addEventListener("click", () => toggleContext(chipOf(event, eventsByCommunity())));
  return make("span", { class: "tag-box" }, tag, make("span", { class: "tag-name" }));
}

// Updates what depends on the names of places; rows are reused while their events stay the same.
function refreshContext(row, index) {
  const { event } = row;
  const colour = colourClass(event, index).split(" ");
  for (const name of [...row.classList]) if (/^(c\d+|c-none|c-rest|odd)$/.test(name)) row.classList.remove(name);
  row.classList.add(...colour);
  const text = row.querySelector(".tag-text");
  if (text === null) return;
  const label = contextLabel(event.community);
  const shown = label === null ? "Seen once" : contextIsLetter(label) ? `Context ${label}` : label;
  if (text.textContent === shown) return;
  text.textContent = shown;
  row.querySelector(".tag-name").replaceChildren(placeButton(label, () => openPlaceDialog(contextOf.get(row.event.community), row.event)));
}

function openPlaceDialog(context, event) {
  const groups = eventsByCommunity();
  const list = groups.get(context);
  const label = contextLabel(context, groups);
  const longest = event ?? list.reduce((a, b) => (b.stop - b.start > a.stop - a.start ? b : a));
  const input = make("input", { class: "place-input", type: "text", dir: "auto", maxlength: "100", autocomplete: "off", spellcheck: "false", list: "place-list", "aria-label": "Name of the place", value: placeName(context) ?? "" });
  const names = [...new Set(places.map((place) => place.name?.trim()).filter(Boolean))];
  const scope = event !== null && list.length > 1
    ? make("fieldset", {}, make("legend", {}, "This is the name of"), scopeOption("all", `all ${plural(list.length, "event")} here`, true), scopeOption("one", `this event only, ${eventSpanText(event)}`, false))
    : "";
  const cancel = make("button", { type: "button", class: "quiet" }, "Cancel");
  const save = make("button", { type: "button", class: "strong", id: "place-save" }, "Name");
  cancel.addEventListener("click", () => placeDialog.close());
  const done = () => {
    const only = placeDialog.querySelector('input[type=radio][value="one"]')?.checked === true;
    placeDialog.close();
    if (only) moveToPlace(event, input.value);
    else namePlace(context, input.value);
  };
  placeDialog.done = done;
  save.addEventListener("click", done);
  input.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); done(); } });
  placeDialog.replaceChildren(
    make("h2", { id: "place-title", dir: "auto" }, label === null ? "Name this place" : contextIsLetter(label) ? `Name context ${label}` : `Rename ${label}`),
    pictureOf(keyFrame(longest), "place-picture", "eager"), input,
    make("datalist", { id: "place-list" }, ...names.map((name) => make("option", { value: name }))), scope,
    make("p", { class: "place-hint" }, "Contexts with the same name are one place. Save, and the next run recognises it on other days."),
    make("div", { class: "place-end" }, cancel, save));
  placeDialog.showModal();
  input.focus();
  input.select();
}

// As Enter does: for Ctrl+S, which saves what the person sees.
function finishPlace() {
  if (placeDialog.open) placeDialog.done();
}

// Whether closing the page now would lose a name in the dialog.
function placeIsTyped() {
  const input = placeDialog.open ? placeDialog.querySelector(".place-input") : null;
  return input !== null && input.value.trim() !== input.defaultValue;
}

function scopeOption(value, text, checked) {
  const input = make("input", { type: "radio", name: "place-scope", value });
  input.checked = checked;
  return make("label", {}, input, text);
}

function withNamed(list, community, name) {
  const old = list.find((place) => place.community === community);
  const next = { community, name, id: old?.id ?? null };
  if (old !== undefined) return list.map((place) => (place === old ? next : place));
  return name === null ? list : [...list, next];
}

// Names all contexts that are one place.
function namePlace(context, text) {
  const name = text.trim() || null;
  if (name === placeName(context)) return;
  const shown = name === null ? "Name removed" : `Named ${name}`;
  const next = [...contextOf].filter(([, first]) => first === context).reduce((list, [community]) => withNamed(list, community, name), places);
  change(events, shown, next);
}

// Moves one event to the place with this name, or to a new one.
function moveToPlace(event, text) {
  const name = text.trim();
  const index = events.indexOf(event);
  if (name === "" || index < 0 || name === placeName(event.community)) return;
  const known = events.find((other) => other.community !== null && placeName(other.community) === name)?.community;
  const community = known ?? newContext(state);
  change(replaced(index, 1, { ...event, community }), `${titleOf(index)} moved to ${name}`, withNamed(places, community, name));
}
