/** The rights of a token are those of its own policies and of its entity, and no others. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const NAMES = ['a', 'b', 'c', 'd'];

let harness: SysHarness;
let people: { readonly uuid: string };
beforeAll(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
  for (const name of NAMES)
    await harness.asRoot('POST', `sys/policies/acl/${name}`, {
      body: { policy: `path "sys/mounts/${name}" { capabilities = ["read"] }` },
    });
});
afterAll(() => harness.close());

const subset = fc.subarray(NAMES);

/** The names whose mounts a token may read. */
const readableBy = async (token: string): Promise<readonly string[]> => {
  const readable: string[] = [];
  for (const name of NAMES) {
    const { status } = await harness.call('GET', `sys/mounts/${name}`, { token });
    if (status !== 403) readable.push(name);
  }
  return readable;
};

test('a token has the union of its own policies and those of its entity', async () => {
  await fc.assert(
    fc.asyncProperty(
      subset,
      fc.array(subset, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('service', 'batch'),
      async (own, changes, tokenType) => {
        const { client_token: token, entity_id: id } = await logIn(harness, people.uuid, {
          limits: { policies: own, tokenType },
        });
        for (const policies of changes) {
          await harness.asRoot('POST', `identity/entity/id/${id}`, { body: { policies } });
          expect(await readableBy(token)).toEqual(
            NAMES.filter((name) => own.includes(name) || policies.includes(name)),
          );
        }
      },
    ),
    { numRuns: 25 },
  );
});
