/** ACME clients, each with an account, and the web server on which they prove their names. */
import { createPrivateKey } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { AcmeSession } from '@keelson/testkit';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  encodeName,
  subjectAltName,
} from '@keelson/x509';
import { answerCommands } from '../child-process.ts';
import { putFile, removeFile, serveFiles } from './challenge-files.ts';

export interface Clients {
  readonly directory: string;
  readonly callers: number;
  /** A server that is silent this long has stopped. */
  readonly answerWithinMs: number;
}

export interface LoadResult {
  /** Duration of each order. */
  readonly latenciesMicroseconds: readonly number[];
  /** From the start to the end, or to the last order before the server stopped answering. */
  readonly seconds: number;
  /** Why the load ended early; undefined if it did not. */
  readonly stopped: string | undefined;
}

/** Delay before the second poll of the server; it doubles before each further one. */
const POLL_MS = 5;
const MAX_POLL_MS = 80;

type CreateRequest = (name: string) => Promise<string>;

/** Creates the CSR that finalizes an order for a name, with a new signature each time. */
const createRequests = async (): Promise<CreateRequest> => {
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

let sessions: readonly AcmeSession[] = [];
let answerWithinMs = 0;
let createRequest: CreateRequest;
let lastName = 0;

const close = async (): Promise<void> => {
  await Promise.all(sessions.map((session) => session.close()));
  sessions = [];
};

const open = async ({ directory, callers, ...clients }: Clients): Promise<void> => {
  await close();
  answerWithinMs = clients.answerWithinMs;
  createRequest = await createRequests();
  sessions = await Promise.all(
    Array.from({ length: callers }, () =>
      AcmeSession.open({ directory, connections: 1, answerWithinMs }),
    ),
  );
};

const waitFor = async (session: AcmeSession, url: string, awaited: string) => {
  for (let delayMs = POLL_MS; ; delayMs = Math.min(delayMs * 2, MAX_POLL_MS)) {
    const { json } = await session.post(url);
    if (json.status === awaited) return json;
    if (json.status === 'invalid') throw new Error(JSON.stringify(json));
    await pause(delayMs);
  }
};

const within = async (limitMs: number, what: string, awaited: Promise<void>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${limitMs} ms`)), limitMs);
  try {
    await Promise.race([awaited, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** RFC 8555 §7.5.1: polls only while validation is in progress, and not before the file was fetched. */
const prove = async (session: AcmeSession, authorization: string): Promise<void> => {
  const { challenges } = (await session.post(authorization)).json;
  const { token, url } = challenges.find(({ type }: { type: string }) => type === 'http-01');
  const asked = putFile(token, session.keyAuthorization(token));
  try {
    const { json } = await session.post(url, {});
    // A valid challenge makes its authorization valid (§7.1.6).
    if (json.status === 'valid') return;
    await within(answerWithinMs, 'the request for the file', asked);
    await waitFor(session, authorization, 'valid');
  } finally {
    removeFile(token);
  }
};

const order = async (session: AcmeSession): Promise<void> => {
  const name = `n${++lastName}-${process.pid}.example.com`;
  const ordered = await session.post('newOrder', { identifiers: [{ type: 'dns', value: name }] });
  const [authorization] = ordered.json.authorizations as [string];
  await prove(session, authorization);
  const finalized = await session.post(ordered.json.finalize, { csr: await createRequest(name) });
  const { certificate } =
    finalized.json.status === 'valid'
      ? finalized.json
      : await waitFor(session, ordered.location, 'valid');
  const { text } = await session.post(certificate);
  if (!text.startsWith('-----BEGIN CERTIFICATE-----')) throw new Error(text);
};

const orders = async (seconds: number): Promise<LoadResult> => {
  const startedAt = performance.now();
  const latenciesMicroseconds: number[] = [];
  let endedAt = startedAt;
  let stopped: string | undefined;
  const call = async (session: AcmeSession): Promise<void> => {
    while (stopped === undefined && performance.now() - startedAt < seconds * 1000) {
      const begunAt = performance.now();
      await order(session);
      endedAt = performance.now();
      latenciesMicroseconds.push(Math.round((endedAt - begunAt) * 1000));
    }
  };
  await Promise.all(
    sessions.map((session) =>
      call(session).catch((error: unknown) => {
        stopped ??= String(error);
      }),
    ),
  );
  return { latenciesMicroseconds, seconds: (endedAt - startedAt) / 1000, stopped };
};

answerCommands({ serve: serveFiles, open, orders, close });
