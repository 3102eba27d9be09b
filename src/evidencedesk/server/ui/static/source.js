// A whole document: scrolled to the quoted words.

import { showQuote } from "./common.js";

const body = document.querySelector(".source-body");
if (!location.hash) showQuote(body);
