/**
 * A token that is revoked while the body of its request is still arriving: every route that takes a
 * body and needs a token, of both APIs, over HTTP/1.1 and HTTP/2. The routes come from the
 * descriptions that the process publishes, so a new one is tried at once.
 */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const SLOW_MS = 180_000;
/** The two parts in which a body is sent. */
type Parts = readonly [first: Buffer, rest: Buffer];
const FIRST_BYTES = 5;
/** More wait until one has ended. */
const STREAMS_OF_SESSION = 100;
const parted = (body: Buffer, at: number): Parts => [body.subarray(0, at), body.subarray(at)];
const PARTS = parted(Buffer.from('{"data":{}}'), FIRST_BYTES);
const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'];
/** The address is the credential; the service looks the rights up again (upload-rights.test.ts). */
const SIGNED = /\/(uploads|downloads)\//;
/** Its body is passed on as it arrives, and has a test of its own. */
const SNAPSHOT = /\/storage\/raft\/snapshot/;

interface Row {
  readonly method: string;
  /** From the root, with every parameter filled in. */
  readonly path: string;
}

type Document = Readonly<Record<string, unknown>>;

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let rows: readonly Row[] = [];

const isApi = (path: string): boolean => path.startsWith('/api/');
const headersFor = ({ path, method }: Row, token: string): Record<string, string> => ({
  ...(isApi(path) ? { authorization: `Bearer ${token}` } : { 'x-service-token': token }),
  'content-type': isApi(path)
    ? 'application/vnd.api+json'
    : method === 'PATCH'
      ? 'application/merge-patch+json'
      : 'application/json',
});

const send = async (method: string, path: string, token: string, body?: object) => {
  const answer = await fetch(keelson.http + path, {
    method,
    headers: headersFor({ method, path }, token),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const document: Document = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: answer.status, document, text };
};

const asOperator = async (method: string, path: string, body?: object) => {
  const answer = await send(method, path, isApi(path) ? keelson.apiToken : keelson.rootToken, body);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
};

const describedRows = async (document: string, prefix: string): Promise<readonly Row[]> => {
  const { paths } = (await (await fetch(`${keelson.http}${document}`)).json()) as {
    paths: Record<string, Record<string, { 'x-methods'?: readonly string[] }>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .flatMap(([name, { 'x-methods': methods = [name.toUpperCase()] }]) => methods)
      .filter((method) => WRITES.includes(method))
      .map((method) => ({
        method,
        path:
          prefix +
          path
            .replace(prefix, '')
            .replace('{mount}', 'empty')
            .replaceAll(/\{\w+\}/g, 'x'),
      })),
  );
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  await asOperator('POST', '/v1/sys/mounts/empty', { type: 'pki' });
  await asOperator('PUT', '/v1/sys/policies/acl/all', {
    policy:
      'path "*" { capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo"] }',
  });
  const described = [
    ...(await describedRows('/openapi/sys.json', '/v1')),
    ...(await describedRows('/openapi/pki.json', '/v1')),
    ...(await describedRows('/api/v2/openapi/stable.json', '/api/v2')),
  ].filter(({ path }) => !SIGNED.test(path) && !SNAPSHOT.test(path));
  const needToken: Row[] = [];
  for (const row of described) {
    const { status, text } = await send(row.method, row.path, 'hvs.unknown', {});
    if (status === 401 || (status === 403 && text.includes('permission denied')))
      needToken.push(row);
  }
  rows = needToken;
}, SLOW_MS);
afterAll(async () => {
  await keelson?.stop();
  await folder?.[Symbol.asyncDispose]();
}, SLOW_MS);

/** A request whose head and first bytes have been sent. */
interface Begun {
  /** The status of the answer. */
  readonly answered: Promise<number>;
  /** Sends the rest. */
  finish(): Promise<number>;
}

const headerLines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const PROTOCOLS = {
  'HTTP/1.1': () => {
    const { port, hostname } = new URL(keelson.http);
    return Promise.resolve({
      begin: (row: Row, token: string, [first, rest] = PARTS): Begun => {
        const socket = connect({ port: Number(port), host: hostname });
        const length = {
          'content-length': String(first.length + rest.length),
          connection: 'close',
        };
        socket.write(`${row.method} ${row.path} HTTP/1.1\r\nhost: h\r\n`);
        socket.write(`${headerLines({ ...headersFor(row, token), ...length })}\r\n`);
        socket.write(first);
        const answered = textOf(socket).then((text) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]));
        return {
          answered,
          finish: () => {
            socket.write(rest);
            return answered;
          },
        };
      },
      end: () => undefined,
    });
  },
  'HTTP/2': async () => {
    const sessions = Array.from({ length: Math.ceil(rows.length / STREAMS_OF_SESSION) }, () =>
      connectHttp2(keelson.https, { rejectUnauthorized: false }),
    );
    await Promise.all(sessions.map((session) => once(session, 'connect')));
    let begun = 0;
    return {
      begin: (row: Row, token: string, [first, rest] = PARTS): Begun => {
        const session = sessions[(begun += 1) % sessions.length];
        const head = { ':method': row.method, ':path': row.path, ...headersFor(row, token) };
        const stream = session?.request(head, { endStream: false });
        const answered = new Promise<number>((resolve, reject) => {
          stream?.once('response', (headers) => resolve(Number(headers[':status'])));
          stream?.once('error', reject);
        });
        stream?.write(first);
        return {
          answered,
          finish: () => {
            stream?.end(rest);
            stream?.resume();
            return answered;
          },
        };
      },
      end: () => {
        for (const session of sessions) session.destroy();
      },
    };
  },
} as const;

