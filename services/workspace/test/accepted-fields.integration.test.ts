/**
 * Every field that a request may have: it is returned and has its effect, is refused, or is answered with a warning.
 * A field or route that the table does not know fails.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import { type Effect, type FieldGroup, warned } from './field-effects.ts';
import { limitOf, type RequestForm, toRequestForms, typesOf } from './request-fields.ts';
import { startRunHarness } from './run-harness.ts';
import type { Harness, Identified, Reply } from './workspace-harness.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
let forms: readonly RequestForm[];
let serial = 0;

beforeAll(async () => {
  runs = await startRunHarness({ limits: { notifications: 200 } });
  ({ harness } = runs);
  forms = toRequestForms((await harness.service.edge.describe()).pathsJson);
});
afterAll(() => harness[Symbol.asyncDispose]());

/** The name that the table has for a field; undefined for `data.id` and `type`. */
const nameOf = (path: readonly string[]): string | undefined => {
  const isRelated = path[1] === 'relationships';
  const isListed = path[1] === '*';
  const names = path.filter((part) => !['data', 'attributes', 'relationships', '*'].includes(part));
  if (names.at(-1) === 'type') return undefined;
  if (isRelated) return `@${names.filter((part) => part !== 'id').join('/')}`;
  return names.join('/') === 'id' && !isListed && path.length === 2 ? undefined : names.join('/');
};

const groupOf = (route: string): FieldGroup | undefined =>
  Object.values(FIELD_GROUPS).find(({ routes }) => routes.includes(route));

describe('the table', () => {
  test('has every field of every request, and no others', () => {
    const accepted = new Map<FieldGroup, Set<string>>();
    const unknown: string[] = [];
    for (const { route, fields } of forms) {
      const group = groupOf(route);
      if (group === undefined) unknown.push(route);
      for (const { path } of fields) {
        const name = nameOf(path);
        if (name === undefined || group === undefined) continue;
        accepted.set(group, (accepted.get(group) ?? new Set()).add(name));
        if (!(name in group.fields)) unknown.push(`${route} ${name}`);
      }
    }
    expect(unknown).toEqual([]);
    const routes = new Set(forms.map(({ route }) => route));
    for (const group of Object.values(FIELD_GROUPS)) {
      expect(group.routes.filter((route) => !routes.has(route))).toEqual([]);
      // A field that is refused whatever it asks for needs no schema.
      const gone = Object.entries(group.fields).filter(
        ([name, { kind }]) => kind !== 'refused' && !accepted.get(group)?.has(name),
      );
      expect([group.routes[0], ...gone.map(([name]) => name)]).toEqual([group.routes[0]]);
    }
  });
});

interface Place {
  readonly target: string;
  readonly type: string;
  readonly relationships?: object;
}

const one = (type: string, id: string) => ({ data: { type, id } });
const newProject = () =>
  harness.create(`${O}/projects`, 'projects', { name: `project ${(serial += 1)}` });
const newTeam = () => harness.create(`${O}/teams`, 'teams', { name: `team ${(serial += 1)}` });
const newWorkspace = () =>
  harness.create(`${O}/workspaces`, 'workspaces', { name: `workspace-${(serial += 1)}` });

