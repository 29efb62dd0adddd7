/** Tokens of one's own: listed without the tokens themselves, and ended by whoever has signed in. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const HOUR_MS = 3_600_000;
const OWN = 'auth/token/own';

let harness: SysHarness;
let people: { readonly uuid: string; readonly accessor: string };
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
});
afterEach(() => harness.close());

const list = (token: string, query = '', namespace = '') =>
  harness.call('GET', OWN, { token, query, namespace });
const listed = async (token: string, query = ''): Promise<Document> =>
  (await list(token, query)).body.data;
const accessorsOf = async (token: string, query = ''): Promise<string[]> =>
  (await listed(token, query)).tokens.map(({ accessor }: Document) => accessor);
const end = (token: string, accessor: string) =>
  harness.call('POST', `${OWN}/revoke`, { token, body: { accessor } });
const endOthers = (token: string) => harness.call('POST', `${OWN}/revoke-others`, { token });
const statusOf = async (token: string): Promise<number> =>
  (await harness.call('GET', 'auth/token/lookup-self', { token })).status;

/** A login a second after the one before. */
const signIn = async (given: Parameters<typeof logIn>[2] = {}, uuid = people.uuid) => {
  harness.clock.advance(1000);
  return logIn(harness, uuid, given);
};
const makeChild = async (token: string, body: object = {}): Promise<Document> => {
  const made = await harness.call('POST', 'auth/token/create', { token, body });
  return made.body.auth;
};
const allowMaking = () =>
  harness.asRoot('POST', 'sys/policies/acl/own', {
    body: { policy: 'path "auth/token/create" { capabilities = ["update", "sudo"] }' },
  });

describe('the list', () => {
  test('has the tokens of the person, newest first, and says where each comes from', async () => {
    const first = await signIn();
    const second = await signIn();
    await signIn({ aliasName: 'bob', displayName: 'bob' });
    const { tokens, next } = await listed(second.client_token);
    expect(tokens.map(({ accessor }: Document) => accessor)).toEqual([
      second.accessor,
      first.accessor,
    ]);
    expect(next).toBeNull();
    const issuedMs = harness.clock.nowMs() - 1000;
    expect(tokens[0]).toEqual({
      accessor: second.accessor,
      display_name: 'people-alice',
      path: 'auth/people/login',
      mount_path: 'auth/people/',
      namespace_path: '',
      policies: ['default', 'own'],
      issue_time: new Date(issuedMs).toISOString(),
      last_use_time: new Date(issuedMs).toISOString(),
      expire_time: new Date(issuedMs + 600_000).toISOString(),
      is_current: true,
    });
    expect(tokens[1].is_current).toBe(false);
    expect(JSON.stringify(tokens)).not.toMatch(/hvs\./);
  });

  test('has the tokens that were made by a login, and none that can be used no more', async () => {
    await allowMaking();
    const login = await signIn();
    const child = await makeChild(login.client_token, { display_name: 'ci' });
    const orphan = await makeChild(login.client_token, { no_parent: true });
    const short = await makeChild(login.client_token, { ttl: '1s' });
    const once = await makeChild(login.client_token, { num_uses: 1 });
    expect(await statusOf(once.client_token)).toBe(200);
    harness.clock.advance(2000);
    const { tokens } = await listed(login.client_token);
    const accessors = tokens.map(({ accessor }: Document) => accessor);
    expect(accessors).toHaveLength(2);
    expect(accessors).toEqual(expect.arrayContaining([login.accessor, child.accessor]));
    for (const { accessor } of [orphan, short, once]) expect(accessors).not.toContain(accessor);
    const made = tokens.find(({ accessor }: Document) => accessor === child.accessor);
    expect(made).toMatchObject({
      display_name: 'token-ci',
      path: 'auth/token/create',
      mount_path: 'auth/token/',
    });
  });

  test('of 101 and more comes in pages, also while tokens end', async () => {
    const all: string[] = [];
    for (let at = 0; at < 205; at++) {
      // Several in one millisecond are on one page.
      if (at % 3 === 0) harness.clock.advance(1);
      all.unshift((await logIn(harness, people.uuid)).accessor);
    }
    const { client_token: token, accessor } = await signIn();
    all.unshift(accessor);
    const first = await listed(token);
    const of = ({ tokens }: Document): string[] => tokens.map((one: Document) => one.accessor);
    expect(first.tokens.length).toBeGreaterThanOrEqual(100);
    expect(first.tokens.length).toBeLessThan(103);
    // The last one of a page ends, and the next page begins behind it all the same.
    expect((await end(token, of(first).at(-1) ?? '')).status).toBe(204);
    const second = await listed(token, `before=${first.next}`);
    const third = await listed(token, `before=${second.next}`);
    expect(third.next).toBeNull();
    expect([first, second, third].flatMap(of).toSorted()).toEqual(all.toSorted());
    expect((await listed(token, `before=${first.next}&limit=5`)).tokens.length).toBeLessThan(8);
    const refused = ['limit=0', 'limit=1001', 'before=yesterday'].map((query) =>
      list(token, query),
    );
    for (const { status } of await Promise.all(refused)) expect(status).toBe(400);
  });

  test('shows the last use to the hour, without a write for each request', async () => {
    const { client_token: token } = await signIn({ limits: { ttlSeconds: 86_400 } });
    const other = await signIn();
    const lastUse = async () =>
      (await listed(other.client_token)).tokens.at(-1).last_use_time as string;
    const issued = await lastUse();
    harness.clock.advance(0.5 * HOUR_MS);
    const before = await harness.store.wal.headSequence();
    for (let at = 0; at < 5; at++) await statusOf(token);
    await harness.settle('token-uses');
    expect(await harness.store.wal.headSequence()).toEqual(before);
    const refreshed = await signIn();
    const seen = async () =>
      (await listed(refreshed.client_token)).tokens.at(-1).last_use_time as string;
    expect(await seen()).toBe(issued);
    harness.clock.advance(0.6 * HOUR_MS);
    const usedMs = harness.clock.nowMs();
    for (let at = 0; at < 5; at++) await statusOf(token);
    await harness.settle('token-uses');
    const last = await signIn();
    expect((await listed(last.client_token)).tokens.at(-1).last_use_time).toBe(
      new Date(usedMs).toISOString(),
    );
    // The note ends with the token.
    await end(last.client_token, (await accessorsOf(last.client_token)).at(-1) ?? '');
    expect(await harness.store.list('local/service-token-uses/root/')).toEqual([]);
  });
});