/** Tokens with every right, and how each is revoked. */
const createTokens = async () => {
  const made = await asOperator('POST', '/v1/auth/token/create', { policies: ['all'] });
  const { client_token: secret, accessor } = made.document['auth'] as Record<string, string>;
  const { document } = await asOperator('GET', '/api/v2/account/details');
  const user = (document['data'] as { id: string }).id;
  const created = await asOperator('POST', `/api/v2/users/${user}/authentication-tokens`, {
    data: { type: 'authentication-tokens', attributes: {} },
  });
  const { id, attributes } = created.document['data'] as {
    id: string;
    attributes: { token: string };
  };
  return {
    tokenFor: (path: string) => (isApi(path) ? attributes.token : (secret ?? '')),
    revoke: async () => {
      await asOperator('POST', '/v1/auth/token/revoke-accessor', { accessor });
      await asOperator('DELETE', `/api/v2/authentication-tokens/${id}`);
    },
  };
};

/** The parts of both APIs that the requests would change. */
const contents = async () => {
  const read: unknown[] = [];
  const { document } = await asOperator('GET', '/api/v2/account/details');
  read.push(document);
  const user = (document['data'] as { id: string }).id;
  for (const path of ['/api/v2/organizations', `/api/v2/users/${user}/authentication-tokens`])
    read.push((await asOperator('GET', path)).document['data']);
  for (const path of ['mounts', 'auth', 'audit', 'policies/acl?list=true', 'seal-status'])
    read.push((await asOperator('GET', `/v1/sys/${path}`)).document['data']);
  read.push((await asOperator('LIST', '/v1/auth/token/accessors')).document['data']);
  return read;
};

const takeSnapshot = async (): Promise<Buffer> => {
  const answer = await fetch(`${keelson.http}/v1/sys/storage/raft/snapshot`, {
    headers: { 'x-service-token': keelson.rootToken },
  });
  return Buffer.from(await answer.arrayBuffer());
};

const gauge = async (name: string): Promise<number> => {
  const metrics = await (await fetch(`${keelson.http}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
};
const heldBytes = () => gauge('keelson_http_request_bodies_bytes');

describe('a token that is revoked while the body of its request arrives', () => {
  test('is tried at every route that takes a body', () => {
    expect(rows.filter(({ path }) => isApi(path)).length).toBeGreaterThan(120);
    expect(rows.filter(({ path }) => !isApi(path)).length).toBeGreaterThan(150);
  });

  test.for(['HTTP/1.1', 'HTTP/2'] as const)(
    'changes nothing any more over %s',
    { timeout: SLOW_MS },
    async (protocol) => {
      const { begin, end } = await PROTOCOLS[protocol]();
      const { tokenFor, revoke } = await createTokens();
      const begun = rows.map((row) => begin(row, tokenFor(row.path)));
      // A body is counted once the caller has been identified.
      await expect.poll(heldBytes, { timeout: SLOW_MS / 2 }).toBe(rows.length * FIRST_BYTES);
      await revoke();
      const before = await contents();
      const statuses = await Promise.all(begun.map((one) => one.finish()));
      expect(rows.map(({ method, path }, at) => `${method} ${path}: ${statuses[at]}`)).toEqual(
        rows.map(({ method, path }) => `${method} ${path}: ${isApi(path) ? 401 : 403}`),
      );
      expect(await contents()).toEqual(before);
      end();
    },
  );
});

describe('a token that is revoked while a snapshot arrives', () => {
  const path = '/v1/sys/storage/raft/snapshot';

  test.for([
    ['HTTP/1.1', path],
    ['HTTP/1.1', `${path}-force`],
    ['HTTP/2', path],
  ] as const)('restores nothing over %s at %s', async ([protocol, at]) => {
    const archive = await takeSnapshot();
    await asOperator('PUT', '/v1/sys/policies/acl/later', {
      policy: 'path "x" { policy = "read" }',
    });
    const { begin, end } = await PROTOCOLS[protocol]();
    const { tokenFor, revoke } = await createTokens();
    const parts = parted(archive, archive.length - 1);
    const begun = begin({ method: 'POST', path: at }, tokenFor(at), parts);
    await expect.poll(() => gauge('keelson_http_requests_under_way')).toBe(1);
    await revoke();
    expect(await begun.finish()).toBe(403);
    expect((await asOperator('GET', '/v1/sys/policies/acl/later')).status).toBe(200);
    await asOperator('DELETE', '/v1/sys/policies/acl/later');
    end();
  });
});

test('a snapshot that goes on after its end is refused before its last byte has arrived', async () => {
  const { begin, end } = await PROTOCOLS['HTTP/1.1']();
  const path = '/v1/sys/storage/raft/snapshot';
  // Zlib takes zeros for padding.
  const parts = parted(Buffer.concat([await takeSnapshot(), Buffer.alloc(2)]), -1);
  const begun = begin({ method: 'POST', path }, keelson.rootToken, parts);
  expect(await begun.answered).toBe(400);
  await begun.finish();
  end();
});

describe('a token that lives on while the body of its request arrives', () => {
  test.for(['HTTP/1.1', 'HTTP/2'] as const)('is used once over %s', async (protocol) => {
    const { begin, end } = await PROTOCOLS[protocol]();
    const body = { policies: ['all'], num_uses: 1 };
    const made = await asOperator('POST', '/v1/auth/token/create', body);
    const { client_token: token = '' } = made.document['auth'] as Record<string, string>;
    const begun = begin({ method: 'POST', path: '/v1/sys/tools/random' }, token);
    await expect.poll(heldBytes).toBe(FIRST_BYTES);
    expect(await begun.finish()).toBe(200);
    expect((await send('POST', '/v1/sys/tools/random', token, {})).status).toBe(403);
    end();
  });
});
