/**
 * Every field that a request to sys may have: it has its effect, is refused, is documented as returned only, or is
 * answered with a warning. Bad values are refused by the name of the field. A field or route that the table does not
 * know fails.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import { type Effect, type FieldGroup, RETURNED_ONLY } from './field-effects.ts';
import { badValues, limitOf, type RequestForm, toRequestForms } from './request-fields.ts';
import { type Document, openInitializedSys, type SysHarness } from './sys-harness.ts';

let harness: SysHarness;
let forms: readonly RequestForm[];
let serial = 0;

beforeAll(async () => {
  harness = await openInitializedSys();
  forms = toRequestForms((await harness.sys.edge.describe()).pathsJson);
  await harness.asRoot('POST', 'auth/token/roles/limited', { body: {} });
  await harness.asRoot('POST', 'sys/mounts/tuned', { body: { type: 'sample' } });
  await harness.asRoot('POST', 'sys/namespaces/team');
});
afterAll(() => harness.close());

const groupOf = (route: string): FieldGroup | undefined =>
  Object.values(FIELD_GROUPS).find(({ routes }) => routes.includes(route));

describe('the table', () => {
  test('has every field of every request, and no others', () => {
    const unknown: string[] = [];
    const accepted = new Map<FieldGroup, Set<string>>();
    for (const { route, fields } of forms) {
      const group = groupOf(route);
      if (group === undefined) {
        unknown.push(route);
        continue;
      }
      const names = accepted.get(group) ?? new Set();
      accepted.set(group, names);
      for (const { name, schema } of fields) {
        names.add(name);
        const effect = group.fields[name];
        if (effect === undefined) unknown.push(`${route} ${name}`);
        const isReturnedOnly = effect?.kind === 'shown' && effect.by === RETURNED_ONLY;
        if (isReturnedOnly !== (schema.description?.includes(RETURNED_ONLY) === true))
          unknown.push(`${route} ${name}: ${schema.description}`);
      }
    }
    expect(unknown).toEqual([]);
    const routes = new Set(forms.map(({ route }) => route));
    for (const group of Object.values(FIELD_GROUPS)) {
      expect(group.routes.filter((route) => !routes.has(route))).toEqual([]);
      const gone = Object.keys(group.fields).filter((name) => !accepted.get(group)?.has(name));
      expect([group.routes[0], ...gone]).toEqual([group.routes[0]]);
    }
  });
});

interface Reply {
  readonly status: number;
  readonly body: Document;
}
interface Tried {
  readonly reply: Reply;
  /** The document that has what was written. */
  readonly read: () => Promise<Document>;
}

const post = (path: string, body: object): Promise<Reply> => harness.asRoot('POST', path, { body });
const dataAt = async (path: string): Promise<Document> =>
  (await harness.asRoot('GET', path)).body.data;

/** Writes at a path, and reads there. */
const at = async (path: string, body: object, readFrom = path): Promise<Tried> => ({
  reply: await post(path, body),
  read: () => dataAt(readFrom),
});

/** A write with these fields, for the groups whose fields can be read. */
const TRIALS: Readonly<Record<string, (body: object, name: string) => Promise<Tried>>> = {
  tokens: async (body) => {
    const reply = await post('auth/token/create', body);
    const token = reply.body.auth?.client_token;
    const read = async () => (await post('auth/token/lookup', { token })).body.data;
    return { reply, read };
  },
  'token roles': (body) => at(`auth/token/roles/role-${(serial += 1)}`, body),
  mounts: async (body, name) => {
    const path = `sys/mounts/mount-${(serial += 1)}`;
    const tried = await at(path, body);
    return name.startsWith('config.')
      ? { ...tried, read: async () => (await dataAt(path)).config }
      : tried;
  },
  'tuning of mounts': (body) => at('sys/mounts/tuned/tune', body),
  scopes: (body) => at(`identity/oidc/scope/scope-${(serial += 1)}`, body),
  entities: (body) => at(`identity/entity/name/entity-${(serial += 1)}`, body),
  groups: (body) => at(`identity/group/name/group-${(serial += 1)}`, body),
  'aliases of entities': async (body) => {
    const { data } = (await harness.asRoot('GET', 'sys/auth')).body;
    const reply = await post('identity/entity-alias', {
      name: `alias-${(serial += 1)}`,
      mount_accessor: data['token/'].accessor,
      ...body,
    });
    return { reply, read: () => dataAt(`identity/entity-alias/id/${reply.body.data?.id}`) };
  },
  'rate limit quotas': async (body) => {
    await harness.asRoot('DELETE', `sys/quotas/rate-limit/quota-${serial}`);
    return at(`sys/quotas/rate-limit/quota-${(serial += 1)}`, { rate: 5, ...body });
  },
  namespaces: (body) => at('sys/namespaces/team', body),
  'custom messages': async (body) => {
    const reply = await post('sys/config/ui/custom-messages', body);
    return { reply, read: () => dataAt(`sys/config/ui/custom-messages/${reply.body.data?.id}`) };
  },
  'audit devices': async (body) => {
    const path = `device-${(serial += 1)}`;
    const reply = await post(`sys/audit/${path}`, body);
    return { reply, read: async () => (await dataAt('sys/audit'))[`${path}/`] };
  },
  'key rotation': (body) => at('sys/rotate/config', body),
  tools: async (body) => ({ reply: await post('sys/tools/random', body), read: async () => ({}) }),
  unsealing: async (body) => ({ reply: await post('sys/unseal', body), read: async () => ({}) }),
};

