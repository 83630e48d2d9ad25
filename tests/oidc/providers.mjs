// Two providers of OpenID Connect (oidc-provider), and one with GitHub's protocol, each on a port of its own on loopback.
// People are those of the JSON on the command line: {"people": {LOGIN: CLAIMS}, "clients": [ID], "secret": SECRET}.
// POST /bend {"how": …} falsifies the next ID token of that provider, signed with its own key unless that is what is false.
// Prints {"uni": ADDRESS, "hub": ADDRESS, "github": ADDRESS} when all answer.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { SignJWT, UnsecuredJWT, decodeJwt, exportJWK, generateKeyPair, importJWK } from "jose";
import Provider from "oidc-provider";

const { people, clients, secret } = JSON.parse(process.argv[2]);

async function keyOf(kid) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, use: "sig", alg: "RS256" };
}

const falsified = {
  nonce: (claims) => ({ ...claims, nonce: "another log-in's" }),
  "no nonce": ({ nonce, ...claims }) => claims,
  issuer: (claims) => ({ ...claims, iss: "https://elsewhere.example" }),
  audience: (claims) => ({ ...claims, aud: "another-client" }),
  "two audiences": (claims) => ({ ...claims, aud: [claims.aud, "another-client"], azp: "another-client" }),
  expired: (claims) => ({ ...claims, iat: claims.iat - 7200, exp: claims.exp - 7200 }),
  "no subject": ({ sub, ...claims }) => claims,
  "another subject": (claims) => ({ ...claims, sub: "somebody-else" }),
};

async function bent(how, token, key) {
  const claims = decodeJwt(token);
  if (how === "unsigned") return new UnsecuredJWT(claims).encode();
  if (how === "signed with the client's secret")
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: key.kid }).sign(new TextEncoder().encode(secret));
  const signing = how === "signed with another key" ? await keyOf(key.kid) : key;
  const said = falsified[how] ? falsified[how](claims) : claims;
  return new SignJWT(said).setProtectedHeader({ alg: "RS256", kid: key.kid }).sign(await importJWK(signing, "RS256"));
}

function listening(handle) {
  return new Promise((resolve) => {
    const server = createServer((request, response) => handle(request, response));
    server.listen(0, "127.0.0.1", () => resolve([server, `http://127.0.0.1:${server.address().port}`]));
  });
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function openIdProvider(name) {
  let answer = (_, response) => response.end();
  const [, issuer] = await listening((request, response) => answer(request, response));
  const key = await keyOf(`${name}-1`);
  let bend = "";
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    clients: clients.map((client_id) => ({
      client_id,
      client_secret: secret,
      application_type: "native", // any port of loopback
      redirect_uris: [`http://127.0.0.1/login/with/${client_id}/callback`],
      response_types: ["code"],
      grant_types: ["authorization_code"],
    })),
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name", "given_name", "family_name", "preferred_username"],
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    renderError: (context, out) => {
      context.type = "application/json";
      context.body = out;
    },
  });
  provider.use(async (context, next) => {
    await next();
    if (context.path === "/token" && bend && context.body?.id_token) {
      context.body.id_token = await bent(bend, context.body.id_token, key);
      bend = "";
    }
  });
  const serve = provider.callback();
  answer = async (request, response) => {
    const [, uid, login] = request.url.match(/^\/interaction\/([^/]+)\/as\/([^/]+)$/) ?? [];
    if (request.url === "/bend") {
      bend = JSON.parse(await bodyOf(request)).how;
      response.end();
    } else if (uid) {
      await loggedIn(provider, request, response, decodeURIComponent(login));
    } else {
      serve(request, response);
    }
  };
  return issuer;
}

// The person logs in and agrees, at once.
async function loggedIn(provider, request, response, accountId) {
  if (accountId === "nobody") {
    await provider.interactionFinished(request, response, { error: "access_denied" });
    return;
  }
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId } });
}

// OAuth 2 as GitHub has it: no issuer, no token that says who it is, an API to ask.
async function gitHub() {
  const codes = new Map();
  const tokens = new Map();
  const told = (response, document, status = 200) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(document));
  const [, address] = await listening(async (request, response) => {
    const url = new URL(request.url, address);
    const person = people[tokens.get(request.headers.authorization)];
    if (url.pathname === "/login/oauth/authorize") {
      const code = randomBytes(16).toString("hex");
      codes.set(code, url.searchParams);
      const back = new URL(url.searchParams.get("redirect_uri"));
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state"));
      response.writeHead(302, { Location: back.href }).end();
    } else if (url.pathname === "/login/oauth/access_token") {
      const sent = new URLSearchParams(await bodyOf(request));
      const asked = codes.get(sent.get("code"));
      codes.delete(sent.get("code"));
      const challenge = createHash("sha256").update(sent.get("code_verifier") ?? "").digest("base64url");
      const isRight = asked?.get("code_challenge") === challenge && sent.get("client_secret") === secret;
      if (!isRight) return told(response, { error: "bad_verification_code" });
      const token = randomBytes(16).toString("hex");
      tokens.set(`Bearer ${token}`, "octo");
      told(response, { access_token: token, token_type: "bearer", scope: asked.get("scope") });
    } else if (url.pathname === "/api/v3/user" && person) told(response, person.account);
    else if (url.pathname === "/api/v3/user/emails" && person) told(response, person.emails);
    else told(response, { message: "Bad credentials" }, 401);
  });
  return address;
}

const [uni, hub, github] = await Promise.all([openIdProvider("uni"), openIdProvider("hub"), gitHub()]);
process.stdout.write(`${JSON.stringify({ uni, hub, github })}\n`);
