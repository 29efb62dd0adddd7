/** An organization in which every list that has parameters has something to select. */
import { populate } from './populated-workspace.ts';
import { startRunHarness } from './run-harness.ts';
import type { Harness } from './workspace-harness.ts';

export interface Populateed {
  readonly harness: Harness;
  /** Values of the parameters of paths, by name. */
  readonly ids: Readonly<Record<string, string>>;
  /** The token of a user whose team may read. */
  readonly memberToken: string;
}

const O = '/organizations/acme';

const related = (type: string, id: string) => ({ data: { type, id } });

/** Tokens of several owners, a team with access, and a variable set that applies everywhere. */
const populateIdentity = async (harness: Harness, workspaceId: string, projectId: string) => {
  const make = async (path: string, type: string, attributes: object, extra: object = {}) =>
    (await harness.create(path, type, attributes, extra)).id;
  await make(`${O}/authentication-token`, 'authentication-tokens', {});
  const teamId = await make(`${O}/teams`, 'teams', { name: 'team' });
  const otherTeamId = await make(`${O}/teams`, 'teams', { name: 'other' });
  for (const id of [teamId, otherTeamId])
    await make(`/teams/${id}/authentication-tokens`, 'authentication-tokens', { description: id });
  const { id: userId, token: memberToken } = await harness.addUser('user', teamId);
  for (const [target, type, id] of [
    ['workspace', 'workspaces', workspaceId],
    ['project', 'projects', projectId],
  ] as const) {
    const relationships = { team: related('teams', teamId), [target]: related(type, id) };
    await make(`/team-${type}`, `team-${type}`, { access: 'read' }, { relationships });
  }
  const set = await make(`${O}/varsets`, 'varsets', { name: 'set', global: true });
  await make(`/varsets/${set}/relationships/vars`, 'vars', { key: 'k', category: 'terraform' });
  const memberships = await harness.call('GET', `${O}/organization-memberships`);
  return {
    memberToken,
    ids: {
      team_id: teamId,
      user_id: userId,
      varset_id: set,
      membership_id: memberships.list[0]?.id ?? '',
    },
  };
};

export const populateLists = async (): Promise<Populateed> => {
  const runs = await startRunHarness();
  const { harness } = runs;
  await harness.create('/organizations', 'organizations', { name: 'globex', email: 'a@b.example' });
  const workspaceId = await runs.makeWorkspace({ 'global-remote-state': true });
  const { applied } = await populate(runs, workspaceId, await runs.makeWorkspace());
  const workspace = await harness.call('GET', `/workspaces/${workspaceId}`);
  const projectId = (workspace.data.relationships['project'] as { data: { id: string } }).data.id;
  for (const path of [`/workspaces/${workspaceId}`, `/projects/${projectId}`])
    await harness.call('PATCH', `${path}/tag-bindings`, {
      data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }],
    });
  await harness.create(`${O}/projects`, 'projects', { name: 'another' });
  await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'another' });
  const client = await harness.create(`${O}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'gitea',
    'http-url': 'https://git.example',
    'api-url': 'https://git.example/api/v1',
    'oauth-token-string': 't',
  });
  await runs.queue(await runs.makeWorkspace());
  const { ids, memberToken } = await populateIdentity(harness, workspaceId, projectId);
  const idIn = async (path: string) => (await harness.call('GET', path)).list[0]?.id ?? '';
  const state = await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`);
  return {
    harness,
    memberToken,
    ids: {
      ...ids,
      organization_name: 'acme',
      workspace_name: String(workspace.data.attributes['name']),
      workspace_id: workspaceId,
      project_id: projectId,
      agent_pool_id: runs.poolId,
      oauth_client_id: client.id,
      run_id: applied,
      state_version_id: state.data.id,
      configuration_version_id: await idIn(`/workspaces/${workspaceId}/configuration-versions`),
      run_event_id: await idIn(`/runs/${applied}/run-events`),
      run_trigger_id: await idIn(
        `/workspaces/${workspaceId}/run-triggers?filter[run-trigger][type]=inbound`,
      ),
    },
  };
};
