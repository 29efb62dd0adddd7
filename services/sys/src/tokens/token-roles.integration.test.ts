import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

/** Writes the role `limited`, and creates a token by it. */
const createBy = async (role: object, request: object = {}): Promise<Document> => {
  const written = await harness.asRoot('POST', 'auth/token/roles/limited', { body: role });
  expect([written.status, written.body?.errors]).toEqual([204, undefined]);
  return (await harness.asRoot('POST', 'auth/token/create/limited', { body: request })).body;
};
const lookUp = async (role: object, request: object = {}): Promise<Document> => {
  const { auth } = await createBy(role, request);
  const body = { token: auth.client_token };
  return (await harness.asRoot('POST', 'auth/token/lookup', { body })).body.data;
};

describe('a role', () => {
  test.for([
    [{ allowed_policies: ['web'] }, { policies: ['web'] }, { policies: ['default', 'web'] }],
    [{ allowed_policies_glob: ['w*'] }, { policies: ['web'] }, { policies: ['default', 'web'] }],
    [{ orphan: true }, {}, { orphan: true }],
    [{ renewable: false }, {}, { renewable: false }],
    [{ period: '1h' }, {}, { period: 3600, ttl: 3600 }],
    [{ token_period: '1h' }, { period: '5h' }, { period: 3600, ttl: 3600 }],
    [{ explicit_max_ttl: '1h' }, { ttl: '5h' }, { explicit_max_ttl: 3600, ttl: 3600 }],
    [
      { token_explicit_max_ttl: '2h' },
      { explicit_max_ttl: '5h' },
      { explicit_max_ttl: 7200, ttl: 7200 },
    ],
    [{ path_suffix: 'ci' }, {}, { path: 'auth/token/create/limited/ci' }],
    [{ bound_cidrs: '10.0.0.0/8' }, {}, { bound_cidrs: ['10.0.0.0/8'] }],
    [{ token_bound_cidrs: ['::1'] }, {}, { bound_cidrs: ['::1'] }],
    [{ token_no_default_policy: true }, { policies: ['web'] }, { policies: ['web'] }],
    [{ token_num_uses: 3 }, { num_uses: 5 }, { num_uses: 3 }],
    [
      { token_type: 'default-batch', orphan: true, renewable: false },
      { policies: ['web'] },
      { type: 'batch' },
    ],
    [{ token_type: 'service' }, { type: 'batch' }, { type: 'service' }],
  ] as const)('with %j makes of %j a token with %j', async ([role, request, expected]) => {
    expect(await lookUp(role, request)).toMatchObject(expected);
  });

  test.for([
    [{ allowed_policies: ['web'] }, { policies: ['db'] }, /subset of the role's allowed policies/],
    [{ allowed_policies_glob: ['w*'] }, { policies: ['db'] }, /subset of the role's allowed/],
    [{ disallowed_policies: ['db'] }, { policies: ['db'] }, /"db" is disallowed by this role/],
    [{ disallowed_policies_glob: ['d*'] }, { policies: ['db'] }, /"db" is disallowed by this/],
    // A batch token is not stored, so that nothing counts its uses.
    [{ token_num_uses: 3 }, { type: 'batch' }, /batch tokens cannot have "num_uses" set/],
    [{ token_period: '1h' }, { type: 'batch' }, /batch tokens cannot have "period" set/],
    [{ token_explicit_max_ttl: '1h' }, { type: 'batch' }, /cannot have "explicit_max_ttl" set/],
  ] as const)('with %j refuses %j', async ([role, request, text]) => {
    expect((await createBy(role, request)).errors).toEqual([expect.stringMatching(text)]);
  });

  test.for([
    [{ token_num_uses: 3 }, 'tokens with limited use count'],
    [{ token_explicit_max_ttl: '1h' }, 'tokens with an explicit max TTL'],
    [{ token_period: '1h' }, 'periodic tokens'],
  ] as const)('of batch tokens is refused with %j', async ([limit, text]) => {
    const body = { token_type: 'batch', orphan: true, renewable: false, ...limit };
    const { status, body: answer } = await harness.asRoot('POST', 'auth/token/roles/batch', {
      body,
    });
    expect([status, answer.errors]).toEqual([
      400,
      [`'token_type' cannot be 'batch' when role is set to generate ${text}`],
    ]);
  });

  test('with a negative number of uses is refused', async () => {
    const { status, body } = await harness.asRoot('POST', 'auth/token/roles/limited', {
      body: { token_num_uses: -1 },
    });
    expect([status, body.errors]).toEqual([400, ['token_num_uses cannot be negative']]);
  });
});