/** Where resources of each group are made, and what the name of a new one is. */
const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  organizations: async () => ({ target: '/organizations', type: 'organizations' }),
  teams: async () => ({ target: `${O}/teams`, type: 'teams' }),
  tokens: async () => ({
    target: `/teams/${(await newTeam()).id}/authentication-tokens`,
    type: 'authentication-tokens',
  }),
  projects: async () => ({ target: `${O}/projects`, type: 'projects' }),
  workspaces: async () => ({ target: `${O}/workspaces`, type: 'workspaces' }),
  'reserved tag keys': async () => ({
    target: `${O}/reserved-tag-keys`,
    type: 'reserved-tag-keys',
  }),
  'access to workspaces': async () => ({
    target: '/team-workspaces',
    type: 'team-workspaces',
    relationships: {
      team: one('teams', (await newTeam()).id),
      workspace: one('workspaces', (await newWorkspace()).id),
    },
  }),
  'access to projects': async () => ({
    target: '/team-projects',
    type: 'team-projects',
    relationships: {
      team: one('teams', (await newTeam()).id),
      project: one('projects', (await newProject()).id),
    },
  }),
  'SSH keys': async () => ({ target: `${O}/ssh-keys`, type: 'ssh-keys' }),
  variables: async () => ({
    target: `/workspaces/${(await newWorkspace()).id}/vars`,
    type: 'vars',
  }),
  'variable sets': async () => ({ target: `${O}/varsets`, type: 'varsets' }),
  'agent pools': async () => ({ target: `${O}/agent-pools`, type: 'agent-pools' }),
  'OAuth clients': async () => ({ target: `${O}/oauth-clients`, type: 'oauth-clients' }),
  'notification configurations': async () => ({
    target: `/workspaces/${(await newWorkspace()).id}/notification-configurations`,
    type: 'notification-configurations',
  }),
  'configuration versions': async () => ({
    target: `/workspaces/${(await newWorkspace()).id}/configuration-versions`,
    type: 'configuration-versions',
  }),
  runs: async () => ({
    target: '/runs',
    type: 'runs',
    relationships: { workspace: one('workspaces', await runs.makeWorkspace()) },
  }),
};

const NAMED_BY: Readonly<Record<string, (name: string) => object>> = {
  organizations: (name) => ({ name }),
  teams: (name) => ({ name }),
  projects: (name) => ({ name }),
  workspaces: (name) => ({ name }),
  'reserved tag keys': (key) => ({ key }),
  'variable sets': (name) => ({ name }),
  'agent pools': (name) => ({ name }),
};

const leastOf = (group: string): object => ({
  ...FIELD_GROUPS[group]?.least,
  ...NAMED_BY[group]?.(`made-${(serial += 1)}`),
});

/** `{ a: { b: value } }` for the name `a/b`. */
const nested = (name: string, value: unknown): object =>
  name.split('/').reduceRight((inner: unknown, part) => ({ [part]: inner }), value) as object;

const valueIn = (attributes: unknown, name: string): unknown =>
  name
    .split('/')
    .reduce((value, part) => (value as Record<string, unknown> | undefined)?.[part], attributes);

const documentOf = ({ type, relationships }: Place, name: string, value: unknown, more: object) =>
  name.startsWith('@')
    ? {
        data: {
          type,
          attributes: more,
          relationships: { ...relationships, [name.slice(1)]: value },
        },
      }
    : {
        data: {
          type,
          attributes: { ...more, ...nested(name, value) },
          ...(relationships === undefined ? {} : { relationships }),
        },
      };

const tryCreate = async (group: string, name: string, value: unknown, additional: object) => {
  const place = await (PLACES[group] as () => Promise<Place>)();
  const document = documentOf(place, name, value, { ...leastOf(group), ...additional });
  return harness.call('POST', place.target, document);
};

/** A resource with the least attributes, for updates. */
const makeSubject = async (group: string): Promise<{ path: string; type: string }> => {
  if (group === 'data retention policies') {
    const { id } = await newWorkspace();
    return {
      path: `/workspaces/${id}/relationships/data-retention-policy`,
      type: 'data-retention-policy-delete-olders',
    };
  }
  if (group === 'OAuth tokens') {
    const client = await makeSubject('OAuth clients');
    const { data } = await harness.call('GET', client.path);
    const tokens = data.relationships['oauth-tokens']?.data as readonly Identified[];
    return { path: `/oauth-tokens/${tokens[0]?.id}`, type: 'oauth-tokens' };
  }
  const { target, type, relationships } = await (PLACES[group] as () => Promise<Place>)();
  const made = await harness.create(target, type, leastOf(group), { relationships });
  const path = group === 'variables' ? `${target}/${made.id}` : `/${type}/${made.id}`;
  return { path, type };
};

const CASES = Object.entries(FIELD_GROUPS).flatMap(([group, { triedOn = [], fields }]) =>
  triedOn.flatMap((on) =>
    Object.entries(fields).flatMap(([name, effect]) =>
      effect.kind === 'elsewhere' ? [] : [{ group, on, name, effect }],
    ),
  ),
);

/** Whether the document of an update has the field; a refused one needs no schema. */
const isChangeable = (group: string, name: string): boolean =>
  forms.some(
    ({ route, fields }) =>
      /^(PATCH|PUT) /.test(route) &&
      FIELD_GROUPS[group]?.routes.includes(route) === true &&
      fields.some(({ path }) => nameOf(path) === name),
  );

