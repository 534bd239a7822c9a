// Keeps a list as the server would show it now.

import { keepLive } from "./live.js";

const region = document.querySelector("[data-live]");
if (region) keepLive(region, () => {}, { pollMs: 4000 });
