/** States that come in the request that announces them: each is stored in one step, or not at all. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { stateText, uploadsTo } from '../../../test/state-uploads.ts';
import { startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const harness = await startHarnessOf('acme');
afterAll(() => harness[Symbol.asyncDispose]());

let workspaceId: string;
let name: string;
let count = 0;
beforeEach(async () => {
  name = `app-${(count += 1)}`;
  workspaceId = (await harness.create(`${O}/workspaces`, 'workspaces', { name })).id;
  await uploadsTo(harness, workspaceId).lock();
});

const send = (serial: number, more: object = {}) => {
  const text = stateText(serial);
  const state = Buffer.from(text).toString('base64');
  return uploadsTo(harness, workspaceId).announce(serial, text, {
    state,
    'json-state': state,
    ...more,
  });
};
const list = async () => {
  const filter = `filter[organization][name]=acme&filter[workspace][name]=${name}`;
  return (await harness.call('GET', `/state-versions?${filter}&page[size]=100`)).list;
};
const SERIALS = Array.from({ length: 40 }, (_, index) => index + 1);
const PAIRS = Array.from({ length: 20 }, (_, index) => [2 * index + 1, 2 * index + 2] as const);

describe('forty states, two at a time', () => {
  test('are all stored if their serials follow each other', async () => {
    const statuses = new Set<number>();
    for (const pair of PAIRS) {
      const replies = await Promise.all(pair.map((serial) => send(serial, { force: true })));
      for (const { status } of replies) statuses.add(status);
    }
    expect([...statuses]).toEqual([201]);
    const stored = await list();
    expect(new Set(stored.map(({ attributes }) => attributes['serial']))).toEqual(new Set(SERIALS));
    expect(new Set(stored.map(({ attributes }) => attributes['status']))).toEqual(
      new Set(['finalized']),
    );
  });

  test('are refused only for their serial, and then leave no version', async () => {
    const replies = [];
    for (const pair of PAIRS) replies.push(...(await Promise.all(pair.map((one) => send(one)))));
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused.filter(({ errors }) => !errors[0]?.detail.includes('serial'))).toEqual([]);
    expect(await list()).toHaveLength(replies.length - refused.length);
    const current = await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`);
    expect(current.data.attributes['serial']).toBe(40);
    expect((await uploadsTo(harness, workspaceId).unlock()).status).toBe(200);
  });
});

test.for([
  ['another MD5 hash', { md5: '0'.repeat(32) }, 412],
  ['no state', { state: Buffer.from('[]').toString('base64') }, 422],
] as const)('leave no version if one has %s', async ([, more, status]) => {
  expect((await send(1, more)).status).toBe(status);
  expect(await list()).toEqual([]);
});