describe('whoever', () => {
  test('has no entity, or no token, is refused', async () => {
    const token = await harness.createToken(['default']);
    for (const call of [list(token), end(token, 'a'), endOthers(token)])
      expect(await call).toEqual({
        status: 400,
        body: {
          errors: ['the token has no entity: only who has signed in has tokens of their own'],
        },
      });
    expect((await harness.asRoot('GET', OWN)).status).toBe(400);
    expect((await harness.call('GET', OWN)).status).toBe(403);
  });

  test('signed in without the default policy needs one that allows it', async () => {
    const { client_token: token } = await signIn({ limits: { noDefaultPolicy: true } });
    for (const call of [list(token), end(token, 'a'), endOthers(token)])
      expect((await call).status).toBe(403);
    await harness.asRoot('POST', 'sys/policies/acl/own', {
      body: { policy: `path "${OWN}" { capabilities = ["read"] }` },
    });
    expect((await list(token)).status).toBe(200);
  });

  test('has a batch token sees the others, of which it is none', async () => {
    const service = await signIn();
    const batch = await signIn({ limits: { tokenType: 'batch' } });
    expect(await accessorsOf(batch.client_token)).toEqual([service.accessor]);
    expect((await end(batch.client_token, '')).body.errors).toEqual(['missing accessor']);
    expect((await endOthers(batch.client_token)).body.data).toEqual({ revoked: 1 });
    expect(await statusOf(service.client_token)).toBe(403);
    expect(await statusOf(batch.client_token)).toBe(200);
    expect(await listed(batch.client_token)).toEqual({ tokens: [], next: null });
  });

  test('was merged into another person has the tokens of both', async () => {
    const others = await mountMethod(harness, 'others');
    const one = await signIn();
    const two = await signIn({}, others.uuid);
    const merge = { from_entity_ids: [one.entity_id], to_entity_id: two.entity_id };
    await harness.asRoot('POST', 'identity/entity/merge', { body: merge });
    for (const { client_token: token } of [one, two])
      expect(await accessorsOf(token)).toEqual([two.accessor, one.accessor]);
    expect((await end(one.client_token, two.accessor)).status).toBe(204);
    expect(await statusOf(two.client_token)).toBe(403);
  });

  test('is disabled is refused', async () => {
    const { client_token: token, entity_id } = await signIn();
    await harness.asRoot('POST', `identity/entity/id/${entity_id}`, { body: { disabled: true } });
    expect((await list(token)).status).toBe(403);
  });

  test('signs in in a namespace has the tokens of there, with those made below', async () => {
    await harness.createNamespace('team');
    await harness.createNamespace('team/sub');
    const team = await mountMethod(harness, 'people', { namespace: 'team' });
    await harness.asRoot('POST', 'sys/policies/acl/own', {
      namespace: 'team',
      body: { policy: 'path "sub/auth/token/create" { capabilities = ["update"] }' },
    });
    await signIn();
    const login = await signIn({}, team.uuid);
    const { client_token: token } = login;
    const made = await harness.call('POST', 'auth/token/create', {
      token,
      namespace: 'team/sub',
      body: { policies: ['default'] },
    });
    harness.clock.advance(1);
    const { body } = await list(token, '', 'team');
    const places = body.data.tokens.map(({ accessor, namespace_path }: Document) => [
      accessor,
      namespace_path,
    ]);
    expect(places).toHaveLength(2);
    expect(places).toEqual(
      expect.arrayContaining([
        [made.body.auth.accessor, 'team/sub/'],
        [login.accessor, 'team/'],
      ]),
    );
    // The one made below has the same person, whose tokens it shows where its own policies count.
    const below = await list(made.body.auth.client_token, '', 'team/sub');
    expect(below.body.data.tokens).toHaveLength(2);
    const ended = await harness.call('POST', `${OWN}/revoke`, {
      token,
      namespace: 'team',
      body: { accessor: made.body.auth.accessor },
    });
    expect(ended.status).toBe(204);
    await harness.asRoot('DELETE', 'sys/namespaces/team/sub');
    expect((await list(token, '', 'team')).body.data.tokens).toHaveLength(1);
  });
});

