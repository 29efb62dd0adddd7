import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mountGroup,
  namespaceGroup,
  parseGroup,
  recordGroups,
  WORKSPACE_GROUP,
} from './record-groups.ts';

const groups = recordGroups([
  { below: 'shared/core/mounts/', named: 'mount', segment: 'last' },
  { below: 'shared/core/namespaces/', named: 'namespace', segment: 'first', isLast: true },
  { below: 'shared/policies/', named: 'namespace', segment: 'first' },
  { below: 'shared/mounts/', named: 'mount', segment: 'first' },
]);

describe('record groups', () => {
  test.for([
    ['shared/core/mounts/ns/uuid', mountGroup('uuid')],
    ['shared/core/namespaces/ns', namespaceGroup('ns')],
    ['shared/policies/ns/name', namespaceGroup('ns')],
    ['shared/mounts/uuid/roles/a/b', mountGroup('uuid')],
    ['shared/core/audit/file', undefined],
    ['shared/replication/canary', undefined],
    ['local/mounts/uuid/x', undefined],
  ] as const)('%s belongs to %s', ([path, group]) => {
    expect(groups.groupOf(path)).toBe(group);
  });

  test('of a service with a single mount contain all its records except those of replication', () => {
    const whole = recordGroups([{ below: 'shared/', group: WORKSPACE_GROUP }]);
    expect(whole.groupOf('shared/workspaces/one')).toBe(WORKSPACE_GROUP);
    expect(whole.groupOf('shared/replication/canary')).toBeUndefined();
    expect(whole.prefixesOf(WORKSPACE_GROUP)).toEqual(['shared/']);
    expect(whole.prefixesOf(mountGroup('other'))).toEqual([]);
  });

  test('have all their records below their prefixes', () => {
    const name = fc.stringMatching(/^[a-z0-9-]{1,6}$/);
    const path = fc
      .tuple(
        fc.constantFrom(
          'shared/core/mounts/',
          'shared/core/namespaces/',
          'shared/policies/',
          'shared/mounts/',
          'shared/other/',
        ),
        fc.array(name, { minLength: 2, maxLength: 4 }),
      )
      .map(([prefix, rest]) => prefix + rest.join('/'));
    fc.assert(
      fc.property(path, (one) => {
        const group = groups.groupOf(one);
        const prefixes = group === undefined ? ['shared/'] : groups.prefixesOf(group);
        expect(prefixes.some((prefix) => one.startsWith(prefix))).toBe(true);
      }),
      propertySettings(),
    );
  });

  test('are parsed from their names, and nothing else is a group', () => {
    expect(parseGroup(mountGroup('a'))).toEqual({ type: 'mount', id: 'a' });
    expect(parseGroup(namespaceGroup('b'))).toEqual({ type: 'namespace', id: 'b' });
    for (const other of ['', 'mount', 'mount/a/b', 'policy/a'])
      expect(parseGroup(other)).toBeUndefined();
  });
});
