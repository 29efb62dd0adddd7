/**
 * Every route × every kind of caller. The routes come from the service's own description: one without
 * a line here fails. Each line is tried with a valid request, so that only the caller decides.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCode } from '../src/identity/mails/link-mails.ts';
import { userRecords } from '../src/identity/model/user-records.ts';
import { issueSession } from '../src/identity/tokens/session-operations.ts';
import { issueToken } from '../src/identity/tokens/token-operations.ts';
import { attributes, CALLERS, type Caller, O, PROGRAMS } from './callers-table.ts';
import { IDENTITY_CASES } from './callers-table-identity.ts';
import { NEIGHBOUR_CASES, USED_UP } from './callers-table-neighbours.ts';
import { RUN_CASES, RUN_USED_UP } from './callers-table-runs.ts';
import { SITE_CASES } from './callers-table-site.ts';
import { STATE_CASES } from './callers-table-states.ts';
import { WORKSPACE_CASES } from './callers-table-workspaces.ts';
import { enablePasswords } from './password-accounts.ts';
import { mayBeRecorded, takeEvents } from './recorded-events.ts';
import { type Harness, startHarness } from './workspace-harness.ts';

const CASES = {
  ...IDENTITY_CASES,
  ...WORKSPACE_CASES,
  ...NEIGHBOUR_CASES,
  ...STATE_CASES,
  ...RUN_CASES,
  ...SITE_CASES,
};

let harness: Harness;
const tokens = new Map<Caller, string | null>();
const names = new Map<string, string>();
const teamsOf = new Map<Caller, string>();
let serial = 0;

const grant = async (teamId: string, workspaceId: string, access: string) =>
  harness.create(
    '/team-workspaces',
    'team-workspaces',
    { access },
    {
      relationships: {
        team: { data: { type: 'teams', id: teamId } },
        workspace: { data: { type: 'workspaces', id: workspaceId } },
      },
    },
  );

const makeTeam = async (values: object = {}) =>
  (await harness.create(`${O}/teams`, 'teams', { name: `team-${(serial += 1)}`, ...values })).id;

/** A state with one output and one thing that is managed. */
const storeState = async (workspaceId: string): Promise<string> => {
  const state = Buffer.from(
    JSON.stringify({
      outputs: { one: { value: 1, type: 'number' } },
      resources: [{ mode: 'managed', type: 'a', name: 'b', instances: [{}] }],
    }),
  );
  await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`);
  const version = await harness.create(
    `/workspaces/${workspaceId}/state-versions`,
    'state-versions',
    {
      serial: 0,
      md5: createHash('md5').update(state).digest('hex'),
      state: state.toString('base64'),
    },
  );
  await harness.call('POST', `/workspaces/${workspaceId}/actions/unlock`);
  return version.id;
};

beforeAll(async () => {
  const runnerToken = 'token-of-the-built-in-runner-for-the-table';
  harness = await startHarness({
    config: { runnerToken },
    limits: { notifications: 100, invitations: 10_000 },
  });
  tokens.set('runner', runnerToken);
  await enablePasswords(harness);
  // Owner of acme is another user than the site administrator of the table.
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  await harness.create('/organizations', 'organizations', { name: 'globex', email: 'a@b.example' });
  const site = await harness.create('/admin/users', 'users', {
    username: 'site',
    email: 'site@b.example',
    'is-site-admin': true,
  });
  const siteTokens = `/users/${site.id}/authentication-tokens`;
  const made = await harness.create(siteTokens, 'authentication-tokens', {});
  tokens.set('site', String(made.attributes['token']));
  const { list } = await harness.call('GET', `${O}/teams`);
  const owners = list.find((team) => team.attributes['name'] === 'owners');
  tokens.set('owner', (await harness.addUser('owner', owners?.id ?? '')).token);
  tokens.set('none', null);
  tokens.set('unknown', 'never-issued.atlasv1.token');
  await harness.call(
    'POST',
    '/organizations',
    attributes('organizations', { name: 'spare-org', email: 'a@b.example' }),
    tokens.get('site'),
  );

  const subject = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'subject' });
  const locked = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'locked' });
  const other = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'other' });
  await harness.call('POST', `/workspaces/${locked.id}/actions/lock`);
  names.set('ws', subject.id).set('locked', locked.id).set('other', other.id);
  const configuration = await harness.create(
    `/workspaces/${subject.id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  const uploadUrl = String(configuration.attributes['upload-url']);
  await harness.transfer('PUT', uploadUrl, Uint8Array.of(0x1f, 0x8b));
  names.set('cv', configuration.id);
  const version = await storeState(subject.id);
  names.set('sv', version).set('wsout', `wsout-${version.slice(3)}0000`);
  const project = subject.relationships['project']?.data as { id: string };
  names.set('prj', project.id);

  for (const caller of ['read', 'plan', 'write', 'admin'] as const) {
    const team = await makeTeam();
    teamsOf.set(caller, team);
    await grant(team, subject.id, caller);
    await grant(team, locked.id, caller);
    tokens.set(caller, (await harness.addUser(`user-of-${caller}`, team)).token);
  }
  const managing = await makeTeam({ 'organization-access': { 'manage-workspaces': true } });
  tokens.set('manager', (await harness.addUser('manager', managing)).token);
  const plain = await makeTeam();
  tokens.set('member', (await harness.addUser('member', plain)).token);
  await harness.addUser('colleague', plain);
  const elsewhere = await harness.create('/organizations/globex/teams', 'teams', {
    name: 'others',
  });
  tokens.set('stranger', (await harness.addUser('stranger', elsewhere.id)).token);
  const organizationToken = await harness.create(
    `${O}/authentication-token`,
    'authentication-tokens',
    {},
  );
  tokens.set('organization', String(organizationToken.attributes['token']));
  const auditToken = await harness.create(
    `${O}/authentication-token?token=audit-trails`,
    'authentication-tokens',
    {},
  );
  tokens.set('auditor', String(auditToken.attributes['token']));

  const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'pool' });
  const poolTokens = `/agent-pools/${pool.id}/authentication-tokens`;
  const poolToken = await harness.create(poolTokens, 'authentication-tokens', {});
  tokens.set('agent', String(poolToken.attributes['token']));
  names.set('pool', pool.id);
  await assess(subject.id);
  names.set('agent', await registerAgent());

  const spare = await harness.addUser('spare');
  names.set('user', spare.id);
  const tokensOfSpare = `/users/${spare.id}/authentication-tokens`;
  const short = await harness.create(tokensOfSpare, 'authentication-tokens', {
    'expired-at': new Date(harness.clock.nowMs() + 60_000).toISOString(),
  });
  tokens.set('expired', String(short.attributes['token']));
  const gone = await harness.create(tokensOfSpare, 'authentication-tokens', {});
  await harness.call('DELETE', `/authentication-tokens/${gone.id}`, undefined, tokens.get('site'));
  tokens.set('revoked', String(gone.attributes['token']));
  harness.clock.advance(60_000);

  await claimPhase();
  const team = await makeTeam();
  names.set('team', team);
  const visible = await makeTeam({ visibility: 'organization' });
  names.set('tws', (await grant(visible, subject.id, 'read')).id);
  const path = `/teams/${team}/authentication-tokens`;
  names.set('at', (await harness.create(path, 'authentication-tokens', { description: 'at' })).id);
});
afterAll(() => harness[Symbol.asyncDispose]());

