import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const BASE = 'sys/config/ui/custom-messages';
const TEXT = Buffer.from('Maintenance tonight').toString('base64');
// The manual clock is set to the beginning of 2030.
const VALID = { title: 'Note', message: TEXT, start_time: '2029-12-31T00:00:00.000000001Z' };

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const create = async (body: object = {}, namespace = '') =>
  harness.asRoot('POST', BASE, { body: { ...VALID, ...body }, namespace });

describe('creating', () => {
  test('returns the complete message with defaults', async () => {
    const { status, body } = await create();
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      title: 'Note',
      authenticated: true,
      type: 'banner',
      message: TEXT,
      start_time: '2029-12-31T00:00:00.000000001Z',
      end_time: null,
      link: null,
      options: null,
      active: true,
    });
    expect((await harness.asRoot('GET', `${BASE}/${body.data.id}`)).body.data).toEqual(body.data);
  });

  test('accepts the collection with a slash at its end', async () => {
    expect((await harness.asRoot('POST', `${BASE}/`, { body: VALID })).status).toBe(200);
  });

  test.for([
    [{ title: undefined, message: undefined }, 'missing title parameter value'],
    [{ title: ['a'] }, 'invalid title parameter value: expected a string'],
    [
      { authenticated: 'maybe', message: '?' },
      'invalid authenticated parameter value: expected a boolean',
    ],
    [{ type: {} }, 'invalid type parameter value: expected a string'],
    [{ message: undefined, start_time: undefined }, 'missing message parameter value'],
    [
      { message: 'no base64!', start_time: 'x' },
      'invalid message parameter value, must be base64 encoded',
    ],
    [{ message: 'abcde' }, 'invalid message parameter value, must be base64 encoded'],
    [{ message: 'ab-_' }, 'invalid message parameter value, must be base64 encoded'],
    [{ start_time: undefined, end_time: 'x' }, 'missing start_time parameter value'],
    [{ start_time: 'soon' }, 'invalid start_time parameter value: expected an RFC 3339 timestamp'],
    [
      { end_time: 'late', link: 5 },
      'invalid end_time parameter value: expected an RFC 3339 timestamp',
    ],
    [
      { link: { a: 'x', b: 'y' } },
      'invalid number of elements in link parameter value; only a single element can be provided',
    ],
    [{ link: { a: 5 } }, 'invalid url for "a" key in link parameter value'],
    ...[
      'javascript:alert(1)',
      ' JavaScript:x',
      'java\tscript:x',
      'data:text/html,x',
      'vbscript:x',
    ].map((url): [object, string] => [
      { link: { a: url } },
      'invalid url for "a" key in link parameter value: it must be a relative path, or begin with http:, https: or mailto:',
    ]),
    [{ link: { '': 'https://x' } }, 'missing title key in link parameter value'],
    [{ link: { a: '' }, options: 5 }, 'missing url for "a" key in link parameter value'],
    [
      { options: 5, end_time: '2020-01-01T00:00:00Z' },
      'invalid options parameter value: expected an object',
    ],
    [
      { end_time: '2029-12-31T00:00:00.000000001Z', type: 'toast' },
      'failed to create custom message: message start time must occur before end time',
    ],
    [{ type: 'toast' }, 'failed to create custom message: unrecognized message type'],
  ] as const)('refuses %j', async ([body, text]) => {
    expect(await create(body)).toEqual({ status: 400, body: { errors: [text] } });
  });

  test.for([
    [{ title: '' }, { title: '' }],
    [{ message: TEXT.replace(/=+$/, '') }, { message: TEXT.replace(/=+$/, '') }],
    ...['/ui/status', 'help', '//status.example', 'mailto:ops@example.com'].map(
      (url): [object, object] => [{ link: { a: url } }, { link: { a: url } }],
    ),
    [{ link: {} }, { link: null }],
    [{ link: { '': '' } }, { link: null }],
    [
      { link: { Status: 'https://status.example' } },
      { link: { Status: 'https://status.example' } },
    ],
    [{ options: { dismiss: true } }, { options: { dismiss: true } }],
    [
      { authenticated: 'false', type: 'modal' },
      { authenticated: false, type: 'modal' },
    ],
    [{ end_time: null }, { end_time: null, active: true }],
    [{ end_time: '2030-01-01T00:00:00Z' }, { active: false }],
    [{ end_time: '2030-01-01T00:00:00.001Z' }, { active: true }],
    [{ start_time: '2030-01-01T00:00:00Z' }, { active: false }],
    [{ start_time: 1_893_455_999 }, { start_time: '2029-12-31T23:59:59Z', active: true }],
  ] as const)('accepts %j', async ([body, expected]) => {
    const answered = await create(body);
    expect(answered.status).toBe(200);
    expect(answered.body.data).toMatchObject(expected);
  });

  test('stops at a hundred messages, also for fifty simultaneous callers', async () => {
    for (let count = 0; count < 90; count++) await create();
    const statuses = (await Promise.all(Array.from({ length: 50 }, () => create()))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 400)).toHaveLength(40);
    expect(await create()).toEqual({
      status: 400,
      body: {
        errors: ['failed to create custom message: maximum number of messages already exist'],
      },
    });
    expect((await harness.asRoot('LIST', BASE)).body.data.keys).toHaveLength(100);
  });
});

