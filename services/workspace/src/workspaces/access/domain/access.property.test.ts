import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_ACCESS_FLAGS,
  type OrganizationAccess,
  uniteOrganizationAccess,
} from '../../../identity/model/domain/organization-access.ts';
import { LEAST_CUSTOM_RIGHTS, toWorkspaceRights, WORKSPACE_ACCESS_LEVELS } from './team-grants.ts';
import { decideWorkspacePermissions, type WorkspacePermissions } from './workspace-permissions.ts';
import {
  MOCKS_RIGHTS,
  NO_RIGHTS,
  RUNS_RIGHTS,
  STATE_RIGHTS,
  uniteRights,
  VARIABLES_RIGHTS,
  type WorkspaceRights,
} from './workspace-rights.ts';

const rights: fc.Arbitrary<WorkspaceRights> = fc.record({
  runs: fc.constantFrom(...RUNS_RIGHTS),
  variables: fc.constantFrom(...VARIABLES_RIGHTS),
  stateVersions: fc.constantFrom(...STATE_RIGHTS),
  sentinelMocks: fc.constantFrom(...MOCKS_RIGHTS),
  workspaceLocking: fc.boolean(),
  runTasks: fc.boolean(),
  isAdmin: fc.boolean(),
  canDelete: fc.boolean(),
  canMove: fc.boolean(),
});

const decide = (held: WorkspaceRights): WorkspacePermissions =>
  decideWorkspacePermissions({
    rights: held,
    isOwner: false,
    adminsMayForceDelete: false,
    allowDestroyPlan: true,
  });

const granted = (permissions: WorkspacePermissions): string[] =>
  Object.entries(permissions).flatMap(([name, isHeld]) => (isHeld ? [name] : []));

describe('rights on a workspace', () => {
  test('do not exist without a grant', () => {
    expect(granted(decide(NO_RIGHTS))).toEqual([]);
    expect(uniteRights([])).toEqual(NO_RIGHTS);
  });

  test('of several grants do not depend on their order', () => {
    fc.assert(
      fc.property(fc.array(rights, { maxLength: 5 }), (grants) => {
        expect(uniteRights(grants.toReversed())).toEqual(uniteRights(grants));
        expect(uniteRights([...grants, ...grants])).toEqual(uniteRights(grants));
      }),
    );
  });

  test('never shrink with a further grant', () => {
    fc.assert(
      fc.property(rights, rights, (one, other) => {
        const before = granted(decide(one));
        const after = granted(decide(uniteRights([one, other])));
        expect(after).toEqual(expect.arrayContaining(before));
      }),
    );
  });

  test('grow from each level to the next', () => {
    const levels = WORKSPACE_ACCESS_LEVELS.filter((level) => level !== 'custom').map((level) =>
      granted(decide(toWorkspaceRights(level, LEAST_CUSTOM_RIGHTS))),
    );
    for (const [at, level] of levels.slice(1).entries()) {
      expect(level).toEqual(expect.arrayContaining(levels[at] ?? []));
      expect(level.length).toBeGreaterThan(levels[at]?.length ?? 0);
    }
  });

  test('include forced deletion only for owners, or for administrators where that is allowed', () => {
    fc.assert(
      fc.property(rights, fc.boolean(), fc.boolean(), (held, isOwner, adminsMayForceDelete) => {
        const { canForceDelete } = decideWorkspacePermissions({
          rights: held,
          isOwner,
          adminsMayForceDelete,
          allowDestroyPlan: true,
        });
        const expected = held.canDelete && (isOwner || (held.isAdmin && adminsMayForceDelete));
        expect(canForceDelete).toBe(expected);
      }),
    );
  });
});

describe('access to an organization', () => {
  const access: fc.Arbitrary<OrganizationAccess> = fc
    .subarray([...ORGANIZATION_ACCESS_FLAGS])
    .map((flags) => ({
      ...NO_ORGANIZATION_ACCESS,
      ...Object.fromEntries(flags.map((flag) => [flag, true])),
    }));

  test('includes every flag of a team, and uniting again adds none', () => {
    fc.assert(
      fc.property(fc.array(access, { maxLength: 4 }), (grants) => {
        const united = uniteOrganizationAccess(grants);
        for (const flag of ORGANIZATION_ACCESS_FLAGS) {
          const isGranted = grants.some((grant) => grant[flag]);
          expect(united[flag] || !isGranted).toBe(true);
        }
        expect(uniteOrganizationAccess([united])).toEqual(united);
      }),
    );
  });

  test('without a team grants nothing', () => {
    expect(uniteOrganizationAccess([])).toEqual(NO_ORGANIZATION_ACCESS);
  });
});
