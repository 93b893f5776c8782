import type { Request, Response } from 'express';

/** True for a person with a browser, who has no token. Identity providers accept JSON or anything. */
export function isBrowser(request: Request): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isPreferred = () => request.accepts(['application/scim+json', 'application/json', 'html']) === 'html';
  return isRead && request.headers.authorization === undefined && isPreferred();
}

/** Says at the base URL what it is, and where its documents are. `origin` is the URL of the service. */
export function sendBasePage(response: Response, origin: string): void {
  response.set('Content-Security-Policy', "default-src 'none'; base-uri 'none'; form-action 'none'");
  response.type('html').send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Jetbridge SCIM 2.0</title>
</head>
<body>
<h1>SCIM 2.0 of Jetbridge</h1>
<p>This address is the base URL that you enter in an identity provider, with a bearer token. People have nothing to see here: programs
send users and groups to it (RFC 7644).</p>
<ul>
<li><a href="${origin}/docs/connect-okta">Connect Okta</a></li>
<li><a href="${origin}/docs/connect-entra">Connect Microsoft Entra ID</a></li>
<li><a href="${origin}/docs/operations/tokens">Make a token</a></li>
<li><a href="${origin}/admin">The admin page</a></li>
</ul>
</body>
</html>
`);
}