describe('reading, replacing, deleting', () => {
  test('an unknown id is 404 before the body is validated, and deleting it is 204', async () => {
    for (const id of ['nothing', '00000000-0000-4000-8000-000000000000']) {
      const unknown = { status: 404, body: { errors: ['custom message not found'] } };
      expect(await harness.asRoot('GET', `${BASE}/${id}`)).toEqual(unknown);
      const body = { ...VALID, type: 'toast' };
      expect(await harness.asRoot('POST', `${BASE}/${id}`, { body })).toEqual(unknown);
      expect((await harness.asRoot('DELETE', `${BASE}/${id}`)).status).toBe(204);
    }
  });

  test('replacing resets absent members to their defaults', async () => {
    const { id } = (
      await create({
        type: 'modal',
        authenticated: false,
        link: { a: 'b' },
        end_time: '2031-01-01T00:00:00Z',
      })
    ).body.data;
    const { status, body } = await harness.asRoot('PUT', `${BASE}/${id}`, {
      body: { ...VALID, title: 'Other' },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      title: 'Other',
      type: 'banner',
      authenticated: true,
      link: null,
      end_time: null,
    });
    expect(
      await harness.asRoot('POST', `${BASE}/${id}`, { body: { ...VALID, type: 'toast' } }),
    ).toEqual({
      status: 400,
      body: { errors: ['failed to update custom message: unrecognized message type'] },
    });
  });

  test('a deleted message is gone, and an empty list is 404', async () => {
    const { id } = (await create()).body.data;
    expect((await harness.asRoot('DELETE', `${BASE}/${id}`)).status).toBe(204);
    expect((await harness.asRoot('GET', `${BASE}/${id}`)).status).toBe(404);
    expect(await harness.asRoot('LIST', `${BASE}/`)).toEqual({ status: 404, body: { errors: [] } });
  });
});

test('the list is filtered by every combination of its three filters', async () => {
  const variants = [true, false].flatMap((authenticated) =>
    ['banner', 'modal'].flatMap((type) =>
      [true, false].map((active) => ({ authenticated, type, active })),
    ),
  );
  for (const { authenticated, type, active } of variants)
    await create({
      authenticated,
      type,
      ...(active ? {} : { start_time: '2035-01-01T00:00:00Z' }),
    });
  for (const { authenticated, type, active } of variants) {
    const query = `active=${active}&authenticated=${authenticated}&type=${type}`;
    const { body } = await harness.asRoot('LIST', BASE, { query });
    expect(Object.values(body.data.key_info)).toEqual([
      expect.objectContaining({ authenticated, type, active, title: 'Note', end_time: null }),
    ]);
  }
  const ignored = await harness.asRoot('LIST', BASE, { query: 'type=toast' });
  expect(ignored.body.data.keys).toHaveLength(8);
  expect(await harness.asRoot('LIST', BASE, { query: 'active=perhaps' })).toMatchObject({
    status: 400,
    body: { errors: ['invalid active parameter value: expected a boolean'] },
  });
});

test('messages belong to one namespace, and are shown in it and below, nearest first', async () => {
  const [parent, child] = ['parent', 'parent/child'];
  await harness.createNamespace(parent);
  await harness.createNamespace(child);
  for (const namespace of ['', parent, child])
    for (const authenticated of [true, false])
      await create({ title: `${namespace}|${authenticated}`, authenticated }, namespace);
  await create({ title: 'over', end_time: '2029-12-31T01:00:00Z' }, child);

  const listed = await harness.asRoot('LIST', BASE, { namespace: parent });
  expect(listed.body.data.keys).toHaveLength(2);

  const root = await harness.createToken(['root']);
  const titles = async (path: string, sent: object): Promise<string[]> => {
    const { body } = await harness.call('GET', `sys/internal/ui/${path}`, sent);
    return Object.values(body.data.key_info ?? {}).map(
      (shown) => (shown as { title: string }).title,
    );
  };
  expect(await titles('authenticated-messages', { namespace: child, token: root })).toEqual([
    'parent/child|true',
    'parent|true',
    '|true',
  ]);
  expect(await titles('authenticated-messages', { namespace: child })).toEqual([]);
  expect(await titles('unauthenticated-messages', { namespace: parent })).toEqual([
    'parent|false',
    '|false',
  ]);
  expect((await harness.call('GET', 'sys/internal/ui/authenticated-messages')).body.data).toEqual(
    {},
  );
});
