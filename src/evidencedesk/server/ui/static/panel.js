// The source beside an answer: opened at the quoted words, closed with Escape.

import { fetchPart, showQuote, text } from "./common.js";

/** The panel of a page; `open(citations, index, opener)` shows one of an answer's citations. */
export class SourcePanel {
  constructor(desk) {
    this.desk = desk;
    this.panel = desk.querySelector(".source-panel");
    this.body = this.panel.querySelector(".source-body");
    this.title = this.panel.querySelector("#source-title");
    this.position = this.panel.querySelector(".position");
    this.whole = this.panel.querySelector("[data-whole]");
    this.opener = null;
    this.citations = [];
    this.index = 0;
    this.asked = 0;
    // Where the panel covers everything, nothing behind it can be reached.
    this.covers = matchMedia("(max-width: 1023px)");
    this.behind = [document.querySelector(".top"), desk.querySelector(".asking")];
    this.covers.addEventListener("change", () => this.shield());
    this.panel.querySelector("[data-close]").addEventListener("click", () => this.close());
    for (const button of this.panel.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => this.step(Number(button.dataset.step)));
    }
    this.body.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-part]");
      if (!link) return;
      event.preventDefault();
      this.load(link.getAttribute("href"));
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.panel.hidden) this.close();
    });
  }

  open(citations, index, opener) {
    this.citations = citations;
    this.index = index;
    this.opener = opener ?? this.opener;
    this.panel.hidden = false;
    this.desk.dataset.source = "open";
    this.shield();
    this.show();
    this.title.focus({ preventScroll: true });
  }

  shield() {
    for (const part of this.behind) part.inert = !this.panel.hidden && this.covers.matches;
  }

  step(by) {
    this.index = (this.index + by + this.citations.length) % this.citations.length;
    this.show();
  }

  show() {
    const citation = this.citations[this.index];
    const query = sourceQuery(citation);
    this.title.textContent = citation.title;
    this.whole.href = `/source?${query}`;
    this.position.textContent = text("position", { number: this.index + 1, total: this.citations.length });
    const alone = this.citations.length < 2;
    this.position.hidden = alone;
    for (const button of this.panel.querySelectorAll("[data-step]")) button.hidden = alone;
    for (const button of this.desk.querySelectorAll("[data-citation]")) {
      const same = button.closest(".turn")?.citations === this.citations;
      button.setAttribute("aria-expanded", String(same && Number(button.dataset.citation) === this.index));
    }
    this.load(`/source/part?${query}`);
  }

  async load(url) {
    const asked = ++this.asked;
    this.body.setAttribute("aria-busy", "true");
    if (!this.body.firstElementChild) this.say(this.body.dataset.loading);
    try {
      const part = await fetchPart(url);
      if (asked !== this.asked) return;
      this.body.replaceChildren(part);
      this.title.textContent = part.dataset.title || this.title.textContent;
      this.body.scrollTop = 0;
      showQuote(this.body);
      for (const picture of part.querySelectorAll("img")) {
        if (!picture.complete) picture.addEventListener("load", () => showQuote(this.body), { once: true });
      }
    } catch {
      if (asked === this.asked) this.say(this.body.dataset.failed);
    } finally {
      if (asked === this.asked) this.body.removeAttribute("aria-busy");
    }
  }

  say(words) {
    const paragraph = document.createElement("p");
    paragraph.className = "hint";
    paragraph.textContent = words;
    this.body.replaceChildren(paragraph);
  }

  close() {
    this.panel.hidden = true;
    this.desk.dataset.source = "closed";
    this.shield();
    for (const button of this.desk.querySelectorAll("[data-citation]")) button.setAttribute("aria-expanded", "false");
    this.opener?.focus();
  }
}

/** Where the quote of a citation stands, as the source pages take it. */
export function sourceQuery(citation) {
  const place = citation.quote_location;
  const query = new URLSearchParams({ document: citation.document_id });
  if (place && place.end > place.start) query.set("at", `${place.start}-${place.end}`);
  if (citation.content_hash) query.set("content", citation.content_hash);
  return query.toString();
}
