import { describe, expect, test } from 'vitest';
import { type Identity, resolvePathTemplate } from './path-template.ts';

const IDENTITY: Identity = {
  entity: {
    id: 'e1',
    name: 'alice',
    metadata: { team: 'blue', wide: 'a/*', 'example.com/site': 'north' },
    aliases: {
      oidc_1: {
        id: 'a1',
        name: 'alice@x',
        metadata: { role: 'dev', 'claims.team': 'red' },
        customMetadata: { site: 'north' },
      },
    },
  },
  groups: [
    { id: 'g1', name: 'ops', metadata: { cost: '4711', 'cost.center': '12' } },
    { id: 'g2', name: 'ops.night', metadata: {} },
  ],
};

describe('parameters in paths', () => {
  test.for<[string, string | undefined]>([
    ['kv/plain', 'kv/plain'],
    ['kv/{{identity.entity.id}}/*', 'kv/e1/*'],
    ['kv/{{ identity.entity.name }}', 'kv/alice'],
    ['kv/{{identity.entity.metadata.team}}', 'kv/blue'],
    ['kv/{{identity.entity.aliases.oidc_1.name}}', 'kv/alice@x'],
    ['kv/{{identity.entity.aliases.oidc_1.metadata.role}}', 'kv/dev'],
    ['kv/{{identity.entity.aliases.oidc_1.id}}', 'kv/a1'],
    ['kv/{{identity.entity.aliases.oidc_1.custom_metadata.site}}', 'kv/north'],
    ['kv/{{identity.entity.aliases.oidc_2.id}}', undefined],
    ['kv/{{identity.entity.metadata}}', undefined],
    ['kv/{{identity.entity.groups.names}}', undefined],
    ['kv/{{identity.groups.ids.g1.name}}', 'kv/ops'],
    ['kv/{{identity.groups.names.ops.id}}', 'kv/g1'],
    ['kv/{{identity.entity.metadata.example.com/site}}', 'kv/north'],
    ['kv/{{identity.entity.aliases.oidc_1.metadata.claims.team}}', 'kv/red'],
    ['kv/{{identity.groups.ids.g1.metadata.cost}}', 'kv/4711'],
    ['kv/{{identity.groups.names.ops.metadata.cost}}', 'kv/4711'],
    ['kv/{{identity.groups.names.ops.metadata.cost.center}}', 'kv/12'],
    ['kv/{{identity.groups.names.ops.night.id}}', 'kv/g2'],
    ['kv/{{identity.groups.names.ops.metadata}}', undefined],
    ['kv/{{identity.groups.names.ops.id.name}}', undefined],
    ['kv/{{identity.groups.other.ops.id}}', undefined],
    ['kv/{{identity.entity.metadata.none}}', undefined],
    ['kv/{{identity.entity.metadata.constructor}}', undefined],
    ['kv/{{identity.entity.metadata.wide}}', undefined],
    ['kv/{{identity.groups.ids.none.name}}', undefined],
    ['kv/{{time.now}}', undefined],
    ['kv/{{identity.entity.id', undefined],
  ])('%s', ([path, resolved]) => {
    expect(resolvePathTemplate(path, IDENTITY)).toBe(resolved);
  });

  test('a long parameter that is not closed takes no longer than others', () => {
    expect(resolvePathTemplate(`kv/{{${' '.repeat(100_000)}`, IDENTITY)).toBeUndefined();
  });

  test('a token without an identity has no rule with a parameter', () => {
    expect(resolvePathTemplate('kv/{{identity.entity.id}}', undefined)).toBeUndefined();
    expect(resolvePathTemplate('kv/x', undefined)).toBe('kv/x');
  });
});
