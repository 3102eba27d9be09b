// An answer as the reader sees it: claims with marks, sources with quotes, or the abstention.

import { element, headers, problemOf, reasonText, text } from "./common.js";

const AGAIN = ["timeout", "model_error"];

/** Fill `turn` with an answer of the stable JSON shape; `open(index, opener)` shows a source. */
export function renderAnswer(turn, answer, open) {
  turn.citations = answer.citations;
  // A receipt says whether its content is kept; an answer that was just given says nothing of it.
  const kept = (answer.content ?? "recorded") === "recorded";
  const card = !kept ? notKept(answer) : answer.abstained ? abstention(answer) : claims(answer, open);
  turn.querySelector(".card").replaceWith(card);
  turn.querySelector(".answer-foot")?.remove();
  turn.querySelector(".checked")?.remove();
  turn.append(feedback(answer), checked(answer));
}

/** One claim; its marks are numbers into `citations`. */
export function claimElement(claim, citations, open) {
  const words = claim.text ?? text("withheld_claim");
  const last = words.search(/\S+\s*$/);
  // The last word and its marks stay on one line.
  const tied = element("span", { className: "tied" }, words.slice(last));
  const shown = element("p", { className: "claim", dir: "auto" }, words.slice(0, last), tied);
  for (const index of claim.citations) {
    const citation = citations[index];
    if (citation.available === false) continue;
    const label = text("mark", { number: index + 1, title: citation.title, place: placeOf(citation) });
    const mark = element("button", { type: "button", className: "cite", title: label, "aria-label": label }, String(index + 1));
    mark.dataset.citation = index;
    mark.setAttribute("aria-expanded", "false");
    mark.addEventListener("click", () => open(index, mark));
    tied.append(mark);
  }
  if (claim.support === "quoted") shown.append(element("span", { className: "paraphrase" }, text("paraphrase")));
  return shown;
}

/** The place of a quote in words, in the language of the page. */
export function placeOf(citation) {
  const place = citation.quote_location ?? citation.location ?? {};
  const { page, last_page: lastPage, first_line: line, last_line: lastLine, heading, sheet, slide } = place;
  const parts = [heading?.at(-1)];
  if (sheet && sheet !== parts[0]) parts.push(text("place.sheet", { first: sheet }));
  if (slide) parts.push(text("place.slide", { first: slide }));
  if (page) parts.push(range("page", page, lastPage));
  if (line) parts.push(range("line", line, lastLine));
  else if (place.row) parts.push(text("place.row", { first: place.row }));
  else if (place.paragraph) parts.push(text("place.paragraph", { first: place.paragraph }));
  return parts.filter(Boolean).join(", ");
}

function range(unit, first, last) {
  const several = last && last > first;
  return text(several ? `place.${unit}s` : `place.${unit}`, { first, last });
}

function claims(answer, open) {
  const list = element("div", { className: "claims" });
  for (const claim of answer.claims) list.append(claimElement(claim, answer.citations, open));
  const card = element("div", { className: "card" }, list);
  if (answer.note) card.append(element("p", { className: "notice warn answer-note", dir: "auto" }, answer.note));
  const sources = element("ol", { className: "sources" });
  sources.setAttribute("aria-label", text("sources"));
  answer.citations.forEach((citation, index) => sources.append(source(citation, index, open)));
  card.append(sources);
  return card;
}

function source(citation, index, open) {
  const number = element("span", { className: "number" }, String(index + 1));
  if (citation.available === false) {
    const words = element("span", { className: "place" }, text("withheld"));
    return element("li", {}, element("div", { className: "source-card" }, number, words));
  }
  const version = citation.version ? `, ${text("version", { version: citation.version })}` : "";
  const head = element(
    "span",
    {},
    element("bdi", { className: "title" }, citation.title),
    " ",
    element("bdi", { className: "place" }, `${placeOf(citation)}${version}`),
  );
  const quote = element("q", { dir: "auto" }, (citation.quote ?? "").replace(/\s+/g, " "));
  const card = element("button", { type: "button", className: "source-card" }, number, head, quote);
  if (citation.also_in?.length) {
    card.append(element("span", { className: "place" }, text("also_in", { documents: citation.also_in.join(", ") })));
  }
  card.dataset.citation = index;
  card.setAttribute("aria-expanded", "false");
  card.addEventListener("click", () => open(index, card));
  return element("li", {}, card);
}

function notKept(answer) {
  const words = element("p", { className: "notice", dir: "auto" }, text("not_kept"));
  return element("div", { className: "card" }, words, element("p", { className: "hint" }, reasonText(answer.reason)));
}

function abstention(answer) {
  const kind = answer.reason === "no_evidence" || answer.reason === "model_abstained" ? "no_evidence" : AGAIN.includes(answer.reason) ? "service" : "again";
  return element(
    "div",
    { className: "card abstention" },
    element("h3", {}, text("abstained_title")),
    element("p", {}, text("reason", { reason: reasonText(answer.reason) })),
    element("p", { className: "hint" }, text(`advice.${kind}`)),
  );
}

function checked(answer) {
  const passed = answer.checks.filter((check) => check.passed).length;
  const seconds = ((answer.timing_ms?.total ?? 0) / 1000).toFixed(1);
  const rows = [
    answer.checks.length ? text("checks", { passed, total: answer.checks.length }) : null,
    text("confidence", { confidence: answer.confidence.toFixed(2), threshold: answer.threshold.toFixed(2) }),
    answer.generator ? text("generator", { generator: answer.model || answer.generator, seconds }) : null,
    ...answer.degraded,
  ].filter(Boolean);
  const list = element("ul", {}, ...rows.map((row) => element("li", { dir: "auto" }, row)));
  return element("details", { className: "checked" }, element("summary", {}, text("checked")), list);
}

function feedback(answer) {
  const foot = element("div", { className: "answer-foot" });
  const label = element("span", { className: "feedback-label" }, text("feedback"));
  const buttons = ["useful", "wrong", "missing"].map((verdict) => {
    const button = element("button", { type: "button", className: "quiet" }, text(verdict));
    button.dataset.verdict = verdict;
    button.addEventListener("click", () => {
      if (verdict === "useful") send(answer, foot, verdict, "");
      else askForNote(answer, foot, verdict);
    });
    return button;
  });
  const link = element("a", { href: `/answers/${encodeURIComponent(answer.answer_id)}` }, text("link"));
  foot.append(label, ...buttons, element("span", { className: "spacer" }), link);
  return foot;
}

function askForNote(answer, foot, verdict) {
  foot.querySelector(".feedback-form")?.remove();
  const input = element("input", { type: "text", maxLength: 2000, dir: "auto", placeholder: text("feedback_note"), "aria-label": text("feedback_note") });
  const form = element("form", { className: "feedback-form" }, input, element("button", { type: "submit" }, text("feedback_send")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(answer, foot, verdict, input.value);
  });
  foot.append(form);
  input.focus();
}

async function send(answer, foot, verdict, note) {
  const url = `/v1/answers/${encodeURIComponent(answer.answer_id)}/feedback`;
  const body = JSON.stringify(note ? { verdict, note } : { verdict });
  let words = text("feedback_thanks");
  try {
    const response = await fetch(url, { method: "POST", headers: headers({ "content-type": "application/json" }), body });
    if (!response.ok) words = text("failed", { detail: await problemOf(response) });
  } catch {
    words = text("unreachable");
  }
  const said = element("p", { className: "hint", role: "status" }, words);
  foot.replaceChildren(said);
}
