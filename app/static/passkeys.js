// Asks the browser for a passkey when its form is sent, and sends the form with the answer.
"use strict";

const form = document.querySelector("form[data-passkey]");

async function answerOf(kind, options) {
  if (kind === "create") {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

// Before this script has come, sending the form would send it without an answer.
if (form) form.querySelector("button[type=submit]").disabled = false;
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const failure = form.querySelector("[role=status]");
  failure.hidden = true;
  try {
    const credential = await answerOf(form.dataset.passkey, JSON.parse(form.dataset.options));
    form.elements.answer.value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch {
    failure.hidden = false; // refused, timed out, or the browser knows no passkeys
  }
});
