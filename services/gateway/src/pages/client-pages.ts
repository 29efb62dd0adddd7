/**
 * What provisioning clients send people to: `terraform login` opens `/app/settings/tokens`, and a run is
 * announced as `/app/<organization>/<workspace>/runs/<id>`. There is no console for workspaces; the pages
 * say how to do it over the API.
 */
import type { FastifyInstance } from 'fastify';
import { sendPage } from './html-page.ts';

const TOKENS = `<p>The tool asks for a token of the workspace API (<code>/api/v2</code>). Paste one that you have: the first one is in
<code>data/first-run.json</code> of a standalone installation, and in <code>/data/first-token</code> of the workspace
service's container.</p>
<p>One of your own is made with it, and shown once:</p>
<pre>ADDRESS=…   # of this page: https://host:port
TOKEN=…     # the one you have
USER_ID=$(curl -s -H "Authorization: Bearer $TOKEN" "$ADDRESS/api/v2/account/details" | sed 's/.*"id":"\\(user-[^"]*\\)".*/\\1/')
curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/vnd.api+json' \\
  "$ADDRESS/api/v2/users/$USER_ID/authentication-tokens" \\
  -d '{"data":{"type":"authentication-tokens","attributes":{"description":"my laptop"}}}'</pre>
<p>Teams and organizations have tokens too: <a href="/docs">the API</a>.</p>`;

const RUN_ID = /\/runs\/(run-[0-9A-Za-z]{1,64})(?:\/|$)/;

const elsewhere = (path: string): string => {
  const run = RUN_ID.exec(path)?.[1];
  const shown = run === undefined ? '' : `<pre>GET /api/v2/runs/${run}?include=plan,apply</pre>`;
  return `<p>A provisioning client named this address. Workspaces and runs have no pages here: the client shows them, and the
API, which <a href="/docs">is described</a>.</p>${shown}`;
};

export const registerClientPages = (app: FastifyInstance): void => {
  app.get('/app/settings/tokens', (_request, reply) =>
    sendPage(reply, 'A token for the command line', TOKENS),
  );
  app.get('/app/*', (request, reply) => sendPage(reply, 'Keelson', elsewhere(request.url)));
};
