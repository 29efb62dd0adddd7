/** R6: the responses to fifty callers at two replicas are linearizable. */
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLinearizable, type Operation } from './history.ts';
import { type Harness, type Reply, startHarness } from './workspace-harness.ts';

const COLLECTION = '/organizations/acme/workspaces';
const CALLERS = 50;
const CALLS_EACH = 6;
const SLOW_MS = 120_000;
const NOBODY = '';

let postgres: PostgresServer;
let replicas: readonly [Harness, Harness];
let callers: readonly { readonly id: string; readonly token: string }[];

beforeAll(async () => {
  postgres = await startPostgres();
  const connectionString = await postgres.createDatabase('histories');
  const first = await startHarness({ connectionString });
  replicas = [first, await startHarness({ connectionString, adminToken: first.adminToken })];
  await first.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const team = await first.create('/organizations/acme/teams', 'teams', {
    name: 'callers',
    'organization-access': { 'manage-workspaces': true },
  });
  const made: { id: string; token: string }[] = [];
  for (let at = 0; at < CALLERS; at += 1) made.push(await first.addUser(`caller-${at}`, team.id));
  callers = made;
}, SLOW_MS);
afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
}, SLOW_MS);

type Ask = (method: string, target: string, body?: unknown) => Promise<Reply>;
/** A call: the request, and the state that the response reports. */
type Call = (ask: Ask, caller: string) => Promise<Omit<Operation<string>, 'from' | 'until'>>;

/**
 * Every caller makes its calls one after the other, at one replica and then the other.
 * @param after operations that always follow an operation of this name
 */
const record = async (
  calls: readonly Call[],
  after: Readonly<Record<string, Call>> = {},
): Promise<readonly Operation<string>[]> => {
  const histories = callers.map(async ({ id, token }, at) => {
    const history: Operation<string>[] = [];
    let following: Call | undefined;
    for (let round = 0; round < CALLS_EACH || following !== undefined; round += 1) {
      const replica = replicas[(at + round) % 2] as Harness;
      const call = following ?? (calls[(at + round * 3) % calls.length] as Call);
      const from = performance.now();
      const operation = await call((...asked) => replica.call(...fill(asked), token), id);
      history.push({ ...operation, from, until: performance.now() });
      following = after[operation.name];
    }
    return history;
  });
  return (await Promise.all(histories)).flat();
};
const fill = (asked: Parameters<Ask>): [string, string, unknown] => [asked[0], asked[1], asked[2]];

const unexpected = (what: string, { status, errors }: Reply): Error =>
  new Error(`${what} was answered ${status}: ${JSON.stringify(errors)}`);

const count = (history: readonly Operation<string>[], name: string): number =>
  history.filter((operation) => operation.name === name).length;

describe('fifty callers at two replicas', { timeout: SLOW_MS }, () => {
  test('can lock and unlock a workspace as if the calls were sequential', async () => {
    const { id } = await replicas[0].create(COLLECTION, 'workspaces', { name: 'locked' });
    const at = `/workspaces/${id}`;
    const lock: Call = async (ask, caller) => {
      const reply = await ask('POST', `${at}/actions/lock`);
      if (reply.status === 200)
        return { name: 'locked', apply: (by) => (by === NOBODY ? caller : undefined) };
      if (reply.status !== 409) throw unexpected('lock', reply);
      return { name: 'not locked', apply: (by) => (by === NOBODY ? undefined : by) };
    };
    const unlock: Call = async (ask, caller) => {
      const reply = await ask('POST', `${at}/actions/unlock`);
      if (reply.status === 200)
        return { name: 'unlocked', apply: (by) => (by === caller ? NOBODY : undefined) };
      if (reply.status !== 409) throw unexpected('unlock', reply);
      return { name: 'not unlocked', apply: (by) => (by === caller ? undefined : by) };
    };
    const show: Call = async (ask) => {
      const { data } = await ask('GET', at);
      const holder = (data.relationships['locked-by']?.data as { id: string } | null)?.id ?? NOBODY;
      expect(data.attributes['locked']).toBe(holder !== NOBODY);
      return { name: 'shown', apply: (by) => (by === holder ? by : undefined) };
    };
    // It would prove little if one had won and kept it.
    const history = await record([lock, unlock, show, lock], { locked: unlock });
    expect(history.length).toBeGreaterThanOrEqual(CALLERS * CALLS_EACH);
    expect(count(history, 'unlocked')).toBeGreaterThan(0);
    expect(count(history, 'unlocked')).toBe(count(history, 'locked'));
    expect(isLinearizable(NOBODY, history)).toBe(true);
    // The same with one more winner would not be.
    const [winner] = history.filter(({ name }) => name === 'locked');
    const again = { ...winner, apply: (by: string) => (by === NOBODY ? 'other' : undefined) };
    expect(isLinearizable(NOBODY, [...history, again as Operation<string>])).toBe(false);
  });

  test('can create and delete a workspace of one name as if the calls were sequential', async () => {
    const at = `${COLLECTION}/contested`;
    const body = { data: { type: 'workspaces', attributes: { name: 'contested' } } };
    const make: Call = async (ask) => {
      const reply = await ask('POST', COLLECTION, body);
      if (reply.status === 201)
        return { name: 'made', apply: (id) => (id === NOBODY ? reply.data.id : undefined) };
      if (reply.status !== 422) throw unexpected('make', reply);
      return { name: 'taken', apply: (id) => (id === NOBODY ? undefined : id) };
    };
    const remove: Call = async (ask) => {
      const reply = await ask('POST', `${at}/actions/safe-delete`);
      if (reply.status === 204)
        return { name: 'deleted', apply: (id) => (id === NOBODY ? undefined : NOBODY) };
      if (reply.status !== 404) throw unexpected('delete', reply);
      return { name: 'absent', apply: (id) => (id === NOBODY ? id : undefined) };
    };
    const show: Call = async (ask) => {
      const reply = await ask('GET', at);
      const found = reply.status === 200 ? reply.data.id : NOBODY;
      return { name: 'shown', apply: (id) => (id === found ? id : undefined) };
    };
    const history = await record([make, remove, show, make]);
    expect(count(history, 'made')).toBeGreaterThan(0);
    expect(isLinearizable(NOBODY, history)).toBe(true);
  });
});