const registerAgent = async (): Promise<string> => {
  const agent = attributes('agents', { name: `agent-${(serial += 1)}` });
  return (await harness.call('POST', '/agents', agent, tokens.get('agent'))).data.id;
};

/** Has a health assessment made, with its result. */
const assess = async (workspaceId: string): Promise<void> => {
  const enable = (enabled: boolean) =>
    harness.call(
      'PATCH',
      `/workspaces/${workspaceId}`,
      attributes('workspaces', { 'assessments-enabled': enabled }),
    );
  await enable(true);
  harness.clock.advance(86_400_000);
  const body = { data: { type: 'agents', id: await registerAgent() } };
  await harness.runUpkeep();
  const claim = '/agent-runs/actions/claim';
  const { data } = await harness.call('POST', claim, body, tokens.get('agent'));
  const report = attributes('agent-runs', { status: 'finished' });
  const token = String(data.attributes['token']);
  await harness.call('PATCH', `/agent-runs/${data.id}`, report, token);
  names.set('assessed', data.id.replace('run-', 'asmtres-'));
  await enable(false);
};

/** Claims a phase with a separate agent; its token becomes that of the caller `run`. */
const claimPhase = async (): Promise<string> => {
  await refresh('{newRun}');
  const body = { data: { type: 'agents', id: await registerAgent() } };
  const claimed = await harness.call(
    'POST',
    '/agent-runs/actions/claim',
    body,
    tokens.get('agent'),
  );
  tokens.set('run', String(claimed.data.attributes['token']));
  return claimed.data.id;
};