/** `{ a: { b: value } }` for the name `a.b`. */
const nested = (name: string, value: unknown): object =>
  name.split('.').reduceRight((inner: unknown, part) => ({ [part]: inner }), value) as object;

const ownName = (name: string): string => name.split('.').at(-1) ?? name;

const send = (group: string, name: string, value: unknown, additional: object = {}) => {
  const trial = TRIALS[group];
  if (trial === undefined) throw new Error(`no trial of ${group}`);
  const [container, inner] = name.split('.');
  const outer = inner === undefined ? additional : { [container ?? '']: additional };
  const given = nested(name, value) as Record<string, object>;
  const merged =
    inner === undefined
      ? { ...outer, ...given }
      : { [container ?? '']: { ...additional, ...given[container ?? ''] } };
  return trial({ ...FIELD_GROUPS[group]?.least, ...merged }, name);
};

const CASES = Object.entries(FIELD_GROUPS).flatMap(([group, { fields }]) =>
  Object.entries(fields).flatMap(([name, effect]) =>
    effect.kind === 'elsewhere' ? [] : [{ group, name, effect }],
  ),
);

/** The part of a reply that differs from what the table says; undefined if nothing does. */
const findDifference = async ({ reply, read }: Tried, name: string, effect: Effect) => {
  const errors = (reply.body?.errors ?? []) as string[];
  if (effect.kind === 'refused')
    return reply.status === 400 && errors[0]?.includes(ownName(name)) ? undefined : reply;
  if (errors.length > 0) return errors;
  const warnings = ((reply.body?.warnings ?? []) as string[]).filter((text) =>
    text.startsWith(`${ownName(name)} has no effect`),
  );
  if (effect.kind !== 'shown') return warnings.length === 1 ? undefined : reply.body;
  if (warnings.length > 0) return warnings;
  const [member, value] = effect.as;
  const found = (await read())[member === '' ? ownName(name) : member];
  return isDeepStrictEqual(found, value) ? undefined : { found };
};

describe('the field', () => {
  test.for(CASES)('$name of $group', async ({ group, name, effect }) => {
    const additional = effect.kind === 'shown' ? effect.additional : {};
    const tried = await send(group, name, effect.value, additional);
    expect(await findDifference(tried, name, effect)).toBeUndefined();
  });
});

const IN_PATHS: Readonly<Record<string, string>> = {
  bytes: '32',
  source: 'platform',
  algorithm: 'sha2-256',
};
/** A request path for a route, with names that nothing has. */
const pathOf = (route: string): string =>
  route
    .replace(/^\w+ \//, '')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => IN_PATHS[name] ?? 'nothing-here');
const methodOf = (route: string): string => route.split(' ')[0] ?? '';

/** Requests that store nothing, and succeed for what does not exist. */
const UNSTORED =
  /POST \/(sys\/(leases\/)?revoke|sys\/(unseal|capabilities-self|tools\/hash)|auth\/token\/revoke)(\/\{\w+\})?$/;

/** Objects whose members are declared have no value of their own. */
const fieldsOf = () =>
  forms.flatMap(({ route, fields }) => fields.map(({ name, schema }) => ({ route, name, schema })));

const tryValue = async (route: string, name: string, value: unknown) => {
  const body = { ...groupOf(route)?.least, ...nested(name, value) };
  const { status, body: answer } = await harness.asRoot(methodOf(route), pathOf(route), { body });
  return { status, text: String(answer?.errors?.[0] ?? '') };
};

describe('a bad value', () => {
  test('of the wrong type or out of range is refused, and the field is named', async () => {
    const wrong: unknown[] = [];
    for (const { route, name, schema } of fieldsOf())
      for (const value of badValues(schema)) {
        const { status, text } = await tryValue(route, name, value);
        if (status !== 400 || !text.includes(ownName(name)))
          wrong.push([route, name, value, status, text]);
      }
    expect(wrong).toEqual([]);
  });

  test('that is too long is refused, and the field is named', async () => {
    const wrong: unknown[] = [];
    for (const { route, name, schema } of fieldsOf()) {
      const limit = limitOf(schema);
      if (limit === undefined) continue;
      const text = 'x'.repeat(limit + 1);
      const value =
        schema.type === 'array' ? [text] : schema.type === 'object' ? { [text]: 'x' } : text;
      const answer = await tryValue(route, name, value);
      if (answer.status !== 400 || !answer.text.includes(ownName(name)))
        wrong.push([route, name, answer.status, answer.text.slice(0, 200)]);
    }
    expect(wrong).toEqual([]);
  });

  test('of a megabyte is never stored, nor the reason for an error of the service', async () => {
    const wrong: unknown[] = [];
    for (const { route, name, schema } of fieldsOf()) {
      if (limitOf(schema) !== undefined || schema.format !== undefined) continue;
      const text = 'x'.repeat(1024 * 1024);
      const value =
        schema.type === 'string'
          ? text
          : schema.type === 'array'
            ? [text]
            : schema.type === 'object'
              ? { key: text }
              : undefined;
      if (value === undefined) continue;
      const { status } = await tryValue(route, name, value);
      const isRefused = status >= 400 && status < 500;
      if (!isRefused && !(UNSTORED.test(route) && status < 300)) wrong.push([route, name, status]);
    }
    expect(wrong).toEqual([]);
  });
});
