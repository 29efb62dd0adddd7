/**
 * Every parameter that a body may have: it has its effect, is answered with a warning that it has none, or is
 * refused. A field or path that the table does not know fails.
 */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import type { Effect, FieldGroup } from './field-effects.ts';
import { leafRole, type Mounts, newRequest, openMounts } from './open-mounts.ts';
import { type Answer, aMount } from './open-pki.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly items?: Schema;
}
interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties: Readonly<Record<string, Schema>> } }>
    >;
  };
}

let mounts: Mounts;
let csr: string;
/** The fields of each path's body. */
let bodies: ReadonlyMap<string, Readonly<Record<string, Schema>>>;
let serial = 0;

beforeAll(async () => {
  mounts = await openMounts();
  csr = newRequest(mounts, '/CN=csr.example.com');
  const { pathsJson } = await mounts.pki.service.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, Operation>>;
  bodies = new Map(
    Object.entries(paths).flatMap(([path, { post }]) => {
      const [content] = Object.values(post?.requestBody?.content ?? {});
      return content === undefined ? [] : [[path.replace(/^\//, ''), content.schema.properties]];
    }),
  );
});
afterAll(() => mounts.close());

const groupOf = (path: string): FieldGroup | undefined =>
  Object.values(FIELD_GROUPS).find(({ paths }) => paths.includes(path));

describe('the table', () => {
  test('has every field of every body, and no others', () => {
    const unknown = [...bodies].flatMap(([path, fields]) =>
      Object.keys(fields)
        .filter((name) => groupOf(path)?.fields[name] === undefined)
        .map((name) => `${path} ${name}`),
    );
    expect(unknown).toEqual([]);
    for (const { paths, fields } of Object.values(FIELD_GROUPS)) {
      expect(paths.filter((path) => !bodies.has(path))).toEqual([]);
      const accepted = new Set(paths.flatMap((path) => Object.keys(bodies.get(path) ?? {})));
      expect(Object.keys(fields).filter((name) => !accepted.has(name))).toEqual([]);
    }
  });
});

/** A mount with an authority whose key has a name, and a role that allows everything. */
const newMount = async () => {
  serial += 1;
  const uuid = `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`;
  const mount = aMount({ uuid, path: `mount-${serial}/` });
  await mounts.root('Root', mount, { issuer_name: 'first' });
  await mounts.post('config/cluster', { path: 'https://a.example.com/v1/pki' }, mount);
  await mounts.post(
    'roles/any',
    {
      ...leafRole,
      key_type: 'any',
      ttl: '1h',
      use_csr_common_name: false,
      use_csr_sans: false,
      allowed_uri_sans: '*',
      allowed_other_sans: '*',
      allowed_serial_numbers: '*',
      allowed_user_ids: '*',
    },
    mount,
  );
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    mounts.pki.call(method, path, body, { mount });
};

const concrete = (path: string): string =>
  path
    .replace('roles/{name}', 'roles/new')
    .replace('{name}', 'any')
    .replace('{type}', 'internal')
    .replace('{policy}', 'policy')
    .replace(/\{(?:issuer|key)_ref\}/, 'default');

const CASES = Object.entries(FIELD_GROUPS).flatMap(
  ([
    group,
    {
      paths: [first = ''],
      triedAt: path = first,
      fields,
    },
  ]) => Object.entries(fields).map(([name, effect]) => ({ group, path, name, effect })),
);
const casesOf = <K extends Effect['kind']>(...kinds: readonly K[]) =>
  CASES.filter((one): one is typeof one & { effect: Effect & { kind: K } } =>
    (kinds as readonly string[]).includes(one.effect.kind),
  );

describe('a setting', () => {
  test.for(casesOf('kept'))('$name of $group is read as it was written', async (one) => {
    const { path, name, effect } = one;
    const call = await newMount();
    if (path.startsWith('roles/')) await call('POST', concrete(path), {});
    const before = (await call('GET', concrete(path))).data?.[name];
    const body = { ...effect.additional, [name]: effect.value };
    const written = await call('POST', concrete(path), body);
    expect(written.json.errors).toBeUndefined();
    const after = (await call('GET', concrete(path))).data[name];
    expect(after).toEqual(effect.shown);
    expect(after).not.toEqual(before);
  });

  test.for(casesOf('warned'))('$name of $group is answered with a warning', async (one) => {
    const { path, name, effect } = one;
    const call = await newMount();
    const { json } = await call('POST', path, { ...effect.additional, [name]: effect.value });
    expect(json.warnings).toEqual([expect.stringMatching(`^${name} has no effect: `)]);
  });

  test.for(casesOf('refused'))('$name of $group is refused', async ({ path, name, effect }) => {
    const call = await newMount();
    const { status, json } = await call('POST', concrete(path), { [name]: effect.value });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(name)]]);
  });
});

