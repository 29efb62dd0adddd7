/** ACME clients, each with an account, and the web server on which they prove their names. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AcmeSession } from '@keelson/testkit';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  encodeName,
  subjectAltName,
} from '@keelson/x509';
import { build } from 'hdr-histogram-js';
import type { LatencySummary } from '../bench.ts';
import { answerCommands } from '../child-process.ts';

interface Load {
  readonly directory: string;
  readonly callers: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly orders: number;
  readonly perSecond: number;
  readonly latency: LatencySummary;
}

/** Before the second look at what the server has still to do; twice as long before each further one. */
const POLL_MS = 5;
const MAX_POLL_MS = 80;

/** A server that is silent this long has stopped. */
const ANSWER_WITHIN_MS = 15_000;

const files = new Map<string, string>();
let lastName = 0;

const serve = async (): Promise<number> => {
  const server = createServer((request, response) => {
    const token = request.url?.slice(request.url.lastIndexOf('/') + 1) ?? '';
    response.end(files.get(token) ?? '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Makes the request that finalizes an order for a name, with a new signature each time. */
const createRequests = async (): Promise<(name: string) => Promise<string>> => {
  const pair = await createKeyPair({ type: 'ec', bits: 256 });
  const key = Buffer.from(pair.privateKeyDer);
  const signer = createSigner(
    createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    chooseSignatureScheme(pair.algorithm),
  );
  return async (value) => {
    const extensions = [subjectAltName([{ kind: 'dns', value }])];
    const fields = { subject: encodeName([]), publicKeyDer: pair.publicKeyDer, extensions };
    return Buffer.from(await createCsr(fields, signer)).toString('base64url');
  };
};

const waitFor = async (session: AcmeSession, url: string, awaited: string) => {
  for (let delayMs = POLL_MS; ; delayMs = Math.min(delayMs * 2, MAX_POLL_MS)) {
    const { json } = await session.post(url);
    if (json.status === awaited) return json;
    if (json.status === 'invalid') throw new Error(JSON.stringify(json));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
};

const order = async (
  session: AcmeSession,
  request: (name: string) => Promise<string>,
): Promise<void> => {
  const name = `n${++lastName}-${process.pid}.example.com`;
  const ordered = await session.post('newOrder', { identifiers: [{ type: 'dns', value: name }] });
  const [authorization] = ordered.json.authorizations as [string];
  const { challenges } = (await session.post(authorization)).json;
  const { token, url } = challenges.find(({ type }: { type: string }) => type === 'http-01');
  files.set(token, session.keyAuthorization(token));
  await session.post(url, {});
  await waitFor(session, authorization, 'valid');
  files.delete(token);
  const finalized = await session.post(ordered.json.finalize, { csr: await request(name) });
  const { certificate } =
    finalized.json.status === 'valid'
      ? finalized.json
      : await waitFor(session, ordered.location, 'valid');
  const { text } = await session.post(certificate);
  if (!text.startsWith('-----BEGIN CERTIFICATE-----')) throw new Error(text);
};

const orders = async ({ directory, callers, seconds }: Load): Promise<LoadResult> => {
  const request = await createRequests();
  const sessions = await Promise.all(
    Array.from({ length: callers }, () =>
      AcmeSession.open({ directory, connections: 1, answerWithinMs: ANSWER_WITHIN_MS }),
    ),
  );
  const histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  const startedAt = performance.now();
  let count = 0;
  const call = async (session: AcmeSession): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1000) {
      const begunAt = performance.now();
      await order(session, request);
      histogram.recordValue(Math.round((performance.now() - begunAt) * 1000));
      count += 1;
    }
  };
  try {
    await Promise.all(sessions.map(call));
  } finally {
    for (const session of sessions) session.close();
  }
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  const [p50, p99, p999] = [50, 99, 99.9].map(
    (percentile) => histogram.getValueAtPercentile(percentile) / 1000,
  ) as [number, number, number];
  return { orders: count, perSecond, latency: { p50, p99, p999 } };
};

answerCommands({ serve, orders });
