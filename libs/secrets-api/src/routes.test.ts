import {
  bufferedBody,
  createEdgeService,
  type EdgeResponse,
  type EdgeService,
  type Route,
} from '@keelson/edge';
import { Dialect } from '@keelson/proto/edge/v1/edge';
import { describe, expect, test } from 'vitest';
import {
  createSecretsErrorRenderer,
  field,
  mirrored,
  rawResponse,
  secretsRoutes,
  topLevel,
} from './secrets-api.ts';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly type?: string;
  readonly body?: string;
}

/** Operations of an OpenAPI document. */
type Described = Record<
  string,
  Record<string, { readonly parameters: readonly { readonly name: string }[] }>
>;

const reported: [unknown, string][] = [];
const serve = (routes: readonly Route[]): EdgeService =>
  createEdgeService({
    service: 'sample',
    version: '1',
    pathPrefix: '/v1',
    routes,
    renderError: createSecretsErrorRenderer((error, requestId) =>
      reported.push([error, requestId]),
    ),
  });

const send = async (service: EdgeService, sent: Sent): Promise<EdgeResponse> =>
  service.handle({
    head: {
      requestId: 'r-1',
      method: sent.method ?? 'POST',
      path: sent.path ?? '/things/web',
      query: sent.query ?? '',
      headers: { 'content-type': sent.type ?? 'application/json' },
      dialect: Dialect.SPECIFICATION,
      remoteAddress: '',
      baseUrl: '',
      traceparent: '',
      namespace: undefined,
      mount: undefined,
      caller: undefined,
      principal: undefined,
    },
    body: bufferedBody(Buffer.from(sent.body ?? '')),
    signal: new AbortController().signal,
  });

const answer = async (service: EdgeService, sent: Sent): Promise<[number, unknown]> => {
  const response = await send(service, sent);
  const text = Buffer.from(response.body as Uint8Array).toString();
  return [response.head.status, text === '' ? undefined : (JSON.parse(text) as unknown)];
};

const fields = {
  name: field.string({ description: 'Name.', required: true }),
  size: field.integer({ description: 'Size.', default: 1 }),
  tags: field.commaList({ description: 'Tags.', default: [] }),
};

const things = serve(
  secretsRoutes({
    path: '/things/:name',
    tag: 'things',
    fields,
    operations: {
      read: {
        summary: 'Read.',
        handle: ({ fields: f }) => (f.name === 'none' ? undefined : { data: f }),
      },
      list: { summary: 'List.', handle: ({ fields: f }) => ({ data: { keys: f.tags } }) },
      update: {
        summary: 'Write.',
        handle: ({ fields: f, given, warnings }) => {
          if (f.size === 0) return undefined;
          if (f.size === 9) warnings.push('size 9 is odd');
          return { data: { ...f, given: [...given].sort() } };
        },
      },
      patch: {
        summary: 'Change.',
        handle: ({ fields: f, given }) => ({ data: { ...f, given: [...given].sort() } }),
      },
      delete: { summary: 'Delete.', handle: () => undefined },
    },
  }),
);

const envelope = (data: unknown, warnings: readonly string[] | null = null): unknown => ({
  request_id: 'r-1',
  lease_id: '',
  renewable: false,
  lease_duration: 0,
  data,
  wrap_info: null,
  warnings,
  auth: null,
});

