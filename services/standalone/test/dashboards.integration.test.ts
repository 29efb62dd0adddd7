/**
 * Lists as dashboards read them again and again, on a real process: compressed, not sent again while they are
 * unchanged, with only the fields that are shown, and with a stated pause when there are too many requests.
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MEDIA_TYPE = 'application/vnd.api+json';
const O = '/organizations/acme';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

const send = (method: string, path: string, body?: object, headers: object = {}) =>
  fetch(`${keelson.http}/api/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${keelson.apiToken}`,
      'content-type': MEDIA_TYPE,
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const create = async (path: string, type: string, attributes: object): Promise<string> => {
  const answer = await send('POST', path, { data: { type, attributes } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data.id;
};

/** Lists whose entries have a text that is long enough for compression. */
const LISTS = [
  ['workspaces', `${O}/workspaces`, 'description'],
  ['projects', `${O}/projects`, 'description'],
  ['varsets', `${O}/varsets`, 'description'],
  ['vars', '/workspaces/:workspace/vars', 'description'],
] as const;
let workspace = '';
const at = (path: string): string => path.replace(':workspace', workspace);

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  await create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  workspace = await create(`${O}/workspaces`, 'workspaces', { name: 'app' });
  const description = 'Shown on the board. '.repeat(12);
  for (const [type, path] of LISTS)
    for (let index = 0; index < 40; index += 1) {
      const named =
        type === 'vars' ? { key: `v${index}`, category: 'env', value: '' } : { name: `n-${index}` };
      await create(at(path), type, { ...named, description });
    }
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

test.for(LISTS)('%s are compressed, and not sent again until they change', async ([type, path]) => {
  const target = `${at(path)}?page[size]=100`;
  const plain = await send('GET', target, undefined, { 'accept-encoding': 'identity' });
  const document = await plain.text();
  expect(plain.headers.get('content-encoding')).toBeNull();
  for (const coding of ['gzip', 'br']) {
    const packed = await send('GET', target, undefined, { 'accept-encoding': coding });
    expect(packed.headers.get('content-encoding')).toBe(coding);
    expect(packed.headers.get('vary')).toBe('accept-encoding');
    expect(await packed.text()).toBe(document);
  }
  const known = { 'if-none-match': plain.headers.get('etag') ?? '' };
  const again = await send('GET', target, undefined, known);
  expect([again.status, await again.text()]).toEqual([304, '']);
  const [{ id }] = (JSON.parse(document) as { data: [{ id: string }] }).data;
  const one = type === 'vars' ? `${at(path)}/${id}` : `/${type}/${id}`;
  const changed = await send('PATCH', one, {
    data: { type, id, attributes: { description: 'another' } },
  });
  expect(changed.status).toBe(200);
  expect((await send('GET', target, undefined, known)).status).toBe(200);
});

test.for(LISTS)('%s are shown with the fields that are asked for', async ([type, path, field]) => {
  const answer = await send('GET', `${at(path)}?fields[${type}]=${field}`);
  const { data } = (await answer.json()) as { data: Record<string, object>[] };
  expect(data.length).toBeGreaterThan(1);
  for (const { attributes, relationships } of data)
    expect([Object.keys(attributes ?? {}), relationships ?? {}]).toEqual([[field], {}]);
});

test('too many requests are told when to come again', async () => {
  const limitedFolder = join(folder.path, 'limited');
  const limited = await startKeelson({
    dataFolder: limitedFolder,
    env: { KEELSON_RATE_LIMIT: '4' },
  });
  try {
    const asked = await Promise.all(
      Array.from({ length: 100 }, () =>
        fetch(`${limited.http}/api/v2/organizations`, {
          headers: { authorization: `Bearer ${limited.apiToken}` },
        }),
      ),
    );
    const refused = asked.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  } finally {
    await limited.stop();
  }
});
