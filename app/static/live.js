// While a submission is on its way: a notification at its end, if the reader allows it. The title says so anyway.
"use strict";

function offerNotification() {
  const offer = document.querySelector("[data-notify]");
  if (!offer || !("Notification" in window) || Notification.permission === "denied") return;
  if (Notification.permission === "granted") return;
  offer.hidden = false;
  offer.querySelector("button").addEventListener("click", async () => {
    await Notification.requestPermission();
    offer.hidden = true;
  });
}

function tellTheEnd() {
  const announcement = document.getElementById("announcement");
  // The page's own title follows a moment later.
  const title = document.querySelector(".state-line")?.dataset.title ?? document.title;
  if (document.querySelector(".steps .now")) return;
  document.querySelector("[data-notify]")?.setAttribute("hidden", "");
  if ("Notification" in window && Notification.permission === "granted" && document.hidden && announcement) {
    try { new Notification(title, { body: announcement.textContent, tag: location.pathname }); } catch { /* phones */ }
  }
}

document.addEventListener("htmx:after:swap", tellTheEnd);
offerNotification();
