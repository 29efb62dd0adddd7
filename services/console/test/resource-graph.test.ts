/**
 * Dependencies among the changed resources of a plan, and its checks.
 *
 * | in the plan                                              | drawn                                          |
 * | -------------------------------------------------------- | ---------------------------------------------- |
 * | a reference, a block's reference, `depends_on`           | an arrow to what refers                        |
 * | a reference over a resource that does not change         | an arrow over it                               |
 * | an output of a module, an argument of a module           | an arrow into and out of the module            |
 * | instances by count and for_each                          | one node, with the change that loses most      |
 * | references in a circle, modules without an end           | nothing that never ends                        |
 * | more than 500 resources; no configuration                | no picture                                     |
 */
import { describe, expect, test } from 'vitest';
import type { PlanJson } from '../src/browser/runs/plan/plan-json.ts';
import { plannedChecks } from '../src/browser/runs/plan/planned-checks.ts';
import { columnsOf, resourceGraph } from '../src/browser/runs/plan/resource-graph.ts';

const changed = (address: string, ...actions: readonly string[]) => ({
  address,
  change: { actions: actions.length === 0 ? ['create'] : actions },
});

const refers = (address: string, ...references: readonly string[]) => ({
  address,
  expressions: { references },
});

const edgesOf = (plan: PlanJson): readonly string[] =>
  (resourceGraph(plan) ?? []).flatMap(({ address, dependsOn }) =>
    dependsOn.map((one) => `${one} → ${address}`),
  );

describe('dependencies', () => {
  test('follow references of any form, and lead over what does not change', () => {
    const plan: PlanJson = {
      resource_changes: ['a.one', 'a.two', 'a.three', 'a.four'].map((one) => changed(one)),
      configuration: {
        root_module: {
          resources: [
            refers('a.one'),
            refers('a.two', 'a.one.id', 'a.one', 'var.size', 'each.value'),
            refers('data.b.same', 'a.two[0].name', 'a.two'),
            {
              address: 'a.three',
              expressions: { rule: [{ port: { references: ['data.b.same.id'] } }] },
            },
            { address: 'a.four', depends_on: ['a.three'] },
          ],
        },
      },
    };
    expect(edgesOf(plan)).toEqual(['a.one → a.two', 'a.two → a.three', 'a.three → a.four']);
    expect(Object.fromEntries(columnsOf(resourceGraph(plan) ?? []))).toEqual({
      'a.one': 0,
      'a.two': 1,
      'a.three': 2,
      'a.four': 3,
    });
  });

  test('lead into modules by their arguments, and out of them by their outputs', () => {
    const plan: PlanJson = {
      resource_changes: [
        changed('a.network'),
        changed('module.web["x.y"].a.host[0]', 'delete'),
        changed('module.web["x.y"].a.host[1]', 'update'),
        changed('a.name'),
      ],
      configuration: {
        root_module: {
          resources: [refers('a.network'), refers('a.name', 'module.web.address', 'module.web')],
          module_calls: {
            web: {
              expressions: { net: { references: ['a.network.id', 'a.network'] } },
              module: {
                resources: [refers('a.host', 'var.net')],
                outputs: { address: { expression: { references: ['a.host.ip', 'a.host'] } } },
              },
            },
          },
        },
      },
    };
    expect(edgesOf(plan).toSorted()).toEqual([
      'a.network → module.web.a.host',
      'module.web.a.host → a.name',
    ]);
    expect(resourceGraph(plan)?.find(({ count }) => count === 2)).toMatchObject({
      address: 'module.web.a.host',
      kind: 'delete',
    });
  });

  test('end in a document that goes in circles', () => {
    const module = {
      resources: [refers('a.x', 'module.m.out', 'a.y'), refers('a.y', 'a.x')],
      outputs: { out: { expression: { references: ['var.in'] } } },
      module_calls: {} as Record<string, object>,
    };
    module.module_calls['m'] = { expressions: { in: { references: ['module.m.out'] } }, module };
    const plan: PlanJson = {
      resource_changes: [changed('a.x'), changed('a.y')],
      configuration: { root_module: module },
    };
    expect(edgesOf(plan)).toEqual(['a.y → a.x', 'a.x → a.y']);
    expect(columnsOf(resourceGraph(plan) ?? []).size).toBe(2);
  });

  test('are not looked for in a plan without a configuration, or with too many resources', () => {
    const many = Array.from({ length: 501 }, (_, at) => changed(`a.n${at}`));
    expect(resourceGraph({ resource_changes: many })).toBeUndefined();
    const configuration = { root_module: { resources: [] } };
    expect(resourceGraph({ resource_changes: many, configuration })).toBeUndefined();
    const instances = Array.from({ length: 10_000 }, (_, at) => changed(`a.n[${at}]`));
    expect(resourceGraph({ resource_changes: instances, configuration })).toHaveLength(1);
  });
});

test('checks are those of each instance, with what is not met first', () => {
  const to = (display: string) => ({ to_display: display });
  const checks = plannedChecks({
    checks: [
      {
        address: to('check.ok'),
        status: 'pass',
        instances: [{ address: to('check.ok'), status: 'pass' }],
      },
      {
        address: to('a.many'),
        status: 'fail',
        instances: [
          { address: to('a.many[0]'), status: 'pass' },
          {
            address: to('a.many[1]'),
            status: 'fail',
            problems: [{ message: 'too small' }, { message: 'too small' }, {}],
          },
        ],
      },
      { address: to('output.later'), status: 'unknown' },
      { address: to('a.strange'), status: 'a new status' },
      {},
    ],
  });
  expect(checks.map(({ address, status, problems }) => [address, status, ...problems])).toEqual([
    ['a.many[1]', 'fail', 'too small'],
    ['output.later', 'unknown'],
    ['a.strange', 'unknown'],
    ['', 'unknown'],
    ['check.ok', 'pass'],
    ['a.many[0]', 'pass'],
  ]);
  expect(plannedChecks({})).toEqual([]);
});
