// Numbers as letters: A to Z, AA, AB, like the columns of a spreadsheet.

function letters(place) {
  let text = "";
  do {
    text = String.fromCharCode(65 + (place % 26)) + text;
    place = Math.floor(place / 26) - 1;
  } while (place >= 0);
  return text;
}
