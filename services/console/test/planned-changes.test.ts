/**
 * Changes that a plan announces, as the page of a run shows them.
 *
 * | in the plan                                   | said                                                     |
 * | --------------------------------------------- | -------------------------------------------------------- |
 * | forget, import, move without another change   | each as an action of its own, never left out             |
 * | delete and create, in either order            | a replacement, with the reason                           |
 * | a value that is partly unknown or sensitive   | those parts alone are hidden                             |
 * | a list, a map, a text of JSON, several lines  | the places that differ                                   |
 * | outputs that end, drift, deferred changes     | apart from changes of resources                          |
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlanJson } from '../src/browser/runs/plan/plan-json.ts';
import {
  driftChanges,
  outputChanges,
  resourceChanges,
} from '../src/browser/runs/plan/planned-changes.ts';
import { valueChanges } from '../src/browser/runs/plan/value-changes.ts';

const resource = (address: string, change: object, further: object = {}) =>
  ({ address, change, ...further }) as NonNullable<PlanJson['resource_changes']>[number];

describe('changes of resources', () => {
  test('are of every kind, with what is lost first, and leave out only what does not change', () => {
    const changes = resourceChanges({
      resource_changes: [
        resource('a.same', { actions: ['no-op'], before: { x: 1 }, after: { x: 1 } }),
        resource('a.read', { actions: ['read'] }, { action_reason: 'read_because_config_unknown' }),
        resource('a.new', { actions: ['create'] }),
        resource('a.moved', { actions: ['no-op'] }, { previous_address: 'a.old' }),
        resource('a.imported', { actions: ['no-op'], importing: { id: 'i-1' } }),
        resource('a.changed', { actions: ['update'] }, { previous_address: 'a.before' }),
        resource('a.forgotten', { actions: ['forget'] }),
        resource(
          'module.m.a.again',
          { actions: ['delete', 'create'] },
          { module_address: 'module.m', action_reason: 'replace_because_tainted' },
        ),
        resource('a.first', { actions: ['create', 'delete'] }, { action_reason: 'a_new_reason' }),
        resource(
          'a.gone',
          { actions: ['delete'] },
          { action_reason: 'delete_because_no_resource_config' },
        ),
      ],
      deferred_changes: [
        {
          reason: 'provider_config_unknown',
          resource_change: resource('a.later', { actions: ['create'] }),
        },
      ],
    });
    expect(
      changes.map(({ kind, address, reason, formerAddress, importedAs }) =>
        [kind, address, reason, formerAddress, importedAs].filter((one) => one !== undefined),
      ),
    ).toEqual([
      ['delete', 'a.gone', 'its configuration is gone'],
      ['replace', 'module.m.a.again', 'it is tainted'],
      ['replace', 'a.first', 'a new reason'],
      ['forget', 'a.forgotten'],
      ['update', 'a.changed', 'a.before'],
      ['create', 'a.new'],
      ['import', 'a.imported', 'i-1'],
      ['move', 'a.moved', 'a.old'],
      ['read', 'a.read', 'its configuration is known after apply'],
      ['defer', 'a.later', 'provider config unknown'],
    ]);
  });

  test('made outside of the tool are apart', () => {
    const plan = {
      resource_drift: [
        resource('a.one', { actions: ['update'], before: { n: 1 }, after: { n: 2 } }),
      ],
    };
    expect(resourceChanges(plan)).toEqual([]);
    expect(driftChanges(plan)).toMatchObject([
      { address: 'a.one', kind: 'update', values: [{ path: 'n', before: '1', after: '2' }] },
    ]);
  });
});

test('outputs say what becomes of each, and never show what is sensitive', () => {
  expect(
    outputChanges({
      output_changes: {
        stays: { actions: ['no-op'] },
        count: { actions: ['update'], before: 1, after: 2 },
        secret: { actions: ['create'], after: 'hush', after_sensitive: true },
        gateway: { actions: ['delete'], before: 'x' },
        later: { actions: ['create'], after_unknown: true },
      },
    }),
  ).toEqual([
    {
      name: 'gateway',
      kind: 'delete',
      values: [{ path: 'value', before: '"x"', after: undefined }],
    },
    { name: 'count', kind: 'update', values: [{ path: 'value', before: '1', after: '2' }] },
    {
      name: 'secret',
      kind: 'create',
      values: [{ path: 'value', before: undefined, after: '(sensitive)' }],
    },
    {
      name: 'later',
      kind: 'create',
      values: [{ path: 'value', before: undefined, after: '(known after apply)' }],
    },
  ]);
});

describe('values', () => {
  const changed = (before: unknown, after: unknown, marks: object = {}) =>
    valueChanges({ before, after, ...marks }).map(({ path, before: old, after: next }) => [
      path,
      old,
      next,
    ]);

  test('are compared within maps and lists', () => {
    expect(
      changed(
        { tags: { Name: 'a', 'with space': 1 }, rules: [{ port: 1 }, { port: 2 }], same: [1] },
        { tags: { Name: 'b' }, rules: [{ port: 1 }, { port: 3 }], same: [1] },
      ),
    ).toEqual([
      ['rules[1].port', '2', '3'],
      ['tags.Name', '"a"', '"b"'],
      ['tags["with space"]', '1', undefined],
    ]);
  });

  test('of a list that grows or shrinks are what came and what went', () => {
    expect(changed({ l: ['a', 'b', 'c'] }, { l: ['a', 'c', 'd', 'e'] })).toEqual([
      ['l[1]', '"b"', undefined],
      ['l[2]', undefined, '"d"'],
      ['l[3]', undefined, '"e"'],
    ]);
  });

  test('within a text of JSON are named', () => {
    const policy = (effect: string) =>
      JSON.stringify({ Version: '1', Statement: [{ Effect: effect, Action: '*' }] });
    expect(changed({ policy: policy('Allow') }, { policy: policy('Deny') })).toEqual([
      ['policy (JSON).Statement[0].Effect', '"Allow"', '"Deny"'],
    ]);
    expect(changed({ text: '{ no json' }, { text: '{ none' })).toEqual([
      ['text', '"{ no json"', '"{ none"'],
    ]);
  });

  test('of several lines are lines', () => {
    expect(
      valueChanges({ before: 'one\ntwo\nthree\n', after: 'one\n2\nthree\n' }, 'script'),
    ).toMatchObject([
      {
        path: 'script',
        lines: [
          { sign: ' ', text: 'one' },
          { sign: '-', text: 'two' },
          { sign: '+', text: '2' },
          { sign: ' ', text: 'three' },
        ],
      },
    ]);
  });

  test('are unknown in part', () => {
    const marks = { unknown: { id: true, list: [false, true] } };
    expect(changed({ list: ['a', 'b'] }, { list: ['a', null] }, marks)).toEqual([
      ['id', undefined, '(known after apply)'],
      ['list[1]', '"b"', '(known after apply)'],
    ]);
    expect(changed(null, null, { unknown: { id: true } })).toEqual([
      ['id', undefined, '(known after apply)'],
    ]);
  });

  test('that are sensitive are hidden, and said to change only if they do', () => {
    const secret = {
      secretBefore: { pin: true, box: { key: true } },
      secretAfter: { pin: true, box: { key: true } },
    };
    expect(
      changed({ pin: 1, box: { key: 'x', n: 1 } }, { pin: 1, box: { key: 'y', n: 2 } }, secret),
    ).toEqual([
      ['box.key', '(sensitive)', '(sensitive)'],
      ['box.n', '1', '2'],
    ]);
    expect(changed({ pin: 1 }, { pin: 1 }, { secretAfter: { pin: true } })).toEqual([
      ['pin', '(sensitive)', '(sensitive)'],
    ]);
  });

  test('nested beyond reason are shown whole, and keep their secrets', () => {
    const nested = (value: unknown): unknown =>
      Array.from({ length: 40 }).reduce((inner: unknown) => ({ a: inner }), value);
    const [change] = valueChanges({ before: nested('one'), after: nested('two') });
    expect(change?.before).toContain('one');
    const hidden = { secretBefore: nested(true), secretAfter: nested(true) };
    expect(
      JSON.stringify(valueChanges({ before: nested('one'), after: nested('two'), ...hidden })),
    ).not.toMatch(/one|two/);
  });

  test('that are the same differ nowhere, and plain ones that are not differ once', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(valueChanges({ before: value, after: structuredClone(value) })).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (before, after) => {
        expect(valueChanges({ before, after })).toHaveLength(before === after ? 0 : 1);
      }),
    );
  });

  test('under a mark are never shown', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (before, after) => {
        const said = valueChanges({
          before: { open: 1, secret: before },
          after: { open: 2, secret: after },
          secretBefore: { secret: true },
          secretAfter: { secret: true },
        });
        for (const { path, before: old, after: next } of said.filter(
          (one) => one.path !== 'open',
        )) {
          expect(path).toBe('secret');
          for (const value of [old, next]) expect([undefined, '(sensitive)']).toContain(value);
        }
      }),
    );
  });
});
