"use strict";

/** Fixes what a screen reader stumbles over: a link inside each button, and a level of headings that is left out. */
const forEverybody = ({ React: { createElement: make } }) => ({
  wrapComponents: {
    DeepLink: () => ({ text }) => make("span", null, text),
    InfoContainer: (Original) => (given) => make("section", { "aria-label": "About" }, make(Original, given)),
    operations: (Original) => (given) => make("div", null, make("h2", null, "Routes"), make(Original, given)),
  },
});

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null, // it would send the document to another host
  plugins: [forEverybody],
});
