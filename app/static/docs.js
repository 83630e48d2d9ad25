// Swagger UI on our own description; logged-in viewers may try things out, with their CSRF token.
"use strict";

const csrfToken = document.querySelector("meta[name=csrf-token]")?.content;

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  requestInterceptor: (request) => {
    if (csrfToken && new URL(request.url, location.href).origin === location.origin) {
      request.headers["X-CSRF-Token"] = csrfToken;
    }
    return request;
  },
});
