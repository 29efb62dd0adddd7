/** A control plane for the tests of one file, and requests below its `/v1`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll } from 'vitest';

// oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
export type Document = any;

export interface Asked {
  /** That of the root if absent; "" for none. */
  readonly token?: string;
  readonly namespace?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param env further settings of the control plane */
export const useLoginSite = (env: Readonly<Record<string, string>> = {}) => {
  let keelson: KeelsonProcess;
  const folder = mkdtempSync(join(tmpdir(), 'keelson-logins-'));
  beforeAll(async () => {
    keelson = await startKeelson({ dataFolder: join(folder, 'data'), env });
  });
  afterAll(async () => {
    await keelson.stop();
    rmSync(folder, { recursive: true });
  });

  const call = async (
    method: string,
    path: string,
    body?: object,
    { token = keelson.rootToken, namespace = '', headers = {} }: Asked = {},
  ): Promise<{ readonly status: number; readonly body: Document }> => {
    const answer = await fetch(`${keelson.http}/v1/${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { 'x-service-token': token }),
        ...(namespace === '' ? {} : { 'x-service-namespace': namespace }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };

  /** The body of an answer. @throws Error unless the request succeeds */
  const must = async (...asked: Parameters<typeof call>): Promise<Document> => {
    const { status, body } = await call(...asked);
    if (status !== 200 && status !== 204) throw new Error(`${asked[1]}: ${JSON.stringify(body)}`);
    return body;
  };
  return { keelson: () => keelson, call, must };
};
