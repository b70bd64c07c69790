// Pages about work in folders: parts that follow files, and lists of which some are chosen.

import { notice } from "/static/live.js";
import "/static/watch.js";

document.addEventListener("submit", (event) => {
  const listing = event.target.closest("form.listing");
  if (listing && listing.querySelectorAll("input:checked").length < 2) {
    event.preventDefault();
    notice("page", "Choose two or more of the list.", "error");
  }
});
