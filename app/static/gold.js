// Wrong gold, explained to this browser alone: a worker seals what is wrong with which values to the key that lies here.
// The server stores the box and cannot open it. Without a script, or a place to keep a key, lines alone are shown.
"use strict";

const KEPT_AS = "evergold-gold-reader";
const PUBLIC_BYTES = nacl.box.publicKeyLength;
const NONCE_BYTES = nacl.box.nonceLength;

function toHex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text) {
  return new Uint8Array((text.match(/../g) || []).map((pair) => parseInt(pair, 16)));
}

function keyOfThisBrowser() {
  try {
    const kept = fromHex(localStorage.getItem(KEPT_AS) || "");
    if (kept.length === nacl.box.secretKeyLength) return nacl.box.keyPair.fromSecretKey(kept);
    const made = nacl.box.keyPair();
    localStorage.setItem(KEPT_AS, toHex(made.secretKey));
    return made;
  } catch {
    return null;
  }
}

function opened(sealed, key) {
  const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0));
  const theirs = bytes.subarray(0, PUBLIC_BYTES);
  const nonce = bytes.subarray(PUBLIC_BYTES, PUBLIC_BYTES + NONCE_BYTES);
  const plain = nacl.box.open(bytes.subarray(PUBLIC_BYTES + NONCE_BYTES), nonce, theirs, key.secretKey);
  return plain && JSON.parse(new TextDecoder().decode(plain));
}

function show(list, explanation) {
  const sentences = [...explanation.problems];
  if (explanation.omitted) sentences.push(`and ${explanation.omitted} more`);
  list.replaceChildren(
    ...sentences.map((sentence) => {
      const item = document.createElement("li");
      item.dir = "auto";
      item.textContent = sentence;
      return item;
    }),
  );
  const hint = list.parentElement.querySelector("[data-sealed]");
  if (hint) hint.textContent = "These values were opened by your browser: only it can show them.";
}

const key = keyOfThisBrowser();
if (key) {
  for (const input of document.querySelectorAll("[data-reader]")) input.value = toHex(key.publicKey);
  for (const list of document.querySelectorAll("[data-explanation]")) {
    const explanation = opened(list.dataset.explanation, key);
    if (explanation) show(list, explanation);
  }
}