describe('ending', () => {
  test('one takes what was made by it, and leaves the others', async () => {
    await allowMaking();
    const [one, two] = [await signIn(), await signIn()];
    const child = await makeChild(one.client_token);
    expect((await end(two.client_token, one.accessor)).status).toBe(204);
    expect(await statusOf(one.client_token)).toBe(403);
    expect(await statusOf(child.client_token)).toBe(403);
    expect(await statusOf(two.client_token)).toBe(200);
    expect((await end(two.client_token, two.accessor)).status).toBe(204);
    expect(await statusOf(two.client_token)).toBe(403);
  });

  test('answers alike for what is unknown, ended or of somebody else', async () => {
    const mine = await signIn();
    const ended = await signIn();
    await end(mine.client_token, ended.accessor);
    const bob = await signIn({ aliasName: 'bob', displayName: 'bob' });
    const root = (await harness.asRoot('GET', 'auth/token/lookup-self')).body.data;
    for (const accessor of [bob.accessor, root.accessor, ended.accessor, 'x', 'a.b', '../x', 'a/b'])
      expect({ accessor, ...(await end(mine.client_token, accessor)) }).toEqual({
        accessor,
        status: 400,
        body: { errors: ['invalid accessor'] },
      });
    expect(await statusOf(bob.client_token)).toBe(200);
    expect((await harness.asRoot('GET', 'auth/token/lookup-self')).status).toBe(200);
  });

  test('all others leaves the present one, and what it would end with', async () => {
    await allowMaking();
    const bob = await signIn({ aliasName: 'bob', displayName: 'bob' });
    const old = await signIn();
    const parent = await signIn();
    const own = await makeChild(parent.client_token);
    const sibling = await makeChild(parent.client_token);
    const child = await makeChild(own.client_token);
    const { body } = await endOthers(own.client_token);
    expect(body.data).toEqual({ revoked: 3 });
    expect(body.warnings).toEqual([
      '1 token stays: the token of this request was made by it, and would end with it',
    ]);
    for (const { client_token: token } of [old, sibling, child])
      expect(await statusOf(token)).toBe(403);
    for (const { client_token: token } of [bob, own, parent])
      expect(await statusOf(token)).toBe(200);
    expect((await endOthers(parent.client_token)).body.data).toEqual({ revoked: 1 });
  });

  test('all others ends 450', async () => {
    for (let at = 0; at < 450; at++) await logIn(harness, people.uuid);
    const { client_token: token, accessor } = await signIn();
    expect((await endOthers(token)).body.data).toEqual({ revoked: 450 });
    expect(await accessorsOf(token)).toEqual([accessor]);
  });

  test('is refused once the token was revoked in the middle', async () => {
    const [one, two] = [await signIn(), await signIn()];
    await end(one.client_token, two.accessor);
    for (const call of [list, endOthers]) expect((await call(two.client_token)).status).toBe(403);
    expect((await end(two.client_token, one.accessor)).status).toBe(403);
    expect(await statusOf(one.client_token)).toBe(200);
  });
});

