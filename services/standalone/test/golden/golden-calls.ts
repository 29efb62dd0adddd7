/** Requests that must succeed, and their bodies. */
import type { KeelsonProcess } from '@keelson/testkit';
import { type Answer, callsOf } from '@keelson/testkit/addressed-cluster';

type Body = Answer['body'];

/** Requests that must succeed. */
export interface GoldenCalls {
  readonly v1: (method: string, path: string, body?: object) => Promise<Body>;
  readonly api: (method: string, path: string, body?: object, token?: string) => Promise<Body>;
}

type Tokens = Pick<KeelsonProcess, 'rootToken' | 'apiToken'>;

/** Requests with whatever answer. @param tokens of the cluster, whose records may be those of another process */
export const answersOf = (http: string, { rootToken, apiToken }: Tokens) =>
  callsOf(
    () => http,
    () => rootToken,
    apiToken,
  );

/** @param tokens as those of `answersOf` */
export const goldenCalls = (http: string, tokens: Tokens): GoldenCalls => {
  const calls = answersOf(http, tokens);
  const done =
    (of: keyof GoldenCalls): GoldenCalls['api'] =>
    async (method, path, body, token) => {
      const answer = await calls[of](method, path, body, token);
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
  return { v1: done('v1'), api: done('api') };
};

export const resource = (type: string, attributes: object, relationships: object = {}): object => ({
  data: { type, attributes, relationships },
});
export const one = (type: string, id: string): object => ({ data: { type, id } });
export const several = (type: string, id: string): object => ({ data: [{ type, id }] });

/** Ten years: a golden store is opened for as long as its version can be upgraded. */
export const LONG = '87600h';

export const ORGANIZATION = 'organizations/acme';

/** Sends the bytes of what was announced. @returns the status of the answer */
export const upload = async (http: string, announced: Body, bytes: Uint8Array): Promise<number> => {
  const { pathname, search } = new URL(announced.data.attributes['upload-url']);
  const body = Buffer.from(bytes);
  return (await fetch(`${http}${pathname}${search}`, { method: 'PUT', body })).status;
};

/** A request that reads. */
export interface GoldenRead {
  readonly of: keyof GoldenCalls;
  readonly method: 'GET' | 'LIST';
  readonly path: string;
}

export const reads = (
  of: keyof GoldenCalls,
  method: GoldenRead['method'],
  paths: readonly string[],
) => paths.map((path): GoldenRead => ({ of, method, path }));
