"""What a page of `tkdbg view` tells of itself in a browser."""
import browser

# What a page tells of itself when it has been used.
PROBE = """<script>
const wrong = [];
window.addEventListener("error", (e) => wrong.push(String(e.message)));
console.error = (...words) => wrong.push(words.join(" "));
document.addEventListener("drawn", () => {
  const text = (s) => document.querySelector(s)?.textContent ?? "";
  const all = (s) => [...document.querySelectorAll(s)].map(
    (e) => e.textContent);
  const key = (k, more) => (document.activeElement || document.body)
    .dispatchEvent(new KeyboardEvent("keydown",
      { key: k, bubbles: true, cancelable: true, ...more }));
  const click = (s) => document.querySelector(s).click();
  const at = (s, x, y) => {
    const e = document.querySelector(s), box = e.getBoundingClientRect();
    e.dispatchEvent(new MouseEvent("click", { bubbles: true,
      clientX: box.left + x, clientY: box.top + y }));
  };
  const now = () => ({ step: text("#step-text"),
    program: text("#program-text") });
  const told = { seen: [now()] };
  const then = (f) => { f(); told.seen.push(now()); };
  try {
    USE
  } catch (e) {
    wrong.push(String(e.stack));
  }
  Object.assign(told, {
    wrong, wide: document.documentElement.scrollWidth,
    room: window.innerWidth, warnings: all(".warn"),
    values: all("article.value"), numbers: all(".numbers td"),
    detail: text(".detail"), tensors: all("article.tensor h3"),
    marks: all("main section").length, heads: all("h2"),
    unnamed: [...document.querySelectorAll("button, input")].filter((e) =>
      !e.getAttribute("aria-label") && !e.textContent &&
      !e.closest("label")).length,
    ground: getComputedStyle(document.body).backgroundColor,
    clipped: [...document.querySelectorAll(".scroll, .map")].filter((e) =>
      e.scrollWidth > e.clientWidth + 1 && e.querySelector("canvas")).length,
    cut: [...document.querySelectorAll("h1, h2, h3, .facts dd, button")]
      .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1 &&
        !e.closest(".source")).map((e) => e.textContent),
  });
  document.title = "TOLD" + JSON.stringify(told) + "END";
});
</script>"""


def told(page, use="", width=1280, dark=False, before=""):
    """What the page says of itself after the statements `use` of JavaScript."""
    with open(page, encoding="utf-8") as f:
        html = f.read()
    probe = before + PROBE.replace("USE", use)
    return browser.told(html.replace("</head>", f"{probe}</head>"), width, dark)
