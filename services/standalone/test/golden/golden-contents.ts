/** The contents of a golden store, and a write to each area. */
import type { KeelsonProcess } from '@keelson/testkit';
import { makeAdministration } from './golden-administration.ts';
import { type GoldenCalls, type GoldenRead, ORGANIZATION, resource } from './golden-calls.ts';
import { makeLogins } from './golden-logins.ts';
import { makePeople } from './golden-people.ts';
import { issue, makePki } from './golden-pki.ts';
import { makeReplicationSets } from './golden-replication.ts';
import { makeRun } from './golden-runs.ts';
import { makeWaitingWork } from './golden-waiting.ts';
import { makeWorkspace, stateOf } from './golden-workspaces.ts';

/**
 * Makes the contents.
 * @param secondaryFolder data folder of a secondary that follows for a moment, before everything else is made
 * @returns the requests that read them
 */
export const makeContents = async (
  calls: GoldenCalls,
  process: KeelsonProcess,
  secondaryFolder: string,
): Promise<readonly GoldenRead[]> => [
  ...(await makeReplicationSets(calls, process, secondaryFolder)),
  ...(await makePeople(calls)),
  ...(await makeWorkspace(calls)),
  ...(await makeRun(calls, process.http)),
  ...(await makePki(calls, process.https)),
  ...(await makeAdministration(calls)),
  ...(await makeLogins(calls, process.http)),
  ...(await makeWaitingWork(calls, process.http)),
];

/** Changes or adds a record in each area, and reads some again. @returns names of those that were not written */
export const writeToEachArea = async (calls: GoldenCalls): Promise<readonly string[]> => {
  const { v1, api } = calls;
  const changed = 'changed by a later version';
  const { data: workspace } = await api('GET', `${ORGANIZATION}/workspaces/production`);
  const target = `workspaces/${workspace.id}`;
  const requests: readonly (readonly [path: string, type: string, attributes: object])[] = [
    [ORGANIZATION, 'organizations', { email: 'later@example.com' }],
    [target, 'workspaces', { description: changed }],
  ];
  for (const [path, type, attributes] of requests)
    await api('PATCH', path, { data: { type, attributes } });
  await api('POST', `${ORGANIZATION}/projects`, resource('projects', { name: 'later' }));
  await api('POST', `${ORGANIZATION}/teams`, resource('teams', { name: 'later' }));
  await api('POST', `${target}/state-versions`, stateOf(2));
  const { data: vars } = await api('GET', `${target}/vars`);
  for (const { id } of vars)
    await api('PATCH', `${target}/vars/${id}`, {
      data: { type: 'vars', attributes: { description: changed } },
    });
  const { data: runs } = await api('GET', `${ORGANIZATION}/runs`);
  await api('POST', `runs/${runs[0].id}/actions/discard`, { comment: changed });
  await v1('POST', 'pki/roles/web', {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'ec',
  });
  const later = await issue(calls, 'pki', 'later');
  await v1('POST', 'pki/revoke', { serial_number: later.serial_number });
  await v1('GET', 'pki/crl/rotate');
  await v1('POST', 'sys/policies/acl/readers', {
    policy: 'path "sys/*" { capabilities = ["list"] }',
  });
  await v1('POST', 'sys/namespaces/later');
  await v1('POST', 'auth/token/roles/deploy', { allowed_policies: ['readers', 'default'] });
  await v1('POST', 'cubbyhole/golden', { kept: changed });
  const read = {
    [target]: (await api('GET', target)).data.attributes.description === changed,
    [ORGANIZATION]: (await api('GET', ORGANIZATION)).data.attributes.email === 'later@example.com',
    state: (await api('GET', `${target}/current-state-version`)).data.attributes.serial === 2,
    revoked: (await v1('LIST', 'pki/certs/revoked')).data.keys.includes(later.serial_number),
    'sys/namespaces': (await v1('LIST', 'sys/namespaces')).data.keys.includes('later/'),
    cubbyhole: (await v1('GET', 'cubbyhole/golden')).data.kept === changed,
  };
  return Object.entries(read).flatMap(([name, isWritten]) => (isWritten ? [] : [name]));
};
