import { expect, test } from 'vitest';
import { redactPlan } from './redacted-plan.ts';

const SCHEMAS = {
  format_version: '1.0',
  provider_schemas: {
    'example.com/p': {
      provider: {},
      resource_schemas: { used: { version: 0 }, unused: { version: 0 } },
    },
    'example.com/other': {},
  },
};

const planOf = (change: object) => ({
  format_version: '1.2',
  variables: { secret: { value: 'hunter2' } },
  prior_state: { values: 'hunter2' },
  configuration: {},
  resource_changes: [
    { address: 'used.a', type: 'used', provider_name: 'example.com/p', change: { ...change } },
  ],
});

const redact = (plan: object) => redactPlan(plan as never, SCHEMAS);

test('hides sensitive values but keeps their structure, and shows whether they change', () => {
  const redacted = redact(
    planOf({
      actions: ['update'],
      before: { open: 'a', secret: 'hunter2', list: [1, 2], same: 'x' },
      before_sensitive: { secret: true, list: [false, true], same: true },
      after: { open: 'b', secret: 'hunter3', list: [1, 3], same: 'x' },
      after_sensitive: { secret: true, list: [false, true], same: true },
    }),
  );
  expect(redacted['resource_changes']).toMatchObject([
    {
      change: {
        before: { open: 'a', secret: 'REDACTED', list: [1, 0], same: 'REDACTED' },
        after: { open: 'b', secret: 'REDACTED (changed)', list: [1, 1], same: 'REDACTED' },
      },
    },
  ]);
});

test.for(['resource_changes', 'resource_drift', 'deferred_changes'])(
  'hides values marked in %s at any depth, and configuration derived from them',
  (name) => {
    const change = {
      actions: ['update'],
      before: { open: 'a', deep: [{ key: { secret: 'hunter2', port: 22, on: true, none: null } }] },
      before_sensitive: { deep: [{ key: true }] },
      after: { open: 'a', deep: [{ key: { secret: 'hunter3', port: 23, on: false, none: null } }] },
      after_sensitive: { deep: [{ key: true }] },
      generated_config: 'secret = "hunter2"',
    };
    const resource = { address: 'used.a', type: 'used', provider_name: 'example.com/p', change };
    const listed = name === 'deferred_changes' ? { resource_change: resource } : resource;
    const redacted = redact({ format_version: '1.2', [name]: [listed] });
    expect(JSON.stringify(redacted)).not.toContain('hunter');
    const [shown] = redacted[name] as unknown as { readonly resource_change?: object }[];
    expect(shown?.resource_change ?? shown).toEqual({
      ...resource,
      change: {
        ...change,
        before: {
          open: 'a',
          deep: [{ key: { secret: 'REDACTED', port: 0, on: false, none: null } }],
        },
        after: {
          open: 'a',
          deep: [{ key: { secret: 'REDACTED (changed)', port: 1, on: true, none: null } }],
        },
        generated_config: '',
      },
    });
    expect(redacted['provider_schemas']).toHaveProperty([
      'example.com/p',
      'resource_schemas',
      'used',
    ]);
  },
);

test('leaves out variables, states and configuration, and hides outputs', () => {
  const plan = {
    ...planOf({ actions: ['no-op'], before: null, after: null }),
    relevant_attributes: [{ resource: 'used.a', attribute: ['open'] }],
    output_changes: {
      open: { actions: ['create'], before: null, after: 'seen', after_sensitive: false },
      hidden: { actions: ['create'], before: null, after: ['hunter2'], after_sensitive: true },
    },
  };
  const redacted = redact(plan);
  expect(JSON.stringify(redacted)).not.toContain('hunter2');
  expect(redacted['output_changes']).toMatchObject({ open: { after: 'seen' } });
  expect(redacted).toMatchObject({
    plan_format_version: '1.2',
    provider_format_version: '1.0',
    relevant_attributes: plan.relevant_attributes,
  });
});

test('keeps the schemas of the resources in the plan', () => {
  const redacted = redact(planOf({ actions: ['create'], before: null, after: {} }));
  expect(redacted['provider_schemas']).toEqual({
    'example.com/p': {
      provider: {},
      resource_schemas: { used: { version: 0 } },
      data_source_schemas: {},
    },
  });
});

test('keeps what refers to what in the configuration, and none of its values', () => {
  const child = {
    resources: [{ address: 'used.b', expressions: { name: { references: ['var.name'] } } }],
    outputs: { id: { sensitive: true, expression: { references: ['used.b.id', 'used.b'] } } },
    variables: { name: { default: 'hunter2' } },
  };
  const redacted = redact({
    format_version: '1.2',
    configuration: {
      provider_config: { p: { expressions: { password: { constant_value: 'hunter2' } } } },
      root_module: {
        variables: { secret: { default: 'hunter2', sensitive: true } },
        resources: [
          {
            address: 'used.a',
            depends_on: ['used.c'],
            count_expression: { references: ['var.count'] },
            expressions: {
              secret: { constant_value: 'hunter2' },
              map: { constant_value: { references: ['hunter2'] } },
              rule: [{ port: { references: ['module.m.id', 'module.m'] } }],
            },
          },
          'no resource',
        ],
        module_calls: {
          m: { expressions: { name: { references: ['var.secret'] }, x: {} }, module: child },
        },
      },
    },
    checks: [{ address: { to_display: 'check.c' }, status: 'fail' }],
  });
  expect(JSON.stringify(redacted)).not.toContain('hunter2');
  expect(redacted).toMatchObject({
    checks: [{ address: { to_display: 'check.c' }, status: 'fail' }],
    configuration: {
      root_module: {
        resources: [
          {
            address: 'used.a',
            expressions: { references: ['module.m.id', 'module.m', 'var.count', 'used.c'] },
          },
        ],
        module_calls: {
          m: {
            expressions: { name: { references: ['var.secret'] } },
            module: {
              resources: [{ address: 'used.b', expressions: { references: ['var.name'] } }],
              outputs: { id: { expression: { references: ['used.b.id', 'used.b'] } } },
            },
          },
        },
      },
    },
  });
});
