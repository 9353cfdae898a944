"use strict";
const flame = document.querySelector(".flame");
const said = document.querySelector("output");

/* A frame, those that it is part of and those that are part of it fill the
   width; its numbers stand below. */
function zoom(to) {
  const l = +to.dataset.l, w = +to.dataset.w;
  for (const b of flame.children) {
    const bl = +b.dataset.l, bw = +b.dataset.w;
    const left = Math.max(bl, l), right = Math.min(bl + bw, l + w);
    b.hidden = right - left < w * 1e-4;
    b.style.setProperty("--l", (left - l) / w * 100);
    b.style.setProperty("--w", (right - left) / w * 100);
  }
  label();
  said.textContent = to.title;
}

function label() {
  for (const b of flame.children)
    b.classList.toggle("tiny", b.clientWidth < 28);
}

flame.addEventListener("click", e => {
  const b = e.target.closest("button");
  if (b) zoom(b);
});
addEventListener("keydown", e => {
  if (e.key === "Escape") zoom(flame.children[0]);
});
addEventListener("resize", label);
label();
