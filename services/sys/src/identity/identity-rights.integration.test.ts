/** The rights of a token are those of its own policies, of its entity and of the groups of the entity, and no others. */
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

/** A group with the entity as a member or not (the first has it), and with some of the groups before it as members. */
const GROUP = fc.record({
  policies: subset,
  hasEntity: fc.nat(3).map((one) => one === 0),
  members: fc.subarray([0, 1, 2]),
});

test('a token has the policies of all groups of its entity, through any other groups', async () => {
  const ask = async (path: string, body: object) =>
    (await harness.asRoot('POST', `identity/${path}`, { body })).body?.data;
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(GROUP, { minLength: 1, maxLength: 4 }),
      subset,
      async (groups, own) => {
        serial += 1;
        const { client_token: token, entity_id: entity } = await logIn(harness, people.uuid, {
          aliasName: `member-${serial}`,
          limits: { policies: own },
        });
        const ids: string[] = [];
        const isMember: boolean[] = [];
        for (const { policies, hasEntity: isGiven, members } of groups) {
          const hasEntity = isGiven || ids.length === 0;
          const inside = members.filter((at) => at < ids.length);
          isMember.push(hasEntity || inside.some((at) => isMember[at] === true));
          const { id } = await ask('group', {
            policies,
            member_entity_ids: hasEntity ? [entity] : [],
            member_group_ids: inside.map((at) => ids[at]),
          });
          ids.push(id);
        }
        const counted = groups.filter((_, at) => isMember[at]).flatMap(({ policies }) => policies);
        expect(await readableBy(token)).toEqual(
          NAMES.filter((name) => own.includes(name) || counted.includes(name)),
        );
      },
    ),
    { numRuns: 25 },
  );
});
