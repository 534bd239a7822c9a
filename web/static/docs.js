"use strict";

// No validator: it would send the document to another host.
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
