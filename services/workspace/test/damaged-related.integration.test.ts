/**
 * Every record of an organization is damaged in turn. Lists, with everything that they can include, show what
 * is left; only those of the damaged thing itself are refused, and they name the record.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { teamWith } from './ended-rights.ts';
import { populate } from './populated-workspace.ts';
import { startRunHarness } from './run-harness.ts';
import type { Harness, Reply } from './workspace-harness.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
/** Lists, with the kinds of records of what they belong to: they are refused when one of these is damaged. */
let lists: readonly (readonly [path: string, ...kinds: string[]])[];
let callerId = '';
/** A member of a team that may read one workspace and one project. */
let member = { id: '', token: '' };
const refer = (type: string, ...ids: readonly string[]) => ({
  data: ids.map((id) => ({ type, id })),
});

beforeAll(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
  callerId = (await harness.call('GET', '/account/details')).data.id;
  const project = await harness.create(`${O}/projects`, 'projects', { name: 'Shop' });
  const source = await runs.makeWorkspace();
  const workspaceId = await runs.makeWorkspace();
  const { teamId, tokens, memberId } = await teamWith(harness, workspaceId, { access: 'read' });
  await harness.create(
    '/team-projects',
    'team-projects',
    { access: 'read' },
    {
      relationships: {
        team: { data: { type: 'teams', id: teamId } },
        project: { data: { type: 'projects', id: project.id } },
      },
    },
  );
  member = { id: memberId, token: tokens.member };
  const { applied } = await populate(runs, workspaceId, source);
  const set = await harness.create(
    `${O}/varsets`,
    'varsets',
    { name: 'common' },
    {
      relationships: {
        vars: { data: [{ type: 'vars', attributes: { key: 'k', value: 'x', category: 'env' } }] },
        workspaces: refer('workspaces', workspaceId, source),
        projects: refer('projects', project.id),
      },
    },
  );
  const client = await harness.create(
    `${O}/oauth-clients`,
    'oauth-clients',
    {
      'service-provider': 'github',
      'http-url': 'https://git.example',
      'api-url': 'https://git.example/api',
      'oauth-token-string': 't',
      'organization-scoped': false,
    },
    { relationships: { projects: refer('projects', project.id) } },
  );
  await harness.create(
    `${O}/agent-pools`,
    'agent-pools',
    { name: 'restricted', 'organization-scoped': false },
    {
      relationships: {
        'allowed-workspaces': refer('workspaces', workspaceId),
        'allowed-projects': refer('projects', project.id),
      },
    },
  );
  await harness.create(`${O}/ssh-keys`, 'ssh-keys', { name: 'key', value: 'x' });
  await harness.create(`${O}/reserved-tag-keys`, 'reserved-tag-keys', { key: 'tagged' });
  const W = `/workspaces/${workspaceId}`;
  const ofWorkspace = ['workspaces', 'projects'];
  lists = [
    [
      `${O}/workspaces?include=organization,project,locked_by,vars,current_run,current_run.plan,current_state_version,outputs,agent_pool,effective_tag_bindings,readme,current_configuration_version`,
    ],
    [`${O}/projects?include=effective_tag_bindings`],
    [`${O}/teams?include=users,organization-memberships`],
    [`${O}/organization-memberships?include=user,teams`],
    [`${O}/varsets?include=vars,workspaces,projects`],
    [`${W}/varsets?include=vars,workspaces,projects`, ...ofWorkspace],
    [`/projects/${project.id}/varsets`, 'projects'],
    [`/varsets/${set.id}/relationships/vars`, 'variable-sets'],
    [`${O}/oauth-clients?include=oauth_tokens,projects`],
    [`${O}/oauth-tokens`],
    [`/oauth-clients/${client.id}/oauth-tokens`, 'oauth-clients', 'oauth-tokens'],
    [`${O}/agent-pools?include=workspaces`],
    [`/agent-pools/${runs.poolId}/agents`, 'agent-pools'],
    [`/agent-pools/${runs.poolId}/authentication-tokens`, 'agent-pools'],
    [
      `${O}/runs?include=plan,apply,workspace,created_by,configuration_version,configuration_version.ingress_attributes,run_events`,
    ],
    [`${O}/runs/queue?include=workspace`],
    [`${O}/capacity`],
    [
      `${W}/runs?include=plan,apply,workspace,created_by,configuration_version,run_events`,
      ...ofWorkspace,
    ],
    [`/runs/${applied}/run-events?include=actor,comment`, 'runs', ...ofWorkspace],
    [`/runs/${applied}/comments`, 'runs', ...ofWorkspace],
    [
      `/state-versions?filter[organization][name]=acme&filter[workspace][name]=app-2&include=outputs,created_by,run,run.created_by,run.configuration_version`,
      'workspace-names',
      ...ofWorkspace,
    ],
    [
      `${W}/current-state-version-outputs`,
      'state-versions',
      'state-summaries',
      'workspace-states',
      ...ofWorkspace,
    ],
    [`${W}/resources`, 'state-summaries', 'state-instances', 'workspace-states', ...ofWorkspace],
    [`${W}/configuration-versions?include=ingress_attributes`, ...ofWorkspace],
    [
      `${W}/run-triggers?filter[run-trigger][type]=inbound&include=workspace,sourceable`,
      ...ofWorkspace,
    ],
    [
      `/workspaces/${source}/run-triggers?filter[run-trigger][type]=outbound&include=workspace,sourceable`,
      ...ofWorkspace,
    ],
    [`${W}/notification-configurations`, ...ofWorkspace],
    [`${W}/vars`, 'workspace-variables', ...ofWorkspace],
    [`${W}/relationships/tags`, ...ofWorkspace],
    [`${W}/relationships/remote-state-consumers`, ...ofWorkspace],
    [`/team-workspaces?filter[workspace][id]=${workspaceId}`, ...ofWorkspace],
    [`/team-projects?filter[project][id]=${project.id}`, 'projects'],
    [`${O}/ssh-keys`],
    [`${O}/tags`],
    [`${O}/reserved-tag-keys`],
    [`${O}/team-tokens`],
    ['/organization-memberships?include=user,teams'],
    ['/organizations'],
  ];
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Without them nobody is known, no organization is found, and no address can be signed. */
const isNeededByAll = (path: string): boolean =>
  [callerId, member.id].some((id) => path.endsWith(`/${id}`)) ||
  ['tokens/', 'organizations/', 'organization-names/', 'signing-keys/'].some((prefix) =>
    path.startsWith(`shared/${prefix}`),
  );

/** The flaw of an answer while the record at `path` is damaged; undefined if there is none. */
const problemOf = (
  { status, errors, list, meta }: Reply,
  path: string,
  kinds: readonly string[],
): string | undefined => {
  if (status !== 200) {
    const detail = String(errors[0]?.detail);
    const isOwn = kinds.some((kind) => path.startsWith(`shared/${kind}/`));
    return isOwn && detail.includes(path) ? undefined : `${status} ${detail}`;
  }
  const total = meta?.pagination?.['total-count'];
  const missing = typeof total === 'number' && path !== 'intact' ? total - list.length : 0;
  const told = Number.parseInt(meta?.warnings?.[0] ?? '0', 10);
  return missing === told ? undefined : `${missing} missing, but the warning is of ${told}`;
};

test('lists are shown without the records that are damaged', async () => {
  const all = await harness.store.stored.listPaths('replicated', 'shared/', 10_000);
  // Rows of indexes are found by their paths, and their values are never read.
  const paths = all.filter(
    (path) => path.startsWith('shared/') && !path.includes('~') && !isNeededByAll(path),
  );
  const failures: string[] = [];
  for (const path of ['intact', ...paths]) {
    const kept = await harness.store.stored.read([path]);
    const damaged = kept.map((record) => ({ ...record, stored: Buffer.from([0]) }));
    await harness.store.applyRecords('damage', damaged);
    for (const [list, ...kinds] of lists) {
      const asMember = await harness.call('GET', list, undefined, member.token);
      // The member sees less than the owner, and nothing by a damaged grant.
      const seen = asMember.status === 404 ? [] : [asMember];
      for (const answer of [await harness.call('GET', list), ...seen]) {
        const problem = problemOf(answer, path, kinds);
        if (problem !== undefined) failures.push(`${path}: ${list}: ${problem}`);
      }
    }
    await harness.store.applyRecords('repair', kept);
  }
  expect(failures).toEqual([]);
}, 120_000);