/** A workspace with work at a provider that only the agents of the pool reach. */
const makeRepositoryWork = async (): Promise<string> => {
  const pool = { 'agent-pool': { data: { type: 'agent-pools', id: names.get('pool') } } };
  const client = await harness.create(
    `${O}/oauth-clients`,
    'oauth-clients',
    {
      'service-provider': 'gitea',
      'http-url': 'https://git.example',
      'api-url': 'https://git.example/api/v1',
      'oauth-token-string': 'x',
    },
    { relationships: pool },
  );
  const tokenIds = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
  const workspace = await harness.create(`${O}/workspaces`, 'workspaces', {
    name: `private-${(serial += 1)}`,
    'vcs-repo': { identifier: 'acme/infra', 'oauth-token-id': tokenIds?.[0]?.id },
  });
  await harness.runUpkeep();
  return workspace.id;
};

/** Claims the commit of a new workspace; requests to the provider are left to other agents. */
const claimRepositoryWork = async (): Promise<string> => {
  await makeRepositoryWork();
  for (;;) {
    const body = { data: { type: 'agents', id: await registerAgent() } };
    const path = '/agent-repository-work/actions/claim';
    const { data } = await harness.call('POST', path, body, tokens.get('agent'));
    if (data.attributes['kind'] === 'fetch') return data.id;
  }
};

/** Invites an address; the code of its link becomes that of the caller `invitation`. */
const inviteByLink = async (): Promise<void> => {
  const path = `${O}/organization-memberships`;
  const email = `linked-${(serial += 1)}@keelson.example`;
  const { id } = await harness.create(path, 'organization-memberships', { email });
  const owner = { kind: 'invitation', id } as const;
  const { text } = await harness.store.transact((tx) =>
    issueToken(tx, owner, { description: '', expiresAtMs: null }, null, 0),
  );
  tokens.set('invitation', text);
};

/** An account gives another address; the code of its link becomes that of the caller `confirmation`. */
const giveAddress = async (): Promise<void> => {
  const number = (serial += 1);
  const { id } = await harness.addUser(`moving-${number}`);
  const body = attributes('users', { email: `moved-${number}@keelson.example` });
  const session = await harness.store.transact((tx) =>
    issueSession(tx, id, 'Firefox', harness.clock.nowMs()),
  );
  await harness.call('PATCH', '/account/update', body, session.text);
  const user = await userRecords.find(harness.store, id);
  const owner = {
    kind: 'email-confirmation',
    id: user?.unconfirmedEmail?.confirmationId ?? '',
  } as const;
  const nowMs = harness.clock.nowMs();
  const { text } = await harness.store.transact((tx) =>
    Promise.resolve(issueCode(tx, owner, nowMs)),
  );
  tokens.set('confirmation', text);
};

