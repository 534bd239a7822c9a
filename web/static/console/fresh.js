// Keeps a list, or figures, as the server would show them now.

import { keepLive } from "./live.js";

const region = document.querySelector("[data-live]");
if (region) keepLive(region);
