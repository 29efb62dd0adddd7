/** Live streams: events when answers change, rights looked up each time, and bounded numbers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createEdgeService,
  type EdgeServiceOptions,
  edgeResponse,
  type Route,
} from '@keelson/edge';
import { createErrorRenderer } from '@keelson/jsonapi';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  API_TOKEN,
  OTHER_API_TOKEN,
  SECOND_API_TOKEN,
  startGateway,
  TOKEN,
} from '../../test/stub-services.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';

/** The present answers of the services. */
const now = { status: 200, value: 'first', log: 'one\n' };
/** Bytes of a log in one event. */
const PIECE_BYTES = 256 * 1024;
let onAsked = (): void => undefined;

/** Resolves when the services have been asked so many times more. */
const asked = (times: number): Promise<void> =>
  new Promise((resolve) => {
    let left = times;
    onAsked = () => {
      left -= 1;
      if (left === 0) resolve();
    };
  });

const route = (path: string, answer: Route['handle']): Route => ({
  method: 'GET',
  path,
  operation: () => ({ summary: path }),
  handle: answer,
});

const document = (): ReturnType<Route['handle']> => {
  onAsked();
  return Promise.resolve(
    edgeResponse(
      now.status,
      { 'content-type': 'application/json' },
      Buffer.from(JSON.stringify({ data: now.value })),
    ),
  );
};

const service = (
  name: string,
  pathPrefix: string,
  routes: Route[],
  position?: EdgeServiceOptions['position'],
) =>
  createEdgeService({
    service: name,
    ...(position !== undefined && { position }),
    version: '1',
    pathPrefix,
    routes,
    renderError: (name === 'workspace' ? createErrorRenderer : createSecretsErrorRenderer)(
      () => undefined,
    ),
  });

const start = (
  limits: Partial<GatewayLimits> = {},
  environment: Readonly<Record<string, string>> = {},
) =>
  startGateway(
    environment,
    undefined,
    {
      sys: service('sys', '/v1', [route('/value', document)]),
      workspace: service('workspace', '/api/v2', [
        route('/value', document),
        route('/downloads/log', ({ head }) => {
          const asked = new URLSearchParams(head.query);
          const offset = Number(asked.get('offset'));
          const bytes = Buffer.from(now.log).subarray(offset, offset + Number(asked.get('limit')));
          return Promise.resolve(edgeResponse(200, {}, bytes));
        }),
      ]),
    },
    { limits },
  );

let gateway: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  gateway = await start();
});
afterAll(() => gateway.stop());

const SECRETS = { 'x-service-token': TOKEN };
const WORKSPACES = { authorization: `Bearer ${API_TOKEN}` };

interface LiveEvent {
  readonly name: string;
  readonly data: {
    watch: number;
    status?: number;
    text?: string;
    base64?: string;
    offset?: number;
  };
}

const opened = async (
  watches: readonly string[],
  headers: Record<string, string>,
  at = gateway,
): Promise<{ answer: Response; leave: () => void }> => {
  const abort = new AbortController();
  const query = new URLSearchParams(watches.map((path): [string, string] => ['watch', path]));
  const answer = await fetch(`${at.http}/live?${query.toString()}`, {
    headers,
    signal: abort.signal,
  });
  const leave = (): void => abort.abort();
  onTestFinished(leave);
  return { answer, leave };
};

/** The events of a stream, one at a time; ends with the stream. */
async function* eventsOf(answer: Response): AsyncGenerator<LiveEvent, void> {
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) };
    }
  }
}

const next = async (events: AsyncGenerator<LiveEvent, void>): Promise<LiveEvent | undefined> =>
  (await events.next()).value ?? undefined;

test('an answer is sent at once and then when it differs; a refusal ends the stream', async () => {
  Object.assign(now, { status: 200, value: 'first' });
  const { answer } = await opened(['/v1/sys/value', '/api/v2/value'], {
    ...SECRETS,
    ...WORKSPACES,
  });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const events = eventsOf(answer);
  for (const watch of [0, 1])
    expect(await next(events)).toEqual({
      name: 'answer',
      data: { watch, status: 200, text: '{"data":"first"}' },
    });
  now.value = 'second';
  const changes = [await next(events), await next(events)];
  expect(changes.map((change) => change?.data.text)).toEqual(Array(2).fill('{"data":"second"}'));
  now.status = 403;
  const refusals = [await next(events), await next(events)];
  expect(refusals.map((one) => [one?.name, one?.data.status])).toEqual([
    ['answer', 403],
    ['end', 403],
  ]);
  expect(await next(events)).toBeUndefined();
});