/** The code of a link for a new password becomes that of the caller `reset`. */
const forgetPassword = async (): Promise<void> => {
  const { id } = await harness.addUser(`forgetful-${(serial += 1)}`);
  const owner = { kind: 'password-reset', id } as const;
  const nowMs = harness.clock.nowMs();
  const { text } = await harness.store.transact((tx) => issueCode(tx, owner, nowMs));
  tokens.set('reset', text);
};

/** New things for requests that use them up. */
const refresh = async (text: string): Promise<void> => {
  for (const [name, { target, type, values, ...extra }] of Object.entries({
    ...USED_UP,
    ...RUN_USED_UP,
  })) {
    if (!text.includes(`{${name}}`)) continue;
    const [at, given, related] = JSON.parse(fill(JSON.stringify([target, values, extra]))) as [
      string,
      object,
      object,
    ];
    names.set(name, (await harness.create(at, type, given, related)).id);
  }
  if (text.includes('{newOrg}')) names.set('newOrg', await makeOrganization());
  if (text.includes('fresh')) {
    const { list } = await harness.call('GET', `${O}/workspaces?search[wildcard-name]=fresh`);
    const existing = list[0];
    const fresh =
      existing ?? (await harness.create(`${O}/workspaces`, 'workspaces', { name: 'fresh' }));
    names.set('fresh', fresh.id);
    const { data } = await harness.call('GET', `/workspaces/${fresh.id}`);
    const teamOfAdmin = await makeTeam({ visibility: 'organization' });
    names.set('freshTeam', teamOfAdmin);
    if (existing === undefined) await grantToCallers(data.id);
  }
  if (text.includes('{plan}') || text.includes('{apply}')) {
    await refresh('{newRun}');
    const runId = names.get('newRun') ?? '';
    names.set('plan', runId.replace('run-', 'plan-')).set('apply', runId.replace('run-', 'apply-'));
  }
  if (text.includes('{event}')) {
    await refresh('{newRun}');
    names.set('event', `${names.get('newRun')?.replace('run-', 're-')}-pending`);
  }
  if (text.includes('{newUser}'))
    names.set('newUser', (await harness.addUser(`passing-${(serial += 1)}`)).id);
  if (text.includes('{freshAgent}')) names.set('freshAgent', await registerAgent());
  if (text.includes('{claimed}')) {
    names.set('claimed', await claimPhase());
  }
  if (text.includes('{waitingWork}')) names.set('waitingWork', await makeRepositoryWork());
  if (text.includes('{work}')) names.set('work', await claimRepositoryWork());
  if (text.includes('{newMail}') || text.includes('{newMembership}')) {
    const username = `invited-${(serial += 1)}`;
    await harness.addUser(username);
    names.set('newMail', `${username}@keelson.example`);
  }
  if (text.includes('{newMembership}')) {
    const made = await harness.create(
      `${O}/organization-memberships`,
      'organization-memberships',
      { email: names.get('newMail') },
      { relationships: { teams: { data: [{ type: 'teams', id: names.get('team') }] } } },
    );
    names.set('newMembership', made.id);
  }
  if (text.includes('{tag}')) {
    // Some workspace carries it.
    const tags = { data: [{ type: 'tags', attributes: { name: 'kept' } }] };
    await harness.call('POST', `/workspaces/${names.get('ws')}/relationships/tags`, tags);
    const { list } = await harness.call('GET', `${O}/tags?q=kept`);
    names.set('tag', list[0]?.id ?? '');
  }
  if (text.includes('{setVar}')) {
    const path = `/varsets/${names.get('newVarset')}/relationships/vars`;
    const { list } = await harness.call('GET', path);
    names.set('setVar', list[0]?.id ?? '');
  }
  if (text.includes('run-triggers')) {
    // One of a source at most: the callers before may have made it.
    await refresh('{fresh}');
    const path = `/workspaces/${names.get('ws')}/run-triggers`;
    const { list } = await harness.call('GET', `${path}?filter[run-trigger][type]=inbound`);
    for (const { id } of list) await harness.call('DELETE', `/run-triggers/${id}`);
    if (text.includes('{trigger}')) {
      const source = { data: { type: 'workspaces', id: names.get('fresh') } };
      const relationships = { sourceable: source };
      const made = await harness.create(path, 'run-triggers', {}, { relationships });
      names.set('trigger', made.id);
    }
  }
  if (text.includes('{newToken}')) {
    await refresh('{newClient}');
    const clients = `/oauth-clients/${names.get('newClient')}`;
    const { list } = await harness.call('GET', `${clients}/oauth-tokens`);
    names.set('newToken', list[0]?.id ?? '');
  }
  if (text.includes('{freshTws}')) {
    const made = await grant(names.get('freshTeam') ?? '', names.get('ws') ?? '', 'read');
    names.set('freshTws', made.id);
  }
  if (text.includes('data-retention-policy')) {
    // Ensures that there is one to show and remove, even if a previous row removed it.
    const policy = { data: { type: 'data-retention-policy-dont-deletes', attributes: {} } };
    for (const owner of [O, `/workspaces/${names.get('ws')}`]) {
      await harness.call('POST', `${owner}/relationships/data-retention-policy`, policy);
    }
    const days = attributes('data-retention-policy-delete-olders', { deleteOlderThanNDays: 30 });
    const settings = '/admin/data-retention-policy-settings';
    await harness.call('POST', settings, days, tokens.get('site'));
  }
  if (text.includes('{freshTprj}')) {
    const relationships = {
      team: { data: { type: 'teams', id: names.get('freshTeam') } },
      project: { data: { type: 'projects', id: names.get('prj') } },
    };
    const access = { access: 'read' };
    const made = await harness.create('/team-projects', 'team-projects', access, { relationships });
    names.set('freshTprj', made.id);
  }
  if (text.includes('{freshKey}')) {
    const key = { name: 'key', value: '-----BEGIN PRIVATE KEY-----' };
    names.set('freshKey', (await harness.create(`${O}/ssh-keys`, 'ssh-keys', key)).id);
  }
  if (text.includes('{freshAt}')) {
    const path = `/teams/${names.get('team')}/authentication-tokens`;
    names.set('freshAt', (await harness.create(path, 'authentication-tokens', {})).id);
  }
};

