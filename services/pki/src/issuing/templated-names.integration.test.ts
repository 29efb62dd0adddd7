/** Certificates under roles whose names have parameters of the caller's entity. */
import type { Caller } from '@keelson/proto/edge/v1/edge';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newRequest, openMounts } from '../../test/open-mounts.ts';
import { ROOT_NAMESPACE } from '../../test/open-pki.ts';

const NAME = 'identity.entity.name';

const caller = (entityId: string, namespace = ROOT_NAMESPACE): Caller => ({
  accessor: 'accessor',
  tokenHash: 'hash',
  displayName: 'ann',
  policies: ['web'],
  metadata: { name: 'ann' },
  entityId,
  namespace,
  root: false,
  sudo: false,
  tokenType: 'service',
  expiresAtEpochSeconds: 0n,
});
const ANN = caller('e-1');

let mounts: Awaited<ReturnType<typeof openMounts>>;
beforeAll(async () => {
  mounts = await openMounts();
  await mounts.root();
  await mounts.post('roles/own', {
    allowed_domains: [`{{${NAME}}}.example.com`, 'shared.example.com'],
    allowed_domains_template: true,
    allowed_uri_sans: [`spiffe://example.com/{{${NAME}}}`],
    allowed_uri_sans_template: true,
    allow_bare_domains: true,
    key_type: 'ec',
  });
  await mounts.post('roles/plain', {
    allowed_domains: ['shared.example.com'],
    allow_bare_domains: true,
    key_type: 'ec',
  });
});
afterAll(() => mounts.close());
beforeEach(() => {
  mounts.pki.asked.length = 0;
  mounts.pki.entities.clear();
  mounts.pki.entities.set('root/e-1', { [NAME]: 'ann' });
});

/** 200, or the error text. */
const ask = async (
  path: string,
  body: { readonly common_name: string; readonly uri_sans?: string; readonly csr?: string },
  by: Caller = ANN,
): Promise<number | string> => {
  const answer = await mounts.pki.call('POST', path, body, { caller: by });
  return answer.status === 200 ? 200 : answer.json.errors[0];
};
const refused = (name: string): string => `common name ${name} not allowed by this role`;
const OWN = 'ann.example.com';
const SHARED = 'shared.example.com';

describe('a role with templates', () => {
  test('allows a caller the names of its entity, and no others', async () => {
    expect(await ask('issue/own', { common_name: OWN })).toBe(200);
    expect(await ask('issue/own', { common_name: SHARED })).toBe(200);
    for (const name of ['bob.example.com', `a.${OWN}`, `{{${NAME}}}.example.com`])
      expect(await ask('issue/own', { common_name: name })).toBe(refused(name));
    const uri = (name: string) => ({ common_name: OWN, uri_sans: `spiffe://example.com/${name}` });
    expect(await ask('issue/own', uri('ann'))).toBe(200);
    expect(await ask('issue/own', uri('bob'))).toContain('which are not valid for this role');
  });

  test('allows the same in a CSR', async () => {
    const csr = newRequest(mounts, `/CN=${OWN}`);
    expect(await ask('sign/own', { common_name: OWN, csr })).toBe(200);
    mounts.pki.entities.set('root/e-1', { [NAME]: 'bob' });
    expect(await ask('sign/own', { common_name: OWN, csr })).toBe(refused(OWN));
  });

  test.for<readonly [string, Caller]>([
    ['no entity', caller('')],
    ['a disabled or deleted entity', caller('e-2')],
    ['an entity of another namespace', caller('e-1', { id: 'other', path: 'other/' })],
  ])('allows a caller with %s only the names without templates', async ([, by]) => {
    expect(await ask('issue/own', { common_name: OWN }, by)).toBe(refused(OWN));
    expect(await ask('issue/own', { common_name: SHARED }, by)).toBe(200);
  });

  test('follows a change of the entity with the next request', async () => {
    expect(await ask('issue/own', { common_name: OWN })).toBe(200);
    mounts.pki.entities.clear();
    expect(await ask('issue/own', { common_name: OWN })).toBe(refused(OWN));
  });

  test.for(['*', '*.evil', 'ann.example.com#', 'x.ann', '{{', `{{${NAME}}}`, 'ann\n', '', '@'])(
    'allows nothing by the value %j',
    async (value) => {
      mounts.pki.entities.set('root/e-1', { [NAME]: value });
      for (const name of [OWN, `x.${OWN}`, 'evil.example.com', 'example.com'])
        expect(await ask('issue/own', { common_name: name })).toBe(refused(name));
    },
  );
});

test('sys is asked for the parameters of a role, and not for a role or a caller without any', async () => {
  await ask('issue/plain', { common_name: SHARED });
  await ask('issue/own', { common_name: SHARED }, caller(''));
  expect(mounts.pki.asked).toEqual([]);
  await ask('issue/own', { common_name: SHARED });
  expect(mounts.pki.asked).toEqual([{ entityId: 'e-1', namespaceId: 'root', parameters: [NAME] }]);
});
