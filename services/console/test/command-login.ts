/** A command that signs in through the browser, as `terraform login` does. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { onTestFinished } from 'vitest';

const VERIFIER = 'the-verifier-of-this-test-has-43-characters-at-least';
export const STATE = 'state of the command';

export interface Command {
  readonly redirectUri: string;
  /** The parameters with which the browser comes back. */
  readonly called: Promise<URLSearchParams>;
}

const listen = async (server: Server, port: number): Promise<boolean> => {
  server.listen(port, '127.0.0.1');
  return Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
};

/** Listens on a free port of those that the installation announces. */
export const startCommand = async (): Promise<Command> => {
  const called = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/login') called.resolve(searchParams);
    response.setHeader('content-type', 'text/html');
    response.end('<title>Back</title><p>The command has its answer.</p>');
  });
  onTestFinished(() => void server.close());
  for (let port = 10_000; port <= 10_010; port += 1)
    if (await listen(server, port))
      return { redirectUri: `http://localhost:${port}/login`, called: called.promise };
  throw new Error('every port from 10000 to 10010 is taken');
};

/** The page of the console that the command opens. */
export const pageFor = (redirectUri: string): string =>
  `/app/command-login?${new URLSearchParams({
    client_id: 'terraform-cli',
    code_challenge: hash('sha256', VERIFIER, 'base64url'),
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    state: STATE,
  }).toString()}`;

/** Exchanges a code for a token, once. */
export const exchange = async (origin: string, code: string, redirectUri: string) => {
  const answer = await fetch(`${origin}/api/v2/command-logins/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'terraform-cli',
      code,
      redirect_uri: redirectUri,
      code_verifier: VERIFIER,
    }),
  });
  const document = (await answer.json()) as Readonly<Record<string, string>>;
  return { status: answer.status, document };
};
