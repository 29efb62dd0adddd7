/** Teams with a grant on one workspace, and the ways in which the rights of their members end. */
import type { Harness } from './workspace-harness.ts';

const O = '/organizations/acme';

let serial = 0;

/** A team with this access to the workspace; callers are its member and the team itself. */
export const teamWith = async (harness: Harness, workspaceId: string, attributes: object) => {
  const number = (serial += 1);
  const team = await harness.create(`${O}/teams`, 'teams', { name: `granted-${number}` });
  const grant = await harness.create('/team-workspaces', 'team-workspaces', attributes, {
    relationships: {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: workspaceId } },
    },
  });
  const member = await harness.addUser(`member-${number}`, team.id);
  const path = `/teams/${team.id}/authentication-token`;
  const made = await harness.create(path, 'authentication-tokens', {});
  const tokens = { member: member.token, team: String(made.attributes['token']) };
  return { teamId: team.id, grantId: grant.id, memberId: member.id, tokens };
};

export type TeamWithAccess = Awaited<ReturnType<typeof teamWith>>;

/** Gives the team another access to its workspace. */
export const narrow = (harness: Harness, { grantId }: TeamWithAccess, access: string) =>
  harness.call('PATCH', `/team-workspaces/${grantId}`, {
    data: { type: 'team-workspaces', attributes: { access } },
  });

/** Ways in which a right of the member ends after it was used. */
export const ENDS = {
  'the grant is removed': (harness: Harness, { grantId }: TeamWithAccess) =>
    harness.call('DELETE', `/team-workspaces/${grantId}`),
  'the grant is narrowed to reading': (harness: Harness, team: TeamWithAccess) =>
    narrow(harness, team, 'read'),
  'the token is deleted': async (harness: Harness, { memberId }: TeamWithAccess) => {
    const path = `/users/${memberId}/authentication-tokens`;
    for (const { id } of (await harness.call('GET', path)).list) {
      await harness.call('DELETE', `/authentication-tokens/${id}`);
    }
  },
  'the member leaves the team': (harness: Harness, { teamId, memberId }: TeamWithAccess) =>
    harness.call('DELETE', `/teams/${teamId}/relationships/users`, {
      data: [{ type: 'users', id: memberId }],
    }),
} as const;