describe('answers', () => {
  test('data goes into the envelope', async () => {
    expect(await answer(things, { body: '{"size":"2","tags":"a,b"}' })).toEqual([
      200,
      envelope({ name: 'web', size: 2, tags: ['a', 'b'], given: ['name', 'size', 'tags'] }),
    ]);
  });

  test('an empty answer is 204, a read without a result 404', async () => {
    expect(await answer(things, { body: '{"size":0}' })).toEqual([204, undefined]);
    expect(await answer(things, { body: '{"size":0,"what":null,"name":"web"}' })).toEqual([
      204,
      undefined,
    ]);
    expect(await answer(things, { method: 'DELETE' })).toEqual([204, undefined]);
    expect(await answer(things, { method: 'GET', path: '/things/none' })).toEqual([
      404,
      { errors: [] },
    ]);
  });

  test('an empty answer names the type that others have: the Java driver requires it', async () => {
    const { head } = await send(things, { method: 'DELETE' });
    expect(head.status).toBe(204);
    expect(head.headers).toContainEqual({ name: 'content-type', value: 'application/json' });
  });

  test('a list without keys is 404', async () => {
    expect(await answer(things, { method: 'LIST' })).toEqual([404, { errors: [] }]);
    expect(await answer(things, { method: 'LIST', query: 'list=true&tags=a' })).toEqual([
      200,
      envelope({ keys: ['a'] }),
    ]);
  });

  describe('a page of a list', () => {
    const info = (names: string) =>
      Object.fromEntries(names.split('').map((name) => [name, { is: name }]));
    const lists = serve([
      ...secretsRoutes({
        path: '/letters/:name',
        tag: 'letters',
        hasSettings: true,
        fields,
        operations: {
          list: {
            summary: 'List.',
            handle: () => ({ data: { keys: ['a', 'b', 'd'], key_info: info('abd') } }),
          },
        },
      }),
      ...secretsRoutes({
        path: '/by-age',
        tag: 'letters',
        fields: {},
        operations: {
          list: { summary: 'List.', handle: () => ({ data: { keys: ['d', 'a', 'c'] } }) },
        },
      }),
      ...secretsRoutes({
        path: '/own',
        tag: 'letters',
        fields: {},
        operations: {
          list: {
            summary: 'List.',
            pagesItself: true,
            handle: ({ fields: f }) => ({ data: { keys: [`after ${f.after}`, `${f.limit}`] } }),
          },
        },
      }),
    ]);
    const list = (query: string, path = '/letters/web') =>
      answer(lists, { method: 'LIST', path, query });
    const page = (names: string) => [
      200,
      envelope({ keys: names.split(''), key_info: info(names) }),
    ];

    test('begins after a key and ends at a limit, with what is behind its keys alone', async () => {
      expect(await list('')).toEqual(page('abd'));
      expect(await list('limit=2')).toEqual(page('ab'));
      expect(await list('after=a')).toEqual(page('bd'));
      expect(await list('after=a&limit=1')).toEqual(page('b'));
      for (const limit of ['0', '-1', '3'])
        expect(await list(`limit=${limit}`)).toEqual(page('abd'));
    });

    test('follows a key that is no longer there, and is 404 after the last one', async () => {
      expect(await list('after=c')).toEqual(page('d'));
      expect(await list('after=d')).toEqual([404, { errors: [] }]);
    });

    test('follows the place of a key where a list has another order', async () => {
      expect(await list('after=d', '/by-age')).toEqual([200, envelope({ keys: ['a', 'c'] })]);
      expect(await list('after=a', '/by-age')).toEqual([200, envelope({ keys: ['c'] })]);
    });

    test('is that of the handler where it reads pages itself', async () => {
      expect(await list('after=x&limit=1', '/own')).toEqual([
        200,
        envelope({ keys: ['after x', '1'] }),
      ]);
    });

    test('is refused for a limit that is no number, naming the field', async () => {
      expect(await list('limit=many')).toEqual([
        400,
        {
          errors: [
            'Field validation failed: error converting input for field "limit": expected an integer',
          ],
        },
      ]);
    });

    test('is described for every list, and for no other operation', async () => {
      const named = async (service: EdgeService, path: string, method: string) => {
        const { pathsJson } = await service.describe();
        const paths = JSON.parse(pathsJson) as Described;
        return paths[path]?.[method]?.parameters.map(({ name }) => name);
      };
      expect(await named(lists, '/letters/{name}', 'x-list')).toEqual(['name', 'after', 'limit']);
      expect(await named(lists, '/own', 'x-list')).toEqual(['after', 'limit']);
      expect(await named(things, '/things/{name}', 'get')).toEqual(['name', 'size', 'tags']);
    });
  });

  test('raw, top-level and mirrored answers', async () => {
    const routes = secretsRoutes({
      path: '/:kind',
      tag: 'kinds',
      fields: { kind: field.string({ description: 'Kind.', required: true }) },
      operations: {
        read: {
          summary: 'Read.',
          handle: ({ fields: f }) => {
            if (f.kind === 'raw') return rawResponse(200, 'text/plain', Buffer.from('"bytes"'));
            return f.kind === 'top' ? topLevel({ sealed: true }, 503) : mirrored({ 'a/': {} });
          },
        },
      },
    });
    const service = serve(routes);
    expect(await answer(service, { method: 'GET', path: '/raw' })).toEqual([200, 'bytes']);
    expect(await answer(service, { method: 'GET', path: '/top' })).toEqual([503, { sealed: true }]);
    expect(await answer(service, { method: 'GET', path: '/mirrored' })).toEqual([
      200,
      { ...(envelope({ 'a/': {} }) as object), 'a/': {} },
    ]);
  });
});

test('settings are parameters of writes, and not of reads and deletions', async () => {
  const handle = ({ fields: f }: { readonly fields: object }) => ({ data: { ...f } });
  const routes = secretsRoutes({
    path: '/things/:name',
    tag: 'things',
    hasSettings: true,
    fields,
    operations: {
      read: { summary: 'Read.', handle },
      update: { summary: 'Write.', handle },
      delete: { summary: 'Delete.', handle },
    },
  });
  const service = serve(routes);
  const ignored = ['Endpoint ignored these unrecognized parameters: [size]'];
  for (const method of ['GET', 'DELETE'])
    expect(await answer(service, { method, query: 'size=many' })).toEqual([
      200,
      envelope({ name: 'web' }, ignored),
    ]);
  expect(await answer(service, { body: '{"size":7}' })).toEqual([
    200,
    envelope({ name: 'web', size: 7, tags: [] }),
  ]);
  const { pathsJson } = await service.describe();
  const { get, post } = JSON.parse(pathsJson)['/things/{name}'];
  expect(get.parameters.map(({ name }: { name: string }) => name)).toEqual(['name']);
  expect(Object.keys(post.requestBody.content['application/json'].schema.properties)).toEqual([
    'size',
    'tags',
  ]);
});

