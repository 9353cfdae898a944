// inflate.js - takes apart what src/base/deflate.c has made shorter.

// The codes that the format fixes, [symbol, code, bits of it]: bytes, the end
// (256), lengths.
const CODES = Array.from({ length: 288 }, (_, symbol) => {
  if (symbol < 144) return [symbol, 0x30 + symbol, 8];
  if (symbol < 256) return [symbol, 0x190 + symbol - 144, 9];
  return symbol < 280 ? [symbol, symbol - 256, 7]
    : [symbol, 0xc0 + symbol - 280, 8];
});

const turned = (code, count) => {
  let value = 0;
  for (let i = 0; i < count; i++) value |= (code >> i & 1) << (count - 1 - i);
  return value;
};

const LONGEST = 9;

// By the next nine bits: the symbol that they begin with, and how many of them
// it takes.  A code stands with its highest bit first.
function symbolTable() {
  const table = new Uint16Array(1 << LONGEST);
  for (const [symbol, code, count] of CODES) {
    for (let k = turned(code, count); k < table.length; k += 1 << count) {
      table[k] = symbol << 4 | count;
    }
  }
  return table;
}

const DISTANCES = Uint8Array.from({ length: 32 }, (_, k) => turned(k, 5));

// Calls of a reader take what is next.
function readerOf(bytes) {
  const symbols = symbolTable();
  let at = 0, bits = 0, have = 0;
  const fill = (count) => {
    for (; have < count; have += 8) bits |= bytes[at++] << have;
  };
  const take = (count) => {
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    have -= count;
    return value;
  };
  const number = (count) => { fill(count); return take(count); };
  const symbol = () => {
    fill(LONGEST);
    const found = symbols[bits & ((1 << LONGEST) - 1)];
    take(found & 15);
    return found >> 4;
  };
  return { number, symbol, distance: () => DISTANCES[number(5)] };
}

// What a class of numbers stands for, with the bits that follow.
function spreadValue({ number }, kind, fine) {
  const alone = 2 << fine;
  if (kind < alone) return kind;
  const more = (kind >> fine) - 1;
  return ((kind - (more << fine)) << more) + number(more);
}

// The bytes, of which there are so many, that others stand for.
export function inflate(bytes, size) {
  const out = new Uint8Array(size), reader = readerOf(bytes);
  let at = 0;
  for (let final = false; !final;) {
    final = reader.number(1) === 1;
    reader.number(2);
    for (let symbol; (symbol = reader.symbol()) !== 256;) {
      if (symbol < 256) {
        out[at++] = symbol;
        continue;
      }
      const length = symbol === 285 ? 258
        : 3 + spreadValue(reader, symbol - 257, 2);
      const from = at - 1 - spreadValue(reader, reader.distance(), 1);
      for (let k = 0; k < length; k++) out[at++] = out[from + k];
    }
  }
  return out;
}

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// The text that an element holds in base 64; data-bytes is its size.
export function textIn(element) {
  const bytes = bytesOf(element.textContent);
  return new TextDecoder().decode(inflate(bytes,
    Number(element.getAttribute('data-bytes'))));
}