/** The part of a reply that differs from what the table says; undefined if nothing does. */
const findDifference = (reply: Reply, name: string, effect: Effect): unknown => {
  const label = name.replace('@', '');
  const warnings = (reply.meta?.warnings ?? []).filter((text) => text.startsWith(`${label} `));
  const pointers = reply.errors.map(({ source }) => source?.pointer);
  if (effect.kind === 'refused') {
    const isRefused = reply.status === 422 && pointers.every((one) => one?.includes(`/${label}`));
    return isRefused ? undefined : { status: reply.status, pointers };
  }
  if (reply.errors.length > 0) return reply.errors;
  if (effect.kind === 'warned') return warnings.length === 1 ? undefined : reply.meta;
  if (effect.kind === 'elsewhere' || warnings.length > 0) return { warnings };
  const value = valueIn(reply.data.attributes, name);
  return isDeepStrictEqual(value, effect.shown) ? undefined : { value };
};

const isUniqueName = (group: string, name: string): boolean =>
  NAMED_BY[group] !== undefined && ['name', 'key'].includes(name);

const tryUpdate = async (group: string, name: string, value: unknown, additional: object) => {
  const { path, type } = await makeSubject(group);
  const document = documentOf({ target: path, type }, name, value, additional);
  return harness.call('PATCH', path, document);
};

describe('the field', () => {
  test.for(CASES)('$name of $group, in its $on', async ({ group, on, name, effect }) => {
    // A name can be used once.
    const isName = isUniqueName(group, name);
    const value = isName ? `changed-${(serial += 1)}` : effect.value;
    const send = on === 'create' ? tryCreate : tryUpdate;
    const reply = await send(group, name, value, 'additional' in effect ? effect.additional : {});
    const isFixed = on === 'update' && effect.kind !== 'refused' && !isChangeable(group, name);
    const known = isFixed ? warned(value) : effect;
    const expected = isName ? { ...known, shown: value } : known;
    expect(findDifference(reply, name, expected)).toBeUndefined();
  });
});

describe('a text that is returned', () => {
  const texts = CASES.flatMap(({ group, name, on, effect }) =>
    effect.kind === 'shown' && typeof effect.value === 'string' && on === 'update'
      ? [{ group, name, effect }]
      : [],
  );

  /** Whether a text is refused, replaced, or known to be that of a field which no update has. */
  const isNeverKept = async (
    { group, name, effect }: (typeof texts)[number],
    empty: string | null,
  ): Promise<boolean> => {
    const { path, type } = await makeSubject(group);
    const update = (value: unknown) =>
      harness.call(
        'PATCH',
        path,
        documentOf({ target: path, type }, name, value, effect.additional),
      );
    // Names are not empty to begin with.
    if (!isUniqueName(group, name)) await update(effect.value);
    const reply = await update(empty);
    if (!isChangeable(group, name)) return findDifference(reply, name, warned(empty)) === undefined;
    const pointers = reply.errors.map(({ source }) => source?.pointer);
    if (reply.status === 422) return pointers.includes(`/data/attributes/${name}`);
    return reply.status === 200 && valueIn(reply.data.attributes, name) !== effect.shown;
  };

  test.for(texts)('$name of $group is emptied or refused, never kept', async (tried) => {
    for (const empty of tried.effect.isKeptAtNull ? [''] : ['', null])
      expect(await isNeverKept(tried, empty)).toBe(true);
  });

  test('has a limit', async () => {
    for (const { group, name, effect } of texts) {
      const isUnlimited = forms.some(
        ({ route, fields }) =>
          FIELD_GROUPS[group]?.routes.includes(route) === true &&
          fields.some(
            ({ path, schema }) =>
              nameOf(path) === name &&
              typesOf(schema).has('string') &&
              limitOf(schema, 'maxLength') === undefined,
          ),
      );
      if (!isUnlimited) continue;
      const reply = await tryCreate(group, name, 'x'.repeat(5000), effect.additional);
      const pointers = reply.errors.map(({ source }) => source?.pointer);
      expect([reply.status, pointers]).toEqual([422, [`/data/attributes/${name}`]]);
    }
  });
});