/** One with a workspace, in which the users of the table have the parts that they have in acme. */
const makeOrganization = async (): Promise<string> => {
  const name = `brief-${(serial += 1)}`;
  const path = `/organizations/${name}`;
  await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
  const workspace = await harness.create(`${path}/workspaces`, 'workspaces', { name: 'only' });
  const { list } = await harness.call('GET', `${path}/teams`);
  const makeTeamOf = async (caller: Caller, values: object = {}) =>
    (await harness.create(`${path}/teams`, 'teams', { name: caller, ...values })).id;
  const join = async (caller: Caller, teamId: string) => {
    const account = await harness.call('GET', '/account/details', undefined, tokens.get(caller));
    const members = { data: [{ type: 'users', id: account.data.id }] };
    await harness.call('POST', `/teams/${teamId}/relationships/users`, members);
  };
  await join('owner', list[0]?.id ?? '');
  await join('member', await makeTeamOf('member'));
  const managing = { 'organization-access': { 'manage-workspaces': true } };
  await join('manager', await makeTeamOf('manager', managing));
  for (const caller of ['read', 'plan', 'write', 'admin'] as const) {
    const team = await makeTeamOf(caller);
    await join(caller, team);
    await grant(team, workspace.id, caller);
  }
  return name;
};

const grantToCallers = async (workspaceId: string): Promise<void> => {
  for (const caller of ['read', 'plan', 'write', 'admin'] as const) {
    await grant(teamsOf.get(caller) ?? '', workspaceId, caller);
  }
};

