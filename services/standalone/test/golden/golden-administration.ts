/** Namespaces, policies, tokens, mounts and audit devices. */
import { type GoldenCalls, type GoldenRead, reads } from './golden-calls.ts';

const MESSAGES = 'sys/config/ui/custom-messages';

export const makeAdministration = async ({ v1 }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  await v1('POST', 'sys/policies/acl/readers', {
    policy: 'path "pki/*" { capabilities = ["read"] }',
  });
  await v1('POST', 'sys/namespaces/team');
  await v1('POST', 'team/sys/policies/acl/inner', {
    policy: 'path "pki/*" { capabilities = ["list"] }',
  });
  await v1('POST', 'team/sys/mounts/inner-pki', { type: 'pki' });
  await v1('POST', 'auth/token/roles/deploy', {
    allowed_policies: ['readers'],
    allowed_entity_aliases: ['deploy-*'],
  });
  await v1('POST', 'auth/token/create/deploy', { ttl: '768h', entity_alias: 'deploy-golden' });
  await v1('POST', 'auth/token/create', { policies: ['readers'], num_uses: 5 });
  await v1('POST', 'cubbyhole/golden', { kept: 'yes' });
  const message = await v1('POST', MESSAGES, {
    title: 'Golden',
    message: Buffer.from('golden').toString('base64'),
    authenticated: true,
    type: 'banner',
    start_time: '2026-01-01T00:00:00Z',
  });
  for (const [name, local] of Object.entries({ golden: false, 'golden-local': true }))
    await v1('POST', `sys/audit/${name}`, {
      type: 'file',
      local,
      options: { file_path: 'discard' },
    });
  await v1('POST', 'sys/mounts/cubbyhole/tune', { description: 'golden' });
  await v1('POST', 'sys/rotate');
  await v1('POST', 'sys/rotate/config', { enabled: true, interval: '8760h' });
  await v1('GET', 'sys/wrapping/pubkey');
  await v1('POST', 'sys/namespaces/locked');
  await v1('POST', 'sys/namespaces/api-lock/lock/locked');
  await v1('POST', 'sys/generate-root/attempt', {});
  await v1('POST', 'sys/rekey-recovery-key/init', { secret_shares: 1, secret_threshold: 1 });
  await v1('POST', 'sys/mounts/before', { type: 'pki' });
  await v1('POST', 'sys/remount', { from: 'before', to: 'after' });
  await v1('POST', 'sys/mounts/removed', { type: 'pki' });
  await v1('DELETE', 'sys/mounts/removed');
  await v1('POST', 'sys/namespaces/removed');
  await v1('DELETE', 'sys/namespaces/removed');
  return [
    ...reads('v1', 'LIST', ['sys/policies/acl', 'sys/namespaces', 'auth/token/roles']),
    ...reads('v1', 'LIST', [MESSAGES, 'cubbyhole', 'team/sys/policies/acl']),
    ...reads('v1', 'GET', [
      'sys/policies/acl/readers',
      'team/sys/policies/acl/inner',
      'sys/namespaces/team',
      'sys/mounts',
      'team/sys/mounts',
      'auth/token/roles/deploy',
      'auth/token/lookup-self',
      'cubbyhole/golden',
      `${MESSAGES}/${message.data.id}`,
      'sys/audit',
      'sys/rotate/config',
      'sys/generate-root/attempt',
      'sys/rekey-recovery-key/init',
    ]),
  ];
};
