// What several pages share. Texts of documents and people reach the page as text, never as markup.

const holder = document.getElementById("texts");
const texts = holder ? JSON.parse(holder.textContent) : { js: {}, reasons: {} };

/** A text of the page's language with its values filled in. */
export function text(key, values = {}) {
  return (texts.js[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** What a reason of an answer means, in words. */
export function reasonText(reason) {
  return texts.reasons?.[reason] ?? reason;
}

/** An element with properties and children; strings become text. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in made && !name.startsWith("aria")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Headers of a request that changes something: a session repeats its token. */
export function headers(more = {}) {
  const token = document.querySelector('meta[name="csrf-token"]')?.content;
  return token ? { "x-csrf-token": token, ...more } : more;
}

/** What went wrong, in words for the reader, from a problem document or its absence. */
export async function problemOf(response) {
  if (response.status === 401) return text("signed_out");
  try {
    const problem = await response.json();
    return [problem.detail, problem.hint].filter(Boolean).join(" ");
  } catch {
    return `${response.status}`;
  }
}

/** A link that leads back here by way of signing in, where that is what is missing. */
export function signInAgain(words) {
  if (words !== text("signed_out")) return null;
  return element("a", { href: location.href }, text("sign_in_again"));
}

/** Fetch a part of a page that the server rendered; throws when there is none. */
export async function fetchPart(url) {
  const response = await fetch(url, { headers: { accept: "text/html" } });
  const kind = response.headers.get("content-type") ?? "";
  if (!kind.startsWith("text/html") || response.redirected) throw new Error(String(response.status));
  const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
  return document.importNode(parsed.body.firstElementChild, true);
}

/** Bring the first quoted words into sight, on a page as in a text. */
export function showQuote(within, options = {}) {
  const mark = within.querySelector(".boxes rect") ?? within.querySelector("mark");
  mark?.scrollIntoView({ block: "center", ...options });
}

for (const button of document.querySelectorAll("[data-sign-out]")) {
  button.addEventListener("click", async () => {
    await fetch("/sign-out", { method: "POST", headers: headers() });
    location.assign("/");
  });
}
