"use strict";
// Draws a scene: a grid of programs and the tensors, of which each program
// loads and stores some elements.
const scene = JSON.parse(document.getElementById("scene").textContent);
const get = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement)
  .getPropertyValue("--" + name).trim();

// The programs in the order in which they ran, each with its steps.
const turns = [];
for (const step of scene.steps) {
  const last = turns[turns.length - 1];
  const same = last && last.launch === step.launch &&
    String(last.program) === String(step.program);
  if (same) last.steps.push(step);
  else turns.push({launch: step.launch, program: step.program,
                   steps: [step]});
}
let now = 0, timer = null;

function* elements(step) {
  for (const [first, last, by] of step.runs)
    for (let e = first; by > 0 ? e <= last : e >= last; e += by || 1) yield e;
}

// Where each element of a tensor is drawn: [columns, rows, place by memory].
function layout(tensor) {
  const shape = tensor.shape, rank = shape.length;
  const places = new Map();
  let columns = shape[rank - 1], rows = 1;
  for (let i = 0; i < rank - 1; i++) rows *= shape[i];
  const wraps = rows === 1 && columns > 32;
  const wide = wraps ? 32 : columns;
  for (let n = 0; n < rows * columns; n++) {
    let rest = n, at = 0;
    for (let i = rank - 1; i >= 0; i--) {
      at += (rest % shape[i]) * tensor.strides[i];
      rest = Math.floor(rest / shape[i]);
    }
    places.set(at, n);
  }
  if (wraps) { rows = Math.ceil(columns / 32); columns = 32; }
  return {columns: wide, rows, places};
}
const layouts = scene.tensors.map(layout);

function prepare(canvas, columns, rows, largest) {
  const room = canvas.parentElement.clientWidth;
  const size = Math.max(2, Math.min(largest, Math.floor(room / columns)));
  const ratio = window.devicePixelRatio || 1;
  const most = Math.min(rows, Math.floor(480 / size) || 1);
  canvas.style.width = columns * size + "px";
  canvas.style.height = most * size + "px";
  canvas.width = columns * size * ratio;
  canvas.height = most * size * ratio;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {pen, size, most};
}

function cell(pen, size, x, y, fill) {
  const gap = size > 5 ? 1 : 0;
  pen.fillStyle = fill;
  pen.fillRect(x * size, y * size, size - gap, size - gap);
}

function drawTensor(t) {
  const {columns, rows, places} = layouts[t], tensor = scene.tensors[t];
  const canvas = get("tensor" + t);
  const {pen, size, most} = prepare(canvas, columns, rows, 16);
  const count = tensor.shape.reduce((a, b) => a * b, 1);
  const kind = new Uint8Array(count);  // 1 done before, 2 load, 4 store
  turns.slice(0, now + 1).forEach((turn, i) => {
    for (const step of turn.steps) {
      if (step.tensor !== t) continue;
      for (const e of elements(step)) {
        const n = places.get(e);
        if (n === undefined) continue;
        kind[n] |= i === now ? (step.writes ? 4 : 2) : 1;
      }
    }
  });
  const fills = [colour("cell"), colour("done"), colour("load"),
                 colour("store"), colour("both")];
  for (let n = 0; n < count; n++) {
    const y = Math.floor(n / columns);
    if (y >= most) break;
    const k = kind[n];
    const which = k & 2 && k & 4 ? 4 : k & 4 ? 3 : k & 2 ? 2 : k & 1;
    cell(pen, size, n % columns, y, fills[which]);
  }
  if (tensor.wrong) {
    let n = 0;
    tensor.wrong.forEach((v, i) => { n = n * tensor.shape[i] + v; });
    pen.strokeStyle = colour("bad");
    pen.lineWidth = 2;
    pen.strokeRect((n % columns) * size, Math.floor(n / columns) * size,
                   size, size);
  }
}

function drawGrid(g) {
  const [x, y, z] = scene.grids[g], canvas = get("grid" + g);
  const {pen, size} = prepare(canvas, x, y * z, 26);
  const place = (p) => [p[0], p[1] + y * p[2]];
  for (let i = 0; i < x; i++)
    for (let j = 0; j < y * z; j++) cell(pen, size, i, j, colour("cell"));
  turns.forEach((turn, i) => {
    if (turn.launch !== g || i > now) return;
    cell(pen, size, ...place(turn.program),
         colour(i === now ? "load" : "done"));
  });
  canvas.onclick = (event) => {
    const box = canvas.getBoundingClientRect();
    const px = Math.floor((event.clientX - box.left) / size);
    const py = Math.floor((event.clientY - box.top) / size);
    const found = turns.findIndex((turn) => turn.launch === g &&
      String(place(turn.program)) === String([px, py]));
    if (found >= 0) show(found);
  };
}

function tell() {
  const turn = turns[now];
  if (!turn) return;
  const sum = (writes, what) => turn.steps.filter((s) => s.writes === writes)
    .reduce((n, s) => n + s[what], 0);
  const lanes = sum(false, "lanes") + sum(true, "lanes");
  const idle = lanes - sum(false, "active") - sum(true, "active");
  const which = scene.grids.length > 1 ? `launch ${turn.launch + 1}, ` : "";
  get("told").textContent = `${which}program (${turn.program.join(", ")}), ` +
    `${now + 1} of ${turns.length}: loads ${sum(false, "active")} elements, ` +
    `stores ${sum(true, "active")}; ${idle} of ${lanes} lanes idle`;
  for (const line of document.querySelectorAll("pre span.line")) {
    const n = Number(line.dataset.line);
    const here = turn.steps.filter((s) => s.line === n);
    line.classList.toggle("loads", here.some((s) => !s.writes));
    line.classList.toggle("stores", here.some((s) => s.writes));
  }
}

function show(i) {
  now = Math.max(0, Math.min(i, turns.length - 1));
  get("where").value = now;
  scene.tensors.forEach((_, t) => drawTensor(t));
  scene.grids.forEach((_, g) => drawGrid(g));
  tell();
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => {
    if (now + 1 >= turns.length) play(false);
    else show(now + 1);
  }, Math.max(60, Math.min(900, 12000 / turns.length))) : null;
  get("play").textContent = on ? "Pause" : "Play";
}

get("where").max = Math.max(0, turns.length - 1);
get("where").oninput = (event) => { play(false);
  show(Number(event.target.value)); };
get("play").onclick = () => {
  if (!timer && now + 1 >= turns.length) show(0);
  play(!timer);
};
get("back").onclick = () => { play(false); show(now - 1); };
get("on").onclick = () => { play(false); show(now + 1); };
window.onresize = () => show(now);
matchMedia("(prefers-color-scheme: dark)").onchange = () => show(now);
const asked = Number(new URLSearchParams(location.search).get("program") ||
                     location.hash.slice(1));
show(asked || 0);
