/** The service with ACME enabled, and a web server that answers http-01 on loopback. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { temporaryDirectory } from '@keelson/testkit';
import { expect } from 'vitest';
import { recordOutcome } from '../src/acme/authorizations/challenge-operations.ts';
import type { Problem } from '../src/acme/problems/problem.ts';
import { type AcmeAnswer, AcmeClient, CLUSTER_PATH, csrFor } from './acme-client.ts';
import { openPki } from './open-pki.ts';

/**
 * @param environment settings of the process
 * @param config fields of config/acme
 */
export const openAcme = async (
  environment: Readonly<Record<string, string>> = {},
  config: object = {},
  options: Parameters<typeof openPki>[2] = {},
) => {
  const folder = await temporaryDirectory();
  /** Key authorizations by token. */
  const files = new Map<string, string>();
  const server = createServer((request, response) => {
    const file = files.get(request.url?.replace('/.well-known/acme-challenge/', '') ?? '');
    response.statusCode = file === undefined ? 404 : 200;
    response.end(file);
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pki = await openPki(
    folder.path,
    { KEELSON_ACME_HTTP_PORT: String(port), ...environment },
    options,
  );

  const post = async (path: string, body: unknown = {}) => {
    const answer = await pki.call('POST', path, body);
    expect(answer.json?.errors).toBeUndefined();
    return answer;
  };
  await post('root/generate/internal', { common_name: 'Root', ttl: '87600h', key_type: 'ec' });
  await post('config/cluster', { path: CLUSTER_PATH });
  await post('config/acme', { enabled: true, ...config });

  /** Serves the files of all authorizations of an order and has them validated. */
  const prove = async (client: AcmeClient, order: AcmeAnswer): Promise<void> => {
    for (const url of order.json.authorizations) {
      const { json } = await client.post(url);
      const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
      files.set(challenge.token, `${challenge.token}.${client.key.thumbprint}`);
      const triggered = await client.post(challenge.url, {});
      expect(triggered.status).toBe(200);
    }
  };

  /** Polls until the state has changed; validation continues in the process meanwhile. */
  const settle = async (client: AcmeClient, url: string, states: readonly string[]) => {
    for (;;) {
      const answer = await client.post(url);
      if (!states.includes(answer.json.status)) return answer;
      // This loop does not wait for I/O, so it yields to pending I/O here.
      await setImmediate();
    }
  };

  /** From the order to the certificate. */
  const obtain = async (client: AcmeClient, ...names: readonly string[]) => {
    if (client.account === '') await client.register();
    const order = await client.order(...names);
    expect(order.json).toMatchObject({ status: 'pending' });
    await prove(client, order);
    const url = order.header('location') ?? '';
    expect((await settle(client, url, ['pending'])).json.status).toBe('ready');
    const finalized = await client.post(order.json.finalize, { csr: await csrFor(names) });
    expect(finalized.json).toMatchObject({ status: 'valid' });
    const certificate = await client.post(finalized.json.certificate);
    return { order, url, finalized, certificate };
  };

  /** Starts the first challenge of an authorization and records its success, as the validation worker does. */
  const pass = async (client: AcmeClient, authorizationUrl: string): Promise<void> => {
    const { json } = await client.post(authorizationUrl);
    await client.post(json.challenges[0].url, {});
    const key = authorizationUrl.slice(authorizationUrl.lastIndexOf('/') + 1);
    await recordOutcome(pki, pki.mount, { key }, { kind: 'valid' });
  };

  /** Records the last failed attempt at an authorization, as the validation worker does. */
  const failWith = async (authorizationUrl: string, problem: Problem): Promise<void> => {
    const key = authorizationUrl.slice(authorizationUrl.lastIndexOf('/') + 1);
    await recordOutcome(pki, pki.mount, { key }, { kind: 'invalid', problem });
  };

  return {
    pki,
    failWith,
    pass,
    post,
    files,
    prove,
    settle,
    obtain,
    client: (directory?: string) => new AcmeClient(pki, directory),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await pki.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};

export type OpenAcme = Awaited<ReturnType<typeof openAcme>>;
