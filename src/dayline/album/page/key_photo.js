// The key photo of an event, if the person chooses another.

function chooseKey(frame) {
  const index = eventAt(frame);
  if (events[index].key_frame === frame) return;
  change(replaced(index, 1, { ...events[index], key_frame: frame, key_chosen: true }), `Key ${thing} of ${titleOf(index)} chosen`);
}
