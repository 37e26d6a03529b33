"use strict";
// Shows progress as it arrives, local times and keyboard shortcuts. Sets text content only, never HTML.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// All pages are below a path that only this browser knows.
const site = new URL("..", document.currentScript.src).pathname;
const number = new Intl.NumberFormat("en");

function create(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function findOrAddRow(card, progress) {
  const body = one("tbody", card);
  const existing = [...body.rows].find((row) => row.dataset.who === progress.name);
  if (existing) return existing;
  const row = body.insertRow();
  row.dataset.who = progress.name;
  const head = create("th", progress.who);
  head.scope = "row";
  const step = create("td");
  step.append(create("strong"), " ", create("span"));
  const tokens = create("td");
  const meter = create("progress");
  meter.setAttribute("aria-label", `Tokens used by ${progress.who}`);
  tokens.append(meter, create("small"));
  row.append(head, step, create("td"), tokens);
  return row;
}

function showRow(card, progress) {
  const [, step, sources, tokens] = findOrAddRow(card, progress).cells;
  one("strong", step).textContent = progress.step;
  one("span", step).textContent = progress.message;
  sources.textContent = progress.sources;
  const meter = one("progress", tokens);
  meter.max = Math.max(progress.budget, 1);
  meter.value = progress.tokens;
  one("small", tokens).textContent = `${number.format(progress.tokens)} of ${number.format(progress.budget)}`;
}

function showLines(card, lines) {
  const log = one(".log", card);
  if (!log) return;
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  for (const line of lines) {
    if (line.number <= Number(card.dataset.last)) continue;
    card.dataset.last = line.number;
    const item = create("li");
    item.append(create("strong", line.head), " ", create("span", line.message));
    log.append(item);
  }
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function showJob(job) {
  for (const card of all("[data-job]")) {
    if (card.dataset.job !== job.id || !("open" in card.dataset)) continue;
    const badge = one("[data-state]", card);
    if (badge.textContent !== job.said) badge.textContent = job.said;
    badge.className = `badge ${job.state}`;
    job.rows.forEach((progress) => showRow(card, progress));
    showLines(card, job.lines);
    if (!job.open) closeCard(card, job);
  }
}

function closeCard(card, job) {
  delete card.dataset.open;
  if ("alone" in card.dataset) {
    // The server decides what follows: the report, or a page that offers to resume.
    window.location.replace(`${site}asked/${job.id}`);
    return;
  }
  one("form", card)?.remove();
  one(".clock", card)?.remove();
  const failure = one(".failure", card);
  failure.textContent = job.failure;
  failure.hidden = !job.failure;
  if (job.state === "finished") {
    const answer = create("a", "Read the answer");
    answer.href = `${site}asked/${job.id}`;
    answer.className = "button primary";
    card.append(answer);
  }
}

// Browsers allow few connections per server: only visible pages with an open job keep the stream open.
let stream = null;
function updateStream() {
  const wanted = !document.hidden && one("[data-job][data-open]") !== null;
  if (wanted && stream === null) {
    stream = new EventSource(`${site}events`);
    stream.addEventListener("job", (event) => {
      showJob(JSON.parse(event.data));
      updateStream();
    });
    stream.addEventListener("error", () => {
      for (const badge of all("[data-open] [data-state]")) badge.textContent = "connection lost, retrying";
    });
  } else if (!wanted && stream !== null) {
    stream.close();
    stream = null;
  }
}
document.addEventListener("visibilitychange", updateStream);
window.addEventListener("pageshow", updateStream);
window.addEventListener("pagehide", () => {
  stream?.close();
  stream = null;
});
updateStream();

function updateClocks() {
  for (const clock of all("[data-began]")) {
    const seconds = Math.max(Math.round((Date.now() - Number(clock.dataset.began)) / 1000), 0);
    clock.textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
}
if (one("[data-began]")) {
  updateClocks();
  setInterval(updateClocks, 1000);
}

const localFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of all("time[data-local]")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.valueOf())) time.textContent = localFormat.format(moment);
}

for (const select of all("select[data-submit]")) select.addEventListener("change", () => select.form.requestSubmit());

// Building the researchers takes a moment, during which a second click would ask twice.
let submitted = false;
one("form.ask")?.addEventListener("submit", (event) => {
  if (submitted) event.preventDefault();
  submitted = true;
});
window.addEventListener("pageshow", () => {
  submitted = false;
});

document.addEventListener("keydown", (event) => {
  const inField = event.target.matches("input, textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && inField) {
    event.target.form?.requestSubmit();
  } else if (event.key === "/" && !inField && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = one("input[type=search]") ?? one("#question");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});
const log = one(".log");
if (log) log.scrollTop = log.scrollHeight;
