/** A server that HTTP benches measure: one of their own, or a running one that speaks the same API. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startKeelson } from '@keelson/testkit';
import type { BenchContext } from './bench.ts';
import { NODE_COMPILE_CACHE } from './server-process.ts';

export interface MeasuredServer extends AsyncDisposable {
  /** Base URL. */
  readonly url: string;
  /** With the credentials of /v1, as the dialect of the bench has them. */
  readonly v1Headers: Readonly<Record<string, string>>;
  /** With the credentials of /api/v2. */
  readonly apiHeaders: Readonly<Record<string, string>>;
  /** undefined for a server that the bench did not start. */
  readonly pid: number | undefined;
}

const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Headers with the credentials of both APIs, in the dialect of the bench. */
export const headersOf = (
  { dialect }: BenchContext,
  { v1, api }: { readonly v1: string; readonly api: string },
): Pick<MeasuredServer, 'v1Headers' | 'apiHeaders'> => ({
  v1Headers:
    dialect === 'vendor'
      ? { ...JSON_TYPE, 'x-vault-token': v1, 'x-vault-request': 'true' }
      : { ...JSON_TYPE, 'x-service-token': v1 },
  apiHeaders: { authorization: `Bearer ${api}` },
});

/** @param env settings of a server that the bench starts */
export const openMeasuredServer = async (
  context: BenchContext,
  env: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer> => {
  const { target, token = '' } = context;
  if (target !== undefined)
    return {
      url: target,
      ...headersOf(context, { v1: token, api: token }),
      pid: undefined,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  const keelson = await startKeelson({
    dataFolder: folder,
    env: { NODE_COMPILE_CACHE, ...env },
  });
  return {
    url: keelson.http,
    ...headersOf(context, { v1: keelson.rootToken, api: keelson.apiToken }),
    pid: keelson.pid,
    [Symbol.asyncDispose]: async () => {
      await keelson.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A request to /v1. @throws Error unless it succeeds */
export const askV1 = async (
  { url, v1Headers }: Pick<MeasuredServer, 'url' | 'v1Headers'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> => {
  const answer = await fetch(`${url}/v1/${path}`, {
    method,
    headers: v1Headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
};

/** Asks again while the server limits the rate of requests, as clients do. */
export const fetchWithinLimits = async (url: string, request: RequestInit): Promise<Response> => {
  for (;;) {
    const answer = await fetch(url, request);
    const seconds = Number(answer.headers.get('x-ratelimit-reset'));
    if (answer.status !== 429) return answer;
    await answer.arrayBuffer();
    await pause(Math.ceil(seconds * 1000));
  }
};

/** Creates a resource by the API of workspaces, and returns its id. @throws Error unless it succeeds */
export const createResource = async (
  { url, apiHeaders }: Pick<MeasuredServer, 'url' | 'apiHeaders'>,
  path: string,
  type: string,
  attributes: object,
): Promise<string> => {
  const answer = await fetchWithinLimits(`${url}/api/v2/${path}`, {
    method: 'POST',
    headers: { ...apiHeaders, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type, attributes } }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { readonly data: { readonly id: string } }).data.id;
};
