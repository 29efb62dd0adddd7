/**
 * Policies judge the path that `parseRequestPath` reads, whereas the router of libs/edge reads the forwarded
 * one. A difference would let a request reach a route under the policy of another path.
 */

import { bufferedBody, createEdgeService, edgeResponse, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRequestPath, withoutEmptySegments } from './domain/request-path.ts';

/** Answers with the path segments as the handler sees them. */
const reachedBy = (...names: string[]): Route => ({
  method: 'GET',
  path: `/${names.join('/')}`,
  operation: () => ({}),
  handle: ({ params }) => {
    const segments = names.map((name) => (name.startsWith(':') ? params[name.slice(1)] : name));
    return Promise.resolve(edgeResponse(200, {}, Buffer.from(JSON.stringify(segments))));
  },
});

const service = createEdgeService({
  service: 'pki',
  version: '1',
  pathPrefix: '/v1/{mount}',
  routes: [
    reachedBy('a'),
    reachedBy(':x'),
    reachedBy('a', 'b'),
    reachedBy('a', ':x'),
    reachedBy(':x', ':y'),
    reachedBy(':x', ':y', 'b'),
  ],
  renderError: (error) => edgeResponse(KeelsonError.from(error).httpStatus),
});

/** The segments that the service received; undefined when it refused the path. */
const readByService = async (path: string): Promise<readonly string[] | undefined> => {
  const { head, body } = await service.handle({
    head: messageOf(RequestHead, { method: 'GET', path }),
    body: bufferedBody(new Uint8Array()),
    signal: new AbortController().signal,
  });
  return head.status === 200
    ? (JSON.parse(Buffer.from(body as Uint8Array).toString()) as string[])
    : undefined;
};

const readByPolicies = (path: string) => {
  try {
    return withoutEmptySegments(parseRequestPath(path));
  } catch (error) {
    if (KeelsonError.from(error).code === 'request.invalid') return undefined;
    throw error;
  }
};

const PIECES = [
  'a',
  'b',
  'A',
  '/',
  '/',
  '//',
  '%2F',
  '%2f',
  '%61',
  '%62',
  '%',
  '%25',
  '%252F',
  '%2561',
  '.',
  '..',
  '%2e',
  '#',
  '?',
  '%3F',
  '%23',
  ';',
  '%3B',
  ':',
  '%3A',
  '*',
  '+',
  '%2B',
  '%20',
  'é',
  '%C3%A9',
  '%E9',
  '\\',
  '%5C',
  '%00',
  '@',
  '%40',
  '&',
  '=',
  ',',
];
const path = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

test('a route is reached only under the path that policies judged', async () => {
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(path, async (given) => {
      const judged = readByPolicies(given);
      if (judged === undefined) return;
      const segments = await readByService(`/${judged.raw}`);
      if (segments === undefined) return;
      reached += 1;
      const [decoded, raw] = [judged.decoded.split('/'), judged.raw.split('/')];
      // An encoded slash stays encoded for policies and never makes two segments for the service.
      expect(segments.map((one, index) => (one.includes('/') ? raw[index] : one))).toEqual(decoded);
    }),
    { numRuns: 20_000 },
  );
  expect(reached).toBeGreaterThan(1_000);
});
