"use strict";
// What the page does by itself: shows progress as it comes, local times, a few keys. It writes text, never markup.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const number = new Intl.NumberFormat("en");

function made(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function row(card, told) {
  const body = one("tbody", card);
  const known = [...body.rows].find((each) => each.dataset.who === told.name);
  if (known) return known;
  const made_row = body.insertRow();
  made_row.dataset.who = told.name;
  const head = made("th", told.who);
  head.scope = "row";
  const step = made("td");
  step.append(made("strong"), " ", made("span"));
  const spent = made("td");
  const meter = made("progress");
  meter.setAttribute("aria-label", `Tokens of ${told.who}`);
  spent.append(meter, made("small"));
  made_row.append(head, step, made("td"), spent);
  return made_row;
}

function show_row(card, told) {
  const [, step, sources, spent] = row(card, told).cells;
  one("strong", step).textContent = told.step;
  one("span", step).textContent = told.message;
  sources.textContent = told.sources;
  const meter = one("progress", spent);
  meter.max = Math.max(told.budget, 1);
  meter.value = told.tokens;
  one("small", spent).textContent = `${number.format(told.tokens)} of ${number.format(told.budget)}`;
}

function show_lines(card, lines) {
  const log = one(".log", card);
  if (!log) return;
  const at_end = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  for (const line of lines) {
    if (line.number <= Number(card.dataset.last)) continue;
    card.dataset.last = line.number;
    const item = made("li");
    item.append(made("strong", line.head), " ", made("span", line.message));
    log.append(item);
  }
  if (at_end) log.scrollTop = log.scrollHeight;
}

function show(told) {
  for (const card of all("[data-job]")) {
    if (card.dataset.job !== told.id || !("open" in card.dataset)) continue;
    const badge = one("[data-state]", card);
    if (badge.textContent !== told.said) badge.textContent = told.said;
    badge.className = `badge ${told.state}`;
    told.rows.forEach((each) => show_row(card, each));
    show_lines(card, told.lines);
    if (!told.open) end(card, told);
  }
}

function end(card, told) {
  delete card.dataset.open;
  if ("alone" in card.dataset) {
    // The server knows what comes after: the report, or what can be done instead.
    window.location.replace(`/asked/${told.id}`);
    return;
  }
  one("form", card)?.remove();
  one(".clock", card)?.remove();
  const failure = one(".failure", card);
  failure.textContent = told.failure;
  failure.hidden = !told.failure;
  if (told.state === "finished") {
    const answer = made("a", "Read the answer");
    answer.href = `/asked/${told.id}`;
    answer.className = "button primary";
    card.append(answer);
  }
}

// A browser grants a server few connections: the stream is held only by pages that are seen and have something to wait for.
let stream = null;
function watch() {
  const wanted = !document.hidden && one("[data-job][data-open]") !== null;
  if (wanted && stream === null) {
    stream = new EventSource("/events");
    stream.addEventListener("job", (event) => {
      show(JSON.parse(event.data));
      watch();
    });
    stream.addEventListener("error", () => {
      for (const badge of all("[data-open] [data-state]")) badge.textContent = "no connection, trying again";
    });
  } else if (!wanted && stream !== null) {
    stream.close();
    stream = null;
  }
}
document.addEventListener("visibilitychange", watch);
window.addEventListener("pageshow", watch);
window.addEventListener("pagehide", () => {
  stream?.close();
  stream = null;
});
watch();

function tick() {
  for (const clock of all("[data-began]")) {
    const seconds = Math.max(Math.round((Date.now() - Number(clock.dataset.began)) / 1000), 0);
    clock.textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
}
if (one("[data-began]")) {
  tick();
  setInterval(tick, 1000);
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of all("time[data-local]")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.valueOf())) time.textContent = local.format(moment);
}

for (const select of all("select[data-submit]")) select.addEventListener("change", () => select.form.requestSubmit());

// Finding out who is asked may take a moment, in which a second click would ask a second time.
let sent = false;
one("form.ask")?.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
window.addEventListener("pageshow", () => {
  sent = false;
});

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input, textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && writing) {
    event.target.form?.requestSubmit();
  } else if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = one("input[type=search]") ?? one("#question");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});
const log = one(".log");
if (log) log.scrollTop = log.scrollHeight;
