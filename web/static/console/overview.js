// Keeps the figures up to date.

import { keepLive } from "./live.js";

keepLive(document.querySelector("#live"), () => {}, { pollMs: 15_000 });