/** The answer, with openssl's text of the certificate, request or key in it. */
const textOf = ({ data, json }: Answer): string => {
  expect(json.errors).toBeUndefined();
  const lines = [JSON.stringify(data).replaceAll('\\n', '\n')];
  if (data.csr !== undefined)
    lines.push(mounts.openssl('req', '-noout', '-text', '-in', mounts.file('made.csr', data.csr)));
  if (data.certificate !== undefined) {
    const { validFrom, validTo } = new X509Certificate(data.certificate);
    lines.push(mounts.textOf(data.certificate));
    lines.push(`lifetime ${(Date.parse(validTo) - Date.parse(validFrom)) / 1000} s`);
  } else if (data.private_key !== undefined)
    lines.push(
      mounts.openssl('pkey', '-noout', '-text', '-in', mounts.file('made.key', data.private_key)),
    );
  return lines.join('\n');
};

const leastOf = (path: string): object => ({
  ...(/^(?:sign|root\/sign)/.test(path) && { csr }),
  ...(/generate|^issue\//.test(path) && { key_type: 'ec' }),
  ...(/resign|revocation-list/.test(path) && { crl_number: 1 }),
  ...(!path.startsWith('sign-verbatim') && { common_name: 'a.example.com' }),
});

test.for(casesOf('made'))('$name of $group is in what is made', async (one) => {
  const { path, name, effect } = one;
  const call = await newMount();
  const least = leastOf(path);
  const plain = textOf(await call('POST', concrete(path), least));
  const changed = textOf(await call('POST', concrete(path), { ...least, [name]: effect.value }));
  const [without, having] = effect.isWithout ? [changed, plain] : [plain, changed];
  expect(having).toMatch(effect.text);
  expect(without).not.toMatch(effect.text);
});

const typeOf = ({ type = 'string' }: Schema): string =>
  typeof type === 'string' ? type : type.join();

/** Values that no field of the type takes. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  string: [{}, [], true],
  integer: ['many', 1.5, 1e300, [], true],
  boolean: ['maybe', 2, {}],
  array: [7, true, [[]]],
  object: [7, ['text'], true],
  'integer,string': ['soon', {}, -1, '-1h', 1e300],
};

/** Numbers without an upper limit. */
const UNLIMITED = ['max_crl_entries', 'crl_number', 'delta_crl_base_number'];

const everyField = () =>
  Object.values(FIELD_GROUPS).flatMap(({ paths }) =>
    paths.flatMap((path) =>
      Object.entries(bodies.get(path) ?? {}).map(([name, schema]) => ({ path, name, schema })),
    ),
  );

describe('a bad value', () => {
  test('of the wrong type is refused by the name of the field', async () => {
    const call = await newMount();
    const accepted: unknown[] = [];
    for (const { path, name, schema } of everyField())
      for (const value of WRONG[typeOf(schema)] ?? []) {
        const body = { ...leastOf(path), [name]: value };
        const { status, json } = await call('POST', concrete(path), body);
        const isNamed = status === 400 && json.errors[0].includes(`field "${name}"`);
        if (!isNamed) accepted.push([path, name, value, status, json.errors ?? json.warnings]);
      }
    expect(accepted).toEqual([]);
  });

  test('that is out of range or too long is refused', async () => {
    const call = await newMount();
    const accepted: unknown[] = [];
    const long = 'x'.repeat(100_000);
    const values: Readonly<Record<string, readonly unknown[]>> = {
      string: [long],
      integer: [-7, Number.MAX_SAFE_INTEGER],
      array: [long, [long]],
      object: [{ [long]: 'x' }, { x: long }],
      'integer,string': [Number.MAX_SAFE_INTEGER],
    };
    for (const { path, name, schema } of everyField())
      for (const value of values[typeOf(schema)] ?? []) {
        if (UNLIMITED.includes(name) && value === Number.MAX_SAFE_INTEGER) continue;
        const body = { ...leastOf(path), [name]: value };
        const { status, json } = await call('POST', concrete(path), body);
        if (status !== 400) accepted.push([path, name, status, json?.errors ?? json?.warnings]);
      }
    expect(accepted).toEqual([]);
  });
});