const fill = (text: string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'n' ? String((serial += 1)) : (names.get(name) ?? ''),
  );

describe('every route and every caller', () => {
  test('every route of the service is in the table', async () => {
    const { pathsJson } = await harness.service.edge.describe();
    const paths = JSON.parse(pathsJson) as Record<string, Record<string, unknown>>;
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(CASES).toSorted()).toEqual(routes.toSorted());
  });

  test.for(Object.entries(CASES))('%s', async ([route, { target, body, ...expected }]) => {
    const method = route.split(' ')[0] ?? '';
    const template = JSON.stringify(body ?? null);
    const answers: Partial<Record<Caller, number>> = {};
    const documented: Partial<Record<Caller, number>> = {};
    await inviteByLink();
    await giveAddress();
    await forgetPassword();
    let recorded: readonly string[] | undefined;
    for (const caller of CALLERS) {
      await refresh(target + template);
      if (recorded === undefined) await takeEvents(harness.store);
      const filled = JSON.parse(fill(template)) as unknown;
      const token = tokens.get(caller);
      const reply = await harness.call(method, fill(target), filled ?? undefined, token);
      answers[caller] = reply.status;
      if (reply.status < 300 && !PROGRAMS.includes(caller))
        recorded ??= await takeEvents(harness.store);
      const isAllowed = expected.allowed.includes(caller);
      const isUnauthenticated = CALLERS.indexOf(caller) < 4;
      documented[caller] =
        expected.everyone ??
        (isUnauthenticated
          ? 401
          : isAllowed
            ? expected.success
            : (expected.others?.[caller] ?? 404));
    }
    expect(answers).toEqual(documented);
    // Undefined where nobody succeeds, or only agents, runs and links.
    expect(recorded === undefined ? mayBeRecorded(route) : recorded.length > 0).toBe(
      mayBeRecorded(route),
    );
  });
});

/** Callers with every part in the organization, other than its agents and runs, which end what is under way. */
const PARTS: readonly Caller[] = ['owner', 'manager', 'admin', 'organization'];

describe('an organization that an administrator of the site has switched off', () => {
  const turn = (isDisabled: boolean) =>
    harness.call(
      'PATCH',
      '/admin/organizations/acme',
      attributes('organizations', { 'is-disabled': isDisabled }),
      tokens.get('site'),
    );

  /** The rows above have made most things; without them, as when this test runs alone, they are absent. */
  const known = (parameter: string, name: string): string =>
    name === 'n' || names.has(name) ? parameter : 'absent';

  test('serves no route to anybody with a part in it, and all of them when it is on', async () => {
    const listed = () => harness.call('GET', `${O}/workspaces`, undefined, tokens.get('owner'));
    expect((await turn(true)).status).toBe(200);
    const served: string[] = [];
    let refused = 0;
    for (const [route, { target, body, allowed }] of Object.entries(CASES)) {
      // Whatever a stranger may do is no part of the organization.
      for (const caller of allowed.includes('stranger') ? [] : PARTS) {
        if (!allowed.includes(caller)) continue;
        const filled = JSON.parse(fill(JSON.stringify(body ?? null))) as unknown;
        const [method = ''] = route.split(' ');
        const token = tokens.get(caller);
        const place = fill(target.replaceAll('{newOrg}', 'acme').replaceAll(/\{(\w+)\}/g, known));
        const reply = await harness.call(method, place, filled ?? undefined, token);
        // 404: the rows above have removed the resource of this route.
        if (reply.status === 403) refused += 1;
        else if (reply.status !== 404) served.push(`${caller}: ${route}: ${reply.status}`);
      }
    }
    expect(served).toEqual([]);
    expect(refused).toBeGreaterThan(300);
    expect((await turn(false)).status).toBe(200);
    expect((await listed()).status).toBe(200);
  });
});
