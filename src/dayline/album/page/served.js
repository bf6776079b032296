// Whether and how the page is served.

// Whether `dayline view` serves the page, and whether Save then writes into the result: not if the
// folder cannot be written.
export const served =
  location.protocol === "http:" &&
  location.hostname === "127.0.0.1" &&
  location.pathname.startsWith("/dayline-");
export const writable = served && !location.pathname.startsWith("/dayline-readonly-");