test('a token that sys does not know is refused by the first event', async () => {
  const { answer } = await opened(['/v1/sys/value'], { 'x-service-token': 'hvs.unknown' });
  const events = eventsOf(answer);
  expect((await next(events))?.data.status).toBe(403);
  expect((await next(events))?.name).toBe('end');
  expect(await next(events)).toBeUndefined();
});

test('signed addresses with another expiry are no change', async () => {
  const signed = (expiry: number) => ({ value: `https://x/api/v2/downloads/a/${expiry}/abc` });
  Object.assign(now, { status: 200, ...signed(1) });
  const { answer } = await opened(['/api/v2/value'], WORKSPACES);
  const events = eventsOf(answer);
  expect((await next(events))?.data.text).toContain('/1/');
  Object.assign(now, signed(2));
  // The next round sees the new expiry; only the change after it is reported.
  const change = next(events);
  await asked(2);
  now.value = 'other';
  expect((await change)?.data.text).toBe('{"data":"other"}');
});

test('of a log only what was appended is sent', async () => {
  now.log = 'one\n';
  const { answer } = await opened(['/api/v2/downloads/log?offset=2'], WORKSPACES);
  const events = eventsOf(answer);
  const first = await next(events);
  expect(first?.data).toMatchObject({ offset: 2, base64: Buffer.from('e\n').toString('base64') });
  now.log += 'two\n';
  expect((await next(events))?.data).toMatchObject({
    offset: 4,
    base64: Buffer.from('two\n').toString('base64'),
  });
});

test('a log that grew by several pieces is sent whole before anything is asked again', async () => {
  Object.assign(now, { status: 200, value: 'first', log: 'x'.repeat(2 * PIECE_BYTES + 1) });
  const { answer } = await opened(['/api/v2/downloads/log', '/api/v2/value'], WORKSPACES);
  const events = eventsOf(answer);
  const told = [await next(events), await next(events), await next(events), await next(events)];
  expect(told.map((one) => [one?.name, one?.data.offset])).toEqual([
    ['log', 0],
    ['log', PIECE_BYTES],
    ['log', 2 * PIECE_BYTES],
    ['answer', undefined],
  ]);
});

test.for([
  [[], WORKSPACES, 'once to 8 times'],
  [Array(9).fill('/v1/sys/value'), SECRETS, 'once to 8 times'],
  [['/healthz'], SECRETS, 'below /v1 or /api/v2'],
  [['/v1/../healthz'], SECRETS, 'parent references'],
  [[`/v1/${'x'.repeat(2048)}`], SECRETS, '2048 characters'],
  [['/v1/sys/value'], {}, 'needs a token'],
] as const)('%j is refused', async ([watches, headers, text]) => {
  const { answer } = await opened(watches, headers);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(text)]);
});

test('an address has a bounded number of streams, and gets a place back when one ends', async () => {
  const bounded = await start({ clientLiveStreams: 1 });
  onTestFinished(() => bounded.stop());
  now.status = 200;
  const first = await opened(['/v1/sys/value'], SECRETS, bounded);
  expect(first.answer.status).toBe(200);
  const second = await opened(['/v1/sys/value'], SECRETS, bounded);
  expect([second.answer.status, second.answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await second.answer.text()).toContain('of one client address exceed 1');
  first.leave();
  await expect
    .poll(async () => {
      const { answer } = await opened(['/v1/sys/value'], SECRETS, bounded);
      if (answer.status === 503) await answer.text();
      return answer.status;
    })
    .toBe(200);
});

test('all clients together have a bounded number of streams', async () => {
  const bounded = await start({ liveStreams: 1 });
  onTestFinished(() => bounded.stop());
  await opened(['/v1/sys/value'], SECRETS, bounded);
  const { answer } = await opened(['/v1/sys/value'], SECRETS, bounded);
  expect(await answer.text()).toContain('of all clients exceed 1');
});

test('a tenant has a bounded number of streams, by whichever token of it; another one has its own', async () => {
  const bounded = await start({}, { KEELSON_TENANT_LIVE_STREAMS: '1' });
  onTestFinished(() => bounded.stop());
  now.status = 200;
  const eventsFor = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return eventsOf((await opened(['/api/v2/value'], headers, bounded)).answer);
  };
  const first = await eventsFor(API_TOKEN);
  expect(await next(first)).toMatchObject({ name: 'answer' });
  const second = await eventsFor(SECOND_API_TOKEN);
  expect(await next(second)).toMatchObject({ name: 'answer' });
  expect(await next(second)).toMatchObject({ name: 'end', data: { status: 429 } });
  expect(await next(second)).toBeUndefined();
  expect(await next(await eventsFor(OTHER_API_TOKEN))).toMatchObject({ name: 'answer' });
  const metrics = await (await fetch(`${bounded.http}/metrics`)).text();
  expect(metrics).toMatch(/^keelson_http_share_refusals_total\{kind="live_streams"\} 1$/m);
});

