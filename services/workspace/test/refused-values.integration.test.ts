/** Every field of every request document, with values that its schema does not have. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  documentWith,
  isEnumeration,
  limitOf,
  MINIMAL,
  type RequestForm,
  type Schema,
  toRequestForms,
  typesOf,
} from './request-fields.ts';
import { type Harness, startHarness } from './workspace-harness.ts';

let harness: Harness;
let forms: readonly RequestForm[];
beforeAll(async () => {
  harness = await startHarness();
  forms = toRequestForms((await harness.service.edge.describe()).pathsJson);
});
afterAll(() => harness[Symbol.asyncDispose]());

const VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  boolean: true,
  number: 7.5,
  string: 'text',
  array: ['text', 7],
  object: { text: 'text' },
};

const wrongTypes = (schema: Schema): readonly unknown[] => {
  const accepted = typesOf(schema);
  return Object.entries(VALUES).flatMap(([type, value]) => (accepted.has(type) ? [] : [value]));
};

const beyondLimits = (schema: Schema): readonly unknown[] => {
  const limit = (name: Parameters<typeof limitOf>[1], value: (limit: number) => unknown) => {
    const found = limitOf(schema, name);
    return found === undefined ? [] : [value(found)];
  };
  return [
    ...limit('maxLength', (length) => 'x'.repeat(length + 1)),
    ...limit('minLength', () => ''),
    ...limit('maxItems', (count) => Array.from({ length: count + 1 }, () => 'x')),
    ...limit('minimum', (least) => least - 1),
    ...limit('maximum', (most) => (most < Number.MAX_SAFE_INTEGER ? most + 1 : 1e300)),
    ...(isEnumeration(schema) ? ['none of the values'] : []),
  ];
};

const brief = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? '';

test('is refused with 422 and the pointer of the field', { timeout: 120_000 }, async () => {
  const accepted: string[] = [];
  let tried = 0;
  for (const { route, schema, fields } of forms) {
    const [method = '', path = ''] = route.split(' ');
    for (const field of fields) {
      const pointer = `/${field.path.join('/').replaceAll('*', '0')}`;
      for (const value of [...wrongTypes(field.schema), ...beyondLimits(field.schema)]) {
        tried += 1;
        const body = documentWith(schema, field.path, value);
        const { status, errors } = await harness.call(method, path.replaceAll(/[{}]/g, ''), body);
        const pointers = errors.map(({ source }) => source?.pointer ?? '');
        const isRefused =
          status === 422 && pointers.some((one) => `${one}/`.startsWith(`${pointer}/`));
        if (!isRefused) {
          accepted.push(`${route} ${pointer} ${brief(value)}: ${status} ${pointers.join(' ')}`);
        }
      }
    }
  }
  expect(accepted).toEqual([]);
  expect(tried).toBeGreaterThan(3000);
});

/** Texts whose length the operation checks, which can describe the rule, and contents that the body limits. */
const LIMITED_ELSEWHERE = ['name', 'id', 'ssh-key', 'state', 'json-state', 'json-state-outputs'];

test('every text and list has a limit', () => {
  const unlimited = forms.flatMap(({ route, fields }) =>
    fields
      .filter(({ path, schema }) => {
        const types = typesOf(schema);
        if (isEnumeration(schema) || LIMITED_ELSEWHERE.includes(path.at(-1) ?? '')) return false;
        const isText = types.has('string') && limitOf(schema, 'maxLength') === undefined;
        const isList = types.has('array') && limitOf(schema, 'maxItems') === undefined;
        return (isText && path.at(-1) !== 'md5') || isList;
      })
      .map(({ path }) => `${route} ${path.join('/')}`),
  );
  expect(unlimited).toEqual([]);
});

/** The document without `name` in its resource, or in the first item of its list. */
const withType = (document: unknown, type: string | undefined): unknown => {
  const { data } = document as { data: object | readonly object[] };
  const change = (one: object) =>
    Object.fromEntries(Object.entries({ ...one, type }).filter(([, value]) => value !== undefined));
  return { data: Array.isArray(data) ? data.map(change) : change(data as object) };
};

test('a type that is missing is the one that the address fixes, and another one is refused', async () => {
  const faults: string[] = [];
  const chosen: string[] = [];
  for (const { route, schema, fields } of forms) {
    const type = fields.find(({ path }) => /^data( \*)? type$/.test(path.join(' ')));
    if (type === undefined) continue;
    const [method = '', path = ''] = route.split(' ');
    const target = path.replaceAll(/[{}]/g, '');
    const pointer = `/${type.path.join('/').replaceAll('*', '0')}`;
    const isNamed = async (given: string | undefined): Promise<boolean> => {
      const document = documentWith(schema, type.path, MINIMAL);
      const reply = await harness.call(method, target, withType(document, given));
      return reply.errors.some(({ source }) => source?.pointer === pointer);
    };
    if (await isNamed(undefined)) chosen.push(route);
    if (!(await isNamed('somethings'))) faults.push(route);
  }
  expect(faults).toEqual([]);
  // The only documents whose type the request chooses.
  expect(chosen.filter((route) => !route.includes('data-retention-policy'))).toEqual([]);
  expect(chosen).toHaveLength(6);
});

test('a body needs its content type, and nothing needs none', async () => {
  const faults: string[] = [];
  const { pathsJson } = await harness.service.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, object>>;
  const isSigned = /^\/(uploads|downloads|webhooks|openapi)\//;
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of Object.keys(operations)) {
      if (method === 'get' || isSigned.test(path)) continue;
      const send = async (body: unknown, contentType: string) => {
        const target = path.replaceAll(/[{}]/g, '');
        const headers = { 'content-type': contentType };
        const reply = await harness.call(method.toUpperCase(), target, body, undefined, headers);
        return reply.status;
      };
      if ((await send(undefined, '')) === 415) faults.push(`${method} ${path} without a body`);
      for (const type of ['', 'text/plain', 'application/json'])
        if ((await send({}, type)) !== 415) faults.push(`${method} ${path} ${type}`);
    }
  }
  expect(faults).toEqual([]);
});
