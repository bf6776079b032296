// Addresses of events: index.html#event-12 shows event 12, counted from 1 as on the page. Rows have no ids: browsers
// would go there by themselves and take the focus away.

function goToAddress() {
  const number = Number(/^#event-(\d{1,7})$/.exec(window.location.hash)?.[1] ?? 0);
  if (number < 1 || number > events.length) return;
  if (chosen.size > 0) { chosen.clear(); render(); }
  const row = document.querySelector(`.event[data-event="${number - 1}"]`);
  fillRow(row);
  row.scrollIntoView({ block: "start", behavior: "instant" });
  row.querySelector(".name").focus({ preventScroll: true });
}

window.addEventListener("hashchange", goToAddress);
