/** Every page of the console, in an installation that has something to show on each. */
import { join } from 'node:path';
import { startLinkedServer } from '@keelson/testkit';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import type { ConsoleUnderTest } from './console-harness.ts';

/** URLs by the content of the page. */
const PAGES = [
  ['overview', '/ui/'],
  ['messages', '/ui/messages'],
  ['replication', '/ui/replication'],
  ['policies', '/ui/policies'],
  ['policy', '/ui/policies/default'],
  ['tokens', '/ui/tokens'],
  ['passkeys', '/ui/passkeys'],
  ['second factors', '/ui/second-factors'],
  ['mounts', '/ui/mounts'],
  ['audit devices', '/ui/audit'],
  ['snapshots', '/ui/snapshots'],
  ['namespaces', '/ui/namespaces'],
  ['leases', '/ui/leases'],
  ['authorities', '/ui/certificates'],
  ['certificates', '/ui/certificates/pki'],
  ['issuers', '/ui/certificates/pki?tab=issuers'],
  ['keys', '/ui/certificates/pki?tab=keys'],
  ['roles', '/ui/certificates/pki?tab=roles'],
  ['EST', '/ui/certificates/pki?tab=est'],
  ['external policy', '/ui/certificates/pki?tab=policy'],
  ['settings', '/ui/certificates/pki?tab=settings'],
  ['issuer', '/ui/certificates/pki/issuer/default'],
  ['certify a key', '/ui/certificates/pki/certify'],
  ['organizations', '/app'],
  ['account', '/app/settings/account'],
  ['API tokens', '/app/settings/tokens'],
  ['people', '/app/settings/people'],
  ['site sign-in', '/app/settings/sign-in'],
  ['login of a command', '/app/command-login?redirect_uri=http%3A%2F%2Flocalhost%3A10000%2Flogin'],
  ['workspaces', '/app/acme/workspaces'],
  ['workspace', '/app/acme/workspaces/web'],
  ['runs', '/app/acme/workspaces/web?tab=runs'],
  ['states', '/app/acme/workspaces/web?tab=states'],
  ['variables', '/app/acme/workspaces/web?tab=variables'],
  ['workspace settings', '/app/acme/workspaces/web?tab=settings'],
  ['projects', '/app/acme/projects'],
  ['teams', '/app/acme/teams'],
  ['no such page', '/ui/no-such-page'],
  ['agent pools', '/app/acme/agent-pools'],
  ['variable sets', '/app/acme/variable-sets'],
  ['version control', '/app/acme/version-control'],
  ['activity', '/app/acme/activity'],
  ['settings of an organization', '/app/acme/settings'],
  ['reference', '/docs/workspace'],
  ['capability in the reference', '/docs/pki#tag--roles'],
  ['operation in the reference', '/docs/pki#post-/-mount-/revoke-with-key'],
] as const;

/**
 * Makes what the pages show.
 * @returns addresses by the content of the page
 */
export const prepareEveryPage = async (
  site: ConsoleUnderTest,
): Promise<ReadonlyMap<string, string>> => {
  const pages = new Map<string, string>(PAGES);
  const day = (from: number): string => new Date(Date.now() + from * 86_400_000).toISOString();
  for (const message of [
    { title: 'Maintenance of the database', start_time: day(2), end_time: day(4) },
    { title: 'Until further notice', start_time: day(10) },
    { title: 'The move has ended', start_time: day(-9), end_time: day(-5) },
    { title: 'Next century', start_time: '2099-01-01T00:00:00Z' },
  ])
    await site.secrets('sys/config/ui/custom-messages', { message: 'SGk=', ...message });
  // Nobody has a menu for the own account.
  await site.workspaces('POST', 'admin/users', {
    data: { type: 'users', attributes: { username: 'ada', email: 'ada@b.example' } },
  });
  await site.secrets('sys/audit/file', {
    type: 'file',
    options: { file_path: join(site.folder(), 'audit.log') },
  });
  await site.secrets('sys/mounts/pki', { type: 'pki' });
  await site.secrets('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await site.secrets('pki/roles/web', { allowed_domains: 'example.com', allow_subdomains: true });
  const issued = await site.secrets('pki/issue/web', { common_name: 'a.example.com', ttl: '20h' });
  pages.set('certificate', `/ui/certificates/pki/certificate/${issued.data.serial_number}`);
  const { runId, workspaceId } = await addPlannedRun(site, 'web');
  await site.workspaces('POST', `workspaces/${workspaceId}/notification-configurations`, {
    data: {
      type: 'notification-configurations',
      attributes: { name: 'pager', 'destination-type': 'slack', url: 'https://chat.example/hook' },
    },
  });
  pages.set('run', `/app/acme/web/runs/${runId}`);
  await site.secrets('sys/namespaces/branch', {});
  await site.secrets('pki/roles/leased', { allow_any_name: true, generate_lease: true });
  await site.secrets('pki/issue/leased', { common_name: 'b.example.com', ttl: '9h' });
  await site.workspaces('POST', 'organizations/acme/varsets', {
    data: {
      type: 'varsets',
      attributes: { name: 'regions', description: 'of all shops', global: true },
      relationships: {
        vars: {
          data: [{ type: 'vars', attributes: { key: 'region', value: 'north', category: 'env' } }],
        },
      },
    },
  });
  await site.workspaces('POST', `workspaces/${workspaceId}/vars`, {
    data: { type: 'vars', attributes: { key: 'size', value: '2', category: 'terraform' } },
  });
  const { data: teams } = await site.workspaces('GET', 'organizations/acme/teams');
  pages.set('team', `/app/acme/teams/${teams[0].id}`);
  const link = await startLinkedServer();
  await link[Symbol.asyncDispose]();
  const linked = await site.workspaces('POST', 'organizations/acme/oauth-clients', {
    data: {
      type: 'oauth-clients',
      attributes: {
        name: 'linked',
        'service-provider': 'bitbucket_data_center',
        'http-url': link.url,
        'api-url': link.url,
        key: link.consumerKey,
        secret: link.privateKey,
        'rsa-public-key': link.publicKey,
      },
    },
  });
  const provider = `/app/acme/version-control/${linked.data.id}`;
  pages.set('provider', provider);
  pages.set('provider that has sent a person back', `${provider}?oauth_token=a&oauth_verifier=b`);
  await site.secrets('pki/config/cluster', { path: `${site.origin()}/v1/pki` });
  await site.secrets('pki/config/acme', { enabled: true });
  await site.secrets('pki/config/est', {
    enabled: true,
    default_mount: true,
    default_path_policy: 'role:web',
    label_to_path_policy: { printers: 'sign-verbatim' },
    authenticators: { userpass: {} },
  });
  const { data: root } = await site.readSecret('pki/issuer/default/json');
  await site.secrets('pki/config/external-policy', {
    enabled: true,
    external_service_url: 'https://policy.example/decide',
    trusted_ca: root.certificate,
  });
  await site.secrets('pki/acme/new-eab', {});
  return pages;
};
