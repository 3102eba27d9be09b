// The room Library: files are dropped or chosen, sent one by one, and watched until they are read.

import { element, headers, text } from "./common.js";

const form = document.querySelector(".upload-form");
const drop = form.querySelector(".drop");
const input = form.querySelector("input[type=file]");
const roles = form.querySelector("#roles");
const list = document.querySelector(".uploads");
const waiting = [];
let busy = false;

for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
drop.addEventListener("dragleave", (event) => {
  if (!drop.contains(event.relatedTarget)) drop.classList.remove("over");
});
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  take(event.dataTransfer.files);
});
input.addEventListener("change", () => {
  take(input.files);
  input.value = "";
});
form.addEventListener("submit", (event) => event.preventDefault());

function take(files) {
  for (const file of files) {
    const state = element("span", { className: "state" }, text("upload_waiting"));
    const bar = element("progress", { max: 100, value: 0, "aria-label": file.name });
    const row = element("li", {}, element("bdi", {}, file.name), state, bar);
    list.append(row);
    waiting.push({ file, row, state, bar, roles: roles.value });
  }
  next();
}

async function next() {
  if (busy || !waiting.length) return;
  busy = true;
  const upload = waiting.shift();
  try {
    await watch(upload, await send(upload));
  } catch (error) {
    finish(upload, "failed", text("upload_failed", { detail: error.message }));
  }
  busy = false;
  if (waiting.length) next();
  else offerReload();
}

/** Send one file; the id of its job. XMLHttpRequest tells how much has gone out, fetch does not. */
function send({ file, state, bar, roles: wanted }) {
  const body = new FormData();
  const names = wanted.split(",").map((name) => name.trim()).filter(Boolean);
  for (const name of names.length ? names : [""]) body.append("roles", name);
  body.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/v1/documents");
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      const percent = Math.floor((100 * event.loaded) / event.total);
      bar.value = percent;
      state.textContent = text("upload_sending", { percent });
    });
    request.addEventListener("error", () => reject(new Error(text("unreachable"))));
    request.addEventListener("load", () => {
      if (request.status === 202) resolve(request.response.job_id);
      else reject(new Error([request.response?.detail, request.response?.hint].filter(Boolean).join(" ") || `${request.status}`));
    });
    request.send(body);
  });
}

async function watch(upload, job) {
  upload.bar.removeAttribute("value");
  upload.state.textContent = text("upload_reading");
  for (let pause = 150; ; pause = Math.min(2000, pause * 1.5)) {
    const response = await fetch(`/v1/jobs/${encodeURIComponent(job)}`);
    if (!response.ok) throw new Error(`${response.status}`);
    const found = await response.json();
    if (found.state === "done" || found.state === "failed") return settle(upload, found);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function settle(upload, job) {
  const outcome = job.files[0]?.outcome;
  const reasons = (outcome?.failed ?? []).map((each) => each.message);
  if (!outcome || reasons.length) {
    return finish(upload, "failed", text("upload_failed", { detail: reasons.join(" ") || job.error || "" }));
  }
  const same = outcome.unchanged && !outcome.added.length && !outcome.changed.length;
  finish(upload, "done", [text(same ? "upload_unchanged" : "upload_done"), ...outcome.warnings].join(" "));
  return undefined;
}

function finish({ row, state, bar }, outcome, words) {
  row.className = outcome;
  state.textContent = words;
  bar.remove();
}

function offerReload() {
  list.querySelector(".reload")?.remove();
  const link = element("a", { href: "/library" }, text("upload_reload"));
  list.append(element("li", { className: "reload" }, link));
}