test('streams end when the gateway stops', async () => {
  const stopping = await start();
  now.status = 200;
  const { answer } = await opened(['/v1/sys/value'], SECRETS, stopping);
  const events = eventsOf(answer);
  await next(events);
  const stopped = stopping.stop();
  expect(await next(events)).toBeUndefined();
  await stopped;
});

describe('a service that tells the position of its store', () => {
  let sequence = 1;
  let questions = 0;
  let onPosition = (): void => undefined;
  const told: EdgeServiceOptions['position'] = () => {
    onPosition();
    return Promise.resolve(sequence);
  };
  const rounds = (times: number): Promise<void> =>
    new Promise((resolve) => {
      let left = times;
      onPosition = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });
  const counted: Route['handle'] = () => {
    questions += 1;
    return document();
  };

  const startCounted = async () => {
    const counting = await startGateway({}, undefined, {
      sys: service('sys', '/v1', [route('/value', counted)], told),
      workspace: service('workspace', '/api/v2', [route('/value', counted)], told),
      pki: service('pki', '/v1/{mount}', [], told),
      auth: service('auth', '/v1/auth', [], told),
    });
    onTestFinished(() => counting.stop());
    return counting;
  };

  test('is asked again when it has committed something, or after five seconds', async () => {
    const counting = await startCounted();
    Object.assign(now, { status: 200, value: 'first' });
    questions = 0;
    const { answer } = await opened(['/v1/sys/value'], SECRETS, counting);
    const events = eventsOf(answer);
    await next(events);
    // Four services tell their position in each round.
    await rounds(12);
    expect(questions).toBe(1);
    Object.assign(now, { value: 'second' });
    sequence += 1;
    expect((await next(events))?.data.text).toBe('{"data":"second"}');
    expect(questions).toBe(2);
    // A seal, for example, commits nothing.
    now.value = 'third';
    expect((await next(events))?.data.text).toBe('{"data":"third"}');
    expect(questions).toBe(3);
  });

  test.for([
    ['/v1/sys/value', 'sys/value', SECRETS],
    ['/api/v2/value', 'api/v2/value', WORKSPACES],
  ] as const)(
    'audit devices record what is sent of %s, and no repetition',
    async ([watch, path, headers]) => {
      const folder = await temporaryDirectory();
      onTestFinished(() => folder[Symbol.asyncDispose]());
      const file = join(folder.path, 'audit.log');
      const counting = await startCounted();
      counting.state.devices = [
        {
          path: 'file/',
          type: 'file',
          options: { file_path: file },
          salt: Buffer.from('salt'),
          accessor: 'audit_1',
        },
      ];
      counting.state.auditGeneration = 1;
      Object.assign(now, { status: 200, value: 'first' });
      const { answer } = await opened([watch], headers, counting);
      const events = eventsOf(answer);
      await next(events);
      for (let repetition = 0; repetition < 2; repetition += 1) {
        const repeated = asked(1);
        sequence += 1;
        await repeated;
      }
      now.status = 403;
      sequence += 1;
      expect((await next(events))?.data.status).toBe(403);
      const entries = (await readFile(file, 'utf8')).trim().split('\n');
      expect(
        entries.map((line) => {
          const { type, request, error } = JSON.parse(line);
          return [type, request.path, error ?? ''];
        }),
      ).toEqual([
        ['request', path, ''],
        ['response', path, ''],
        ['request', path, ''],
        ['response', path, 'status 403'],
      ]);
    },
  );
});
