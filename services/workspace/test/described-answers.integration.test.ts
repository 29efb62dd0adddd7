/**
 * The description of answers in the OpenAPI document.
 *
 * | answer      | described by                                                    |
 * | ----------- | --------------------------------------------------------------- |
 * | 200, 201    | the resources in `data`, or the media type of a file            |
 * | 202, 204    | nothing; with warnings, 200 takes the place of 204              |
 * | 302, 307    | the header `location`                                           |
 * | any refusal | the schema of errors                                            |
 *
 * That the answers are so is seen by every test that uses the harness (`workspace-harness.ts`); among them is
 * the table of callers, which has a successful request for every route.
 */
import { toOpenApiDocument } from '@keelson/edge';
import { type DescribedOperation, readDescribed } from '@keelson/testkit/described-answers';
import { afterAll, expect, test } from 'vitest';
import { requireDescribed, startHarnessOf } from './workspace-harness.ts';

const harness = await startHarnessOf('acme');
const api = await readDescribed(harness.service.edge, toOpenApiDocument);
afterAll(() => harness[Symbol.asyncDispose]());

interface Described {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: { properties?: object } }>>;
}

/** The part that the description of one response lacks. */
const missing = (status: string, response: Described): string | undefined => {
  if (status === '202' || status === '204')
    return response.content === undefined ? undefined : 'has content';
  if (status.startsWith('3'))
    return response.headers?.['location'] === undefined ? 'has no location' : undefined;
  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  if (type !== 'application/vnd.api+json') return type === undefined ? 'has no content' : undefined;
  const { data, meta } = (content?.schema?.properties ?? {}) as { data?: object; meta?: object };
  const text = JSON.stringify(data ?? {});
  return text.includes('#/components/schemas/') || (data === undefined && meta !== undefined)
    ? undefined
    : 'names no resource';
};

const operations = Object.entries(api.paths)
  .filter(([path]) => !path.startsWith('/openapi/'))
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): readonly [string, DescribedOperation] => [
      `${method} ${path}`,
      operation,
    ]),
  );

test('every answer of every route is described', () => {
  const faults = operations.flatMap(([name, { responses }]) =>
    Object.entries(responses)
      .filter(([status]) => /^[23]/.test(status))
      .flatMap(([status, response]) => {
        const fault = missing(status, response);
        return fault === undefined ? [] : [`${name} ${status} ${fault}`];
      }),
  );
  expect(faults).toEqual([]);
});

test('every route describes its refusals', () => {
  const without = operations.filter(([, { responses }]) => responses['default'] === undefined);
  expect(without.map(([name]) => name)).toEqual([]);
});

test('every resource that is declared is answered or included somewhere', () => {
  const paths = JSON.stringify(api.paths);
  const schemas = Object.keys(api.components.schemas).filter((name) => name !== 'Errors');
  const refers = (text: string, name: string) => text.includes(`#/components/schemas/${name}"`);
  expect(schemas.filter((name) => !refers(paths, name))).toEqual([]);
});

test.for([
  [
    'an attribute that is not declared',
    { 'no-such': 1 },
    '/data/attributes/no-such is not described',
  ],
  ['an attribute of another type', { name: 1 }, '/data/attributes/name must be string'],
  ['an attribute that is missing', { name: undefined }, "must have required property 'name'"],
] as const)('the comparison sees %s', async ([, change, fault]) => {
  const { data } = await harness.call('GET', '/organizations/acme');
  const body = JSON.stringify({ data: { ...data, attributes: { ...data.attributes, ...change } } });
  const answered = {
    method: 'GET',
    path: '/organizations/acme',
    query: '',
    status: 200,
    contentType: 'application/vnd.api+json',
    body,
  };
  await expect(requireDescribed(harness.service.edge, answered)).rejects.toThrow(fault);
});
