/** An authority and a cluster with something in each of their pages, for pictures. */
import { join } from 'node:path';
import type { ConsoleUnderTest } from './console-harness.ts';

const addMessages = async ({ secrets }: ConsoleUnderTest): Promise<void> => {
  for (const message of [
    { title: 'Maintenance of the database', start_time: '2027-03-03T09:00:00Z' },
    { title: 'The move has ended', start_time: '2027-02-20T09:00:00Z' },
    { title: 'Next century', start_time: '2099-01-01T00:00:00Z' },
  ])
    await secrets('sys/config/ui/custom-messages', {
      message: Buffer.from('Ask the people on duty.').toString('base64'),
      end_time: message.title === 'The move has ended' ? '2027-02-25T09:00:00Z' : undefined,
      ...message,
    });
};

/** @returns the path of a certificate */
const addAuthority = async ({ secrets, readSecret }: ConsoleUnderTest): Promise<string> => {
  const config = { max_lease_ttl: '87600h' };
  await secrets('sys/mounts/pki', { type: 'pki', description: 'Servers of the shop', config });
  await secrets('pki/root/generate/internal', {
    common_name: 'Example Root',
    organization: 'Example',
    key_type: 'ec',
    ttl: '26300h',
    issuer_name: 'root',
    key_name: 'root',
  });
  const web = { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' };
  await secrets('pki/roles/web', web);
  await secrets('pki/roles/leased', { allow_any_name: true, key_type: 'ec', generate_lease: true });
  const issue = async (name: string, ttl: string): Promise<string> =>
    (await secrets('pki/issue/web', { common_name: `${name}.example.com`, ttl })).data
      .serial_number;
  await secrets('pki/issue/leased', { common_name: 'lease.example.com', ttl: '9h' });
  const serial = await issue('www', '500h');
  await issue('mail', '700h');
  await secrets('pki/revoke', { serial_number: await issue('old', '600h') });
  await secrets('pki/config/cluster', { path: 'https://ca.example.com/v1/pki' });
  await secrets('pki/config/urls', { issuing_certificates: ['https://ca.example.com/ca'] });
  await secrets('pki/config/acme', { enabled: true });
  await secrets('pki/acme/new-eab', {});
  await secrets('pki/config/est', {
    enabled: true,
    default_mount: true,
    default_path_policy: 'role:web',
    label_to_path_policy: { printers: 'sign-verbatim' },
    authenticators: { userpass: {} },
  });
  const { data: root } = await readSecret('pki/issuer/default/json');
  await secrets('pki/config/external-policy', {
    enabled: true,
    external_service_url: 'https://policy.example/decide',
    trusted_ca: root.certificate,
  });
  return `/ui/certificates/pki/certificate/${serial}`;
};

/**
 * Adds an authority, a namespace and what administrators see.
 * @returns the path of the certificate of a server
 */
export const addPicturedCluster = async (site: ConsoleUnderTest): Promise<string> => {
  const { secrets } = site;
  const certificate = await addAuthority(site);
  await addMessages(site);
  await secrets('sys/audit/file', {
    type: 'file',
    description: 'For the auditors',
    options: { file_path: join(site.folder(), 'audit.log') },
  });
  await secrets('sys/policies/acl/issues', {
    policy: '# Servers of the shop\npath "pki/issue/web" {\n  capabilities = ["update"]\n}\n',
  });
  for (const namespace of ['branch', 'team']) await secrets(`sys/namespaces/${namespace}`, {});
  // Tokens are listed by a random id, so that those of the pictures are alike.
  for (let at = 0; at < 3; at += 1)
    await secrets('auth/token/create', { display_name: 'deploy', ttl: '90h' }, 'team');
  await secrets('sys/replication/performance/primary/enable', {});
  await site.untilReady();
  await secrets('sys/replication/performance/primary/secondary-token', { id: 'harbour' });
  return certificate;
};