test('warns of unknown parameters and of those the path replaced', async () => {
  expect(await answer(things, { body: '{"z":1,"name":"x","a":2,"size":9}' })).toEqual([
    200,
    envelope({ name: 'web', size: 9, tags: [], given: ['a', 'name', 'size', 'z'] }, [
      'size 9 is odd',
      'Endpoint ignored these unrecognized parameters: [a z]',
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]),
  ]);
});

test('an answer without content carries the warnings, too', async () => {
  expect(await answer(things, { body: '{"size":0,"sise":1}' })).toEqual([
    200,
    envelope(null, ['Endpoint ignored these unrecognized parameters: [sise]']),
  ]);
});

test('a patch needs its media type, ignores defaults, and shows what is removed', async () => {
  expect(await answer(things, { method: 'PATCH', body: '{}' })).toEqual([
    415,
    {
      errors: [
        'PATCH requires Content-Type of application/merge-patch+json, provided application/json',
      ],
    },
  ]);
  const type = 'application/merge-patch+json; charset=utf-8';
  expect(await answer(things, { method: 'PATCH', type, body: '{"size":null}' })).toEqual([
    200,
    envelope({ name: 'web', given: ['name', 'size'] }),
  ]);
});

describe('bodies', () => {
  const form = 'application/x-www-form-urlencoded';
  test('a form is parsed as one, and JSON labelled as a form is parsed as JSON', async () => {
    const expected = [
      200,
      envelope({ name: 'web', size: 3, tags: ['a', 'b'], given: ['name', 'size', 'tags'] }),
    ];
    expect(await answer(things, { type: form, body: 'size=3&tags=a&tags=b' })).toEqual(expected);
    expect(await answer(things, { type: form, body: '{"size":3,"tags":["a","b"]}' })).toEqual(
      expected,
    );
  });

  test('a form has at most as many parameters as an object has entries, even with one name', async () => {
    const pairs = (count: number): string =>
      Array.from({ length: count }, () => 'tags=a').join('&');
    expect((await answer(things, { type: form, body: pairs(10_000) }))[0]).toBe(200);
    expect(await answer(things, { type: form, body: pairs(10_001) })).toEqual([
      400,
      { errors: ['a form has at most 10000 parameters'] },
    ]);
  });

  test.for([
    ['{', 'it ends too early, at line 1, column 2'],
    ['[]', 'it is not an object'],
    ['5', 'it is not an object'],
    [`{"a":"${'x'.repeat((1 << 20) + 1)}"}`, 'a string exceeds the limit of 1048576'],
    [`{"a":[${'0,'.repeat(10_000)}0]}`, 'an array exceeds the limit of 10000'],
    [`{"a":${'['.repeat(301)}${']'.repeat(301)}}`, 'nesting exceeds the limit of 300'],
  ] as const)('refuses a malformed body', async ([body, reason]) => {
    expect(await answer(things, { body })).toEqual([
      400,
      { errors: [`the request body is not valid JSON: ${reason}`] },
    ]);
  });

  test('empty and null bodies are empty objects', async () => {
    for (const body of ['', 'null', '{}']) expect((await answer(things, { body }))[0]).toBe(200);
  });
});

test('a wrong type is refused naming the field', async () => {
  expect(await answer(things, { body: '{"size":"large"}' })).toEqual([
    400,
    {
      errors: [
        'Field validation failed: error converting input for field "size": expected an integer',
      ],
    },
  ]);
});

test('unknown paths and methods have their codes', async () => {
  expect(await answer(things, { path: '/nowhere' })).toEqual([
    404,
    { errors: ['unsupported path'] },
  ]);
  expect(await answer(things, { method: 'TRACE' })).toEqual([
    405,
    { errors: ['unsupported operation'] },
  ]);
  const { head } = await send(things, { method: 'TRACE' });
  // RFC 9110 §15.5.6.
  expect(head.headers).toContainEqual({
    name: 'allow',
    value: expect.stringContaining('POST, PUT'),
  });
});

test('a bug reveals only the id of the request, under which it is reported', async () => {
  const bug = new Error('secret detail');
  const broken = secretsRoutes({
    path: '/broken',
    tag: 'things',
    fields: {},
    operations: { read: { summary: 'Break.', handle: () => Promise.reject(bug) } },
  });
  expect(await answer(serve(broken), { method: 'GET', path: '/broken' })).toEqual([
    500,
    { errors: ['internal error, request id r-1'] },
  ]);
  expect(reported).toEqual([[bug, 'r-1']]);
});

test('fields describe themselves in OpenAPI', async () => {
  const { pathsJson } = await things.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, unknown>>;
  expect(Object.keys(paths['/things/{name}'] ?? {}).sort()).toEqual(
    ['delete', 'get', 'patch', 'post', 'put', 'x-list'].sort(),
  );
  expect(paths['/things/{name}']?.['post']).toMatchObject({
    tags: ['things'],
    parameters: [{ name: 'name', in: 'path', required: true }],
    requestBody: {
      content: {
        'application/json': { schema: { properties: { size: { type: 'integer', default: 1 } } } },
      },
    },
  });
});
