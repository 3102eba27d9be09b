// The room Ask: a question goes out, verified claims come in one by one, the last event decides.

import { claimElement, renderAnswer } from "./answer.js";
import { element, headers, problemOf, signInAgain, text } from "./common.js";
import { SourcePanel } from "./panel.js";

const desk = document.querySelector(".desk");
const turns = desk.querySelector(".turns");
const form = desk.querySelector(".question-form");
const box = form.querySelector("textarea");
const status = desk.querySelector(".status");
const panel = new SourcePanel(desk);
const EARLIER = 5;
const asked = []; // the questions of this conversation as they were understood

box.addEventListener("input", grow);
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = box.value.trim();
  if (question && !form.dataset.busy) ask(question);
});
if (desk.dataset.answer) showStored(desk.dataset.answer);

function grow() {
  box.rows = Math.min(8, box.value.split("\n").length);
  while (box.scrollHeight > box.clientHeight && box.rows < 8) box.rows += 1;
}

function newTurn(question) {
  const stage = element("p", { className: "stage" }, text("searching"));
  const card = element("div", { className: "card" }, element("div", { className: "claims" }), stage);
  const title = element("h2", { dir: "auto" }, question);
  const turn = element("article", { className: "turn" }, title, card);
  turns.append(turn);
  desk.dataset.turns = turns.childElementCount;
  turn.scrollIntoView({ block: "start" });
  return turn;
}

async function ask(question) {
  const turn = newTurn(question);
  const streamed = [];
  const show = (index, opener) => panel.open(turn.citations, index, opener);
  form.dataset.busy = "true";
  form.querySelector("button").disabled = true;
  box.value = "";
  grow();
  say(text("searching"));
  try {
    const response = await fetch("/v1/ask", {
      method: "POST",
      headers: headers({ "content-type": "application/json", accept: "text/event-stream" }),
      body: JSON.stringify({ question, earlier: asked.slice(-EARLIER) }),
    });
    if (!response.ok) throw new Refused(await problemOf(response));
    let decided = false;
    for await (const event of events(response.body)) {
      if (event.name === "retrieved") stageOf(turn, event.data);
      else if (event.name === "claim") showClaim(turn, event.data, streamed, show);
      else if (event.name === "error") throw new Refused(`${event.data.detail} ${event.data.hint}`);
      else if (event.name === "answer") {
        decided = true;
        understood(turn, event.data);
        renderAnswer(turn, event.data, show);
        say(summary(event.data));
      }
    }
    if (!decided) throw new Refused(text("unreachable"));
  } catch (error) {
    fail(turn, error instanceof Refused ? error.message : text("unreachable"));
    box.value ||= question;
    grow();
  } finally {
    delete form.dataset.busy;
    form.querySelector("button").disabled = false;
    if (panel.panel.hidden) box.focus({ preventScroll: true });
  }
}

async function showStored(id) {
  const response = await fetch(`/v1/answers/${encodeURIComponent(id)}`);
  const answer = response.ok ? await response.json() : null;
  const turn = newTurn(answer?.question ?? "");
  if (!answer) return fail(turn, await problemOf(response));
  if (answer.question) asked.push(answer.question);
  renderAnswer(turn, answer, (index, opener) => panel.open(turn.citations, index, opener));
  return undefined;
}

/** A follow-up that was made to stand alone is shown as it was asked. */
function understood(turn, answer) {
  asked.push(answer.asked ?? answer.question);
  if (!answer.asked || answer.asked === answer.question) return;
  const words = text("asked", { question: answer.asked });
  turn.querySelector("h2").after(element("p", { className: "hint understood", dir: "auto" }, words));
}

class Refused extends Error {}

function stageOf(turn, data) {
  const count = data.retrieved.length;
  turn.querySelector(".stage").textContent = count ? text("found", { count }) : text("found_none");
}

function showClaim(turn, claim, streamed, show) {
  const indexes = claim.citations.map((citation) => {
    const same = streamed.findIndex((one) => one.chunk_id === citation.chunk_id && one.quote === citation.quote);
    return same < 0 ? streamed.push(citation) - 1 : same;
  });
  turn.citations = streamed;
  turn.querySelector(".claims").append(claimElement({ ...claim, citations: indexes }, streamed, show));
}

function summary(answer) {
  if (answer.abstained) return text("abstained");
  const count = answer.citations.length;
  return count === 1 ? text("answered_one") : text("answered", { count });
}

function fail(turn, words) {
  const notice = element("p", { className: "notice warn", role: "alert", dir: "auto" }, `${words} `, signInAgain(words));
  turn.querySelector(".card").replaceChildren(notice);
}

function say(words) {
  status.textContent = words;
}

/** The events of a stream (WHATWG HTML, server-sent events), as far as our server uses them. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/:\s(.*)/s)));
      if (fields.data !== undefined) yield { name: fields.event ?? "", data: JSON.parse(fields.data) };
    }
  }
}
