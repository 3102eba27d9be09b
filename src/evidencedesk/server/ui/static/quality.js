// The slower parts of the room Quality come after the page.

import { fetchPart } from "./common.js";

for (const place of document.querySelectorAll("[data-part]")) {
  fetchPart(place.dataset.part)
    .then((part) => {
      place.replaceChildren(part);
      document.querySelector(`[data-count="${place.dataset.counted}"]`).textContent = part.dataset.total;
    })
    .catch(() => {
      place.firstElementChild.textContent = place.dataset.failed;
    });
}