const NAMES = ['alice', 'bob', 'carol'];
const pick = fc.nat(30);
const deeds = fc.array(
  fc.oneof(
    fc.record({
      deed: fc.constant('sign in' as const),
      name: fc.constantFrom(...NAMES),
      isElsewhere: fc.boolean(),
    }),
    fc.record({ deed: fc.constant('make' as const), by: pick }),
    fc.record({ deed: fc.constant('end' as const), by: pick, which: pick }),
    fc.record({ deed: fc.constant('end others' as const), by: pick }),
    fc.record({ deed: fc.constant('merge' as const), by: pick, into: pick }),
  ),
  { maxLength: 14 },
);
type Deed = (typeof deeds extends fc.Arbitrary<infer T> ? T : never)[number];

/** A token that is known to the test, as it should be. */
interface Held {
  readonly token: string;
  readonly accessor: string;
  readonly parent: Held | undefined;
  entity: string;
  isOver: boolean;
}

const isAlive = (one: Held | undefined): boolean =>
  one === undefined || (!one.isOver && isAlive(one.parent));

/** A token and those by which it was made. */
const lineOf = (one: Held | undefined): readonly Held[] =>
  one === undefined ? [] : [one, ...lineOf(one.parent)];

const held = (auth: Document, parent?: Held): Held => ({
  token: auth.client_token,
  accessor: auth.accessor,
  entity: parent?.entity ?? auth.entity_id,
  parent,
  isOver: false,
});

/** Does something with the tokens that there are. Returns the status and the one that is expected. */
const perform = async (given: Deed, all: Held[], others: string): Promise<[number, number]> => {
  const living = all.filter(isAlive);
  const at = (index: number): Held | undefined => living[index % living.length];
  if (given.deed === 'sign in') {
    const made = await signIn({ aliasName: given.name }, given.isElsewhere ? others : undefined);
    all.push(held(made));
    return [0, 0];
  }
  const by = at(given.by);
  if (by === undefined) return [0, 0];
  if (given.deed === 'make') {
    all.push(held(await makeChild(by.token), by));
    return [0, 0];
  }
  if (given.deed === 'end others') {
    for (const one of all)
      if (one.entity === by.entity && !lineOf(by).includes(one)) one.isOver = true;
    return [(await endOthers(by.token)).status, 200];
  }
  const other = at(given.deed === 'end' ? given.which : given.into) ?? by;
  if (given.deed === 'end') {
    const isOwn = by.entity === other.entity;
    other.isOver = isOwn;
    return [(await end(by.token, other.accessor)).status, isOwn ? 204 : 400];
  }
  const [from, into] = [by.entity, other.entity];
  if (from === into) return [0, 0];
  const body = { from_entity_ids: [from], to_entity_id: into, force: true };
  for (const one of all) if (one.entity === from) one.entity = into;
  return [(await harness.asRoot('POST', 'identity/entity/merge', { body })).status, 204];
};

/** The tokens that can be used, with the accessors that each lists. */
const observe = async (all: readonly Held[]) => {
  const seen: Record<string, readonly string[]> = {};
  for (const { token, accessor } of all)
    if ((await statusOf(token)) === 200)
      seen[accessor] = (await accessorsOf(token, 'limit=1000')).toSorted();
  return seen;
};

const expected = (all: readonly Held[]) => {
  const living = all.filter(isAlive);
  const ofEntity = (entity: string) =>
    living.flatMap((one) => (one.entity === entity ? [one.accessor] : []));
  return Object.fromEntries(
    living.map(({ accessor, entity }) => [accessor, ofEntity(entity).toSorted()]),
  );
};

test('nobody lists or ends the token of somebody else, whatever is made, merged and ended', async () => {
  await allowMaking();
  const others = await mountMethod(harness, 'others');
  await fc.assert(
    fc.asyncProperty(deeds, async (given) => {
      const all: Held[] = [];
      for (const aliasName of NAMES) all.push(held(await signIn({ aliasName })));
      for (const one of given) {
        const [status, wanted] = await perform(one, all, others.uuid);
        expect(status).toBe(wanted);
        expect(await observe(all)).toEqual(expected(all));
      }
      // The next persons of these names begin without tokens of those before.
      for (const one of all.filter(isAlive)) await end(one.token, one.accessor);
    }),
    { numRuns: 40 },
  );
}, 60_000);
