// @ts-check
// The script of the inspector. Every page works without it: it follows calls
// that run, counts times, and suggests how an argument goes on.

const LIVE = "data-live";

/** Whether a person is filling in a form that a new page would take away. */
function isTyping() {
  const active = document.activeElement;
  if (active instanceof HTMLElement && active.closest("form") && active.matches("input, textarea, select")) {
    return true;
  }
  for (const field of document.querySelectorAll("main input, main textarea")) {
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      if (field.value !== field.defaultValue) return true;
    }
  }
  return false;
}

/** Which foldable parts are open, by their place on the page. */
function openParts() {
  return [...document.querySelectorAll("main details")].map((part) => part instanceof HTMLDetailsElement && part.open);
}

const FOCUSABLE = "main a, main button, main summary, main pre, main input, main select, main textarea";

/** Loads the page again and puts its content in the place of the old one. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!response.ok || isTyping()) return;
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  const [old, fresh] = [document.querySelector("main"), next.querySelector("main")];
  if (!old || !fresh) return;
  const open = openParts();
  const focused = [...document.querySelectorAll(FOCUSABLE)].findIndex((one) => one === document.activeElement);
  old.replaceWith(fresh);
  document.querySelectorAll("main details").forEach((part, at) => {
    if (part instanceof HTMLDetailsElement && open[at]) part.open = true;
  });
  const again = focused >= 0 ? document.querySelectorAll(FOCUSABLE)[focused] : undefined;
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  document.body.toggleAttribute(LIVE, next.body.hasAttribute(LIVE));
  started = Date.now();
}

/** Follows changes as long as something on the page runs. */
function follow() {
  const events = new EventSource("/events");
  let waiting = false;
  events.onmessage = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(async () => {
      waiting = false;
      await refresh().catch(() => {});
      if (!document.body.hasAttribute(LIVE)) events.close();
    }, 150);
  };
  // A change before the stream was open is not told.
  events.onopen = () => void refresh().catch(() => {});
}

let started = Date.now();

/** @param {number} ms */
function inWords(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Counts the times on the page. */
function count() {
  const passed = Date.now() - started;
  for (const element of document.querySelectorAll("[data-since-ms]")) {
    element.textContent = inWords(Number(element.getAttribute("data-since-ms")) + passed);
  }
  for (const element of document.querySelectorAll("[data-left-ms]")) {
    const left = Number(element.getAttribute("data-left-ms")) - passed;
    element.textContent = left > 0 ? `in ${inWords(left)}` : "over";
  }
}

/**
 * Suggests how an argument of a prompt or a resource goes on.
 * @param {HTMLInputElement} input
 */
async function suggest(input) {
  const about = input.closest("[data-complete-kind]");
  const kind = about?.getAttribute("data-complete-kind") ?? "";
  if (!about || kind === "tool") return;
  const query = new URLSearchParams({
    kind,
    name: about.getAttribute("data-complete-name") ?? "",
    argument: input.getAttribute("data-complete") ?? "",
    value: input.value,
  });
  const response = await fetch(`/complete?${query}`);
  const { values } = /** @type {{ values: string[] }} */ (await response.json());
  const id = `${input.id}?list`;
  const list = document.getElementById(id) ?? document.createElement("datalist");
  list.id = id;
  list.replaceChildren(
    ...values.map((value) => {
      const option = document.createElement("option");
      option.value = value;
      return option;
    }),
  );
  input.after(list);
  input.setAttribute("list", id);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
document.addEventListener("input", (event) => {
  const input = event.target;
  if (!(input instanceof HTMLInputElement) || !input.hasAttribute("data-complete")) return;
  clearTimeout(typing);
  typing = setTimeout(() => void suggest(input).catch(() => {}), 200);
});

if (document.body.hasAttribute(LIVE)) follow();
setInterval(count, 1000);
