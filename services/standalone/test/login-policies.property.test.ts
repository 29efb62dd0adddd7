/**
 * A token of a login may do what the role, the entity and its groups declare, and nothing else, whatever they declare:
 * the real methods, with a real control plane.
 *
 * | part                                                       | its policies are                                         |
 * | ---------------------------------------------------------- | -------------------------------------------------------- |
 * | the role or user, with or without the default policy       | those of the token                                       |
 * | the entity, a group that it is in, the group above that    | those of the identity                                    |
 * | an external group that the login reports                   | the same                                                 |
 * | groups of others, and external ones that it does not       | none                                                     |
 */
import { generateKeyPairSync } from 'node:crypto';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type Document, useLoginSite } from './login-site.ts';
import { signClaims } from './signed-claims.ts';

const POLICIES = ['a', 'b', 'c', 'd', 'e'] as const;
const { must } = useLoginSite();
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

const somePolicies = fc.subarray([...POLICIES]);
const declared = fc.record({
  method: fc.constantFrom('approle', 'jwt', 'userpass'),
  role: somePolicies,
  withoutDefault: fc.boolean(),
  entity: somePolicies,
  group: somePolicies,
  isMember: fc.boolean(),
  above: somePolicies,
  external: somePolicies,
  isReported: fc.boolean(),
});
type Declared = typeof declared extends fc.Arbitrary<infer T> ? T : never;

let accessors: Readonly<Record<string, { readonly accessor: string }>>;
let serial = 0;

beforeAll(async () => {
  for (const name of POLICIES) {
    const policy = `path "proof/${name}" { capabilities = ["read"] }`;
    await must('POST', `sys/policies/acl/${name}`, { policy });
  }
  for (const type of ['approle', 'jwt', 'userpass'])
    await must('POST', `sys/auth/${type}`, { type });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await must('POST', 'auth/jwt/config', { jwt_validation_pubkeys: pem });
  accessors = (await must('GET', 'sys/auth')).data;
});

/** Makes the role or user. @returns signs in with it */
const addLogin = async (name: string, { method, role, ...given }: Declared) => {
  const settings = { token_policies: role, token_no_default_policy: given.withoutDefault };
  const post = (path: string, body: object): Promise<Document> =>
    must('POST', `auth/${method}/${path}`, body);
  const signIn = async (body: object, path = 'login'): Promise<Document> =>
    (await must('POST', `auth/${method}/${path}`, body, { token: '' })).auth;
  if (method === 'userpass') {
    await post(`users/${name}`, { ...settings, password: 'pw' });
    return () => signIn({ password: 'pw' }, `login/${name}`);
  }
  if (method === 'approle') {
    await post(`role/${name}`, { ...settings, role_id: name });
    const { secret_id } = (await post(`role/${name}/secret-id`, {})).data;
    return () => signIn({ role_id: name, secret_id });
  }
  const role_type = 'jwt';
  const claims = { user_claim: 'sub', groups_claim: 'groups', bound_subject: name };
  await post(`role/${name}`, { ...settings, ...claims, role_type });
  const iat = Math.floor(Date.now() / 1000);
  const groups = given.isReported ? [`group-${name}`] : ['another'];
  const jwt = signClaims(privateKey, { sub: name, iat, exp: iat + 60, groups });
  return () => signIn({ role: name, jwt });
};

/** Gives the entity policies and groups. */
const addIdentity = async (name: string, entityId: string, given: Declared): Promise<void> => {
  await must('POST', `identity/entity/id/${entityId}`, { policies: given.entity });
  const group = async (part: string, body: object): Promise<string> =>
    (await must('POST', 'identity/group', { name: `${name}-${part}`, ...body })).data.id;
  const members = given.isMember ? [entityId] : [];
  const own = await group('own', { policies: given.group, member_entity_ids: members });
  await group('above', { policies: given.above, member_group_ids: [own] });
  const canonical_id = await group('external', { policies: given.external, type: 'external' });
  const mount_accessor = accessors['jwt/']?.accessor;
  await must('POST', 'identity/group-alias', {
    name: `group-${name}`,
    mount_accessor,
    canonical_id,
  });
};

const sorted = (policies: readonly string[]) => [...new Set(policies)].toSorted();

test('a login grants what role, entity and groups declare, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(declared, async (given) => {
      const name = `n${(serial += 1)}`;
      const signIn = await addLogin(name, given);
      // The first login makes the entity.
      const { entity_id } = await signIn();
      await addIdentity(name, entity_id, given);
      const auth = await signIn();
      expect(auth.entity_id).toBe(entity_id);
      const ofToken = sorted([...given.role, ...(given.withoutDefault ? [] : ['default'])]);
      const ofIdentity = sorted([
        ...given.entity,
        ...(given.isMember ? [...given.group, ...given.above] : []),
        ...(given.method === 'jwt' && given.isReported ? given.external : []),
      ]);
      expect(sorted(auth.token_policies)).toEqual(ofToken);
      expect(sorted(auth.identity_policies ?? [])).toEqual(ofIdentity);
      expect(sorted(auth.policies)).toEqual(sorted([...ofToken, ...ofIdentity]));
      const paths = POLICIES.map((policy) => `proof/${policy}`);
      const asked = { token: auth.client_token as string, paths };
      const { data } = await must('POST', 'sys/capabilities', asked);
      const allowed = POLICIES.filter((policy) => data[`proof/${policy}`].includes('read'));
      expect(allowed).toEqual(
        POLICIES.filter((policy) => [...ofToken, ...ofIdentity].includes(policy)),
      );
    }),
    propertySettings({ numRuns: 40 }),
  );
});
