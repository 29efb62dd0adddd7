/** The values that engines receive for the parameters of their templates. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let people: { readonly uuid: string; readonly accessor: string };
let id: string;
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
  ({ entity_id: id } = await logIn(harness, people.uuid, { aliasMetadata: { floor: '1' } }));
  await putEntity({ name: 'ann', metadata: { team: 'web' } });
});
afterEach(() => harness.close());

const putEntity = (body: object) => harness.asRoot('POST', `identity/entity/id/${id}`, { body });
const valuesOf = async (
  parameters: readonly string[],
  entity: { readonly entityId?: string; readonly namespaceId?: string } = {},
): Promise<Readonly<Record<string, string>>> => {
  const request = { entityId: id, namespaceId: 'root', parameters: [...parameters], ...entity };
  return (await harness.sys.identities.findValues(request)).values;
};

test('the parameters are those of policies, and one without a value is left out', async () => {
  const { data: group } = (
    await harness.asRoot('POST', 'identity/group', {
      body: { name: 'web team', member_entity_ids: [id] },
    })
  ).body;
  await harness.asRoot('POST', 'identity/group', { body: { name: 'others' } });
  const expected = {
    'identity.entity.id': id,
    'identity.entity.name': 'ann',
    'identity.entity.metadata.team': 'web',
    [`identity.entity.aliases.${people.accessor}.name`]: 'alice',
    [`identity.entity.aliases.${people.accessor}.metadata.floor`]: '1',
    'identity.groups.names.web team.id': group.id,
    [`identity.groups.ids.${group.id}.name`]: 'web team',
  };
  expect(
    await valuesOf([
      ...Object.keys(expected),
      'identity.entity.metadata.constructor',
      'identity.entity.policies',
      'identity.groups.names.others.id',
      'identity.entity',
      '',
    ]),
  ).toEqual(expected);
});

test('an entity that is disabled, deleted or of another namespace has no values', async () => {
  const name = ['identity.entity.name'];
  await harness.asRoot('POST', 'sys/namespaces/team');
  const { id: namespaceId } = (await harness.asRoot('GET', 'sys/namespaces/team')).body.data;
  expect(await valuesOf(name, { namespaceId })).toEqual({});
  for (const entityId of ['', 'none', '../root'])
    expect(await valuesOf(name, { entityId })).toEqual({});
  await putEntity({ disabled: true });
  expect(await valuesOf(name)).toEqual({});
  await putEntity({ disabled: false });
  expect(await valuesOf(name)).toEqual({ 'identity.entity.name': 'ann' });
  await harness.asRoot('DELETE', `identity/entity/id/${id}`);
  expect(await valuesOf(name)).toEqual({});
});

test('an entity that was merged has the values of the one that remains', async () => {
  const { data } = (await harness.asRoot('POST', 'identity/entity', { body: { name: 'bob' } }))
    .body;
  await harness.asRoot('POST', 'identity/entity/merge', {
    body: { from_entity_ids: [id], to_entity_id: data.id },
  });
  expect(await valuesOf(['identity.entity.name', 'identity.entity.id'])).toEqual({
    'identity.entity.name': 'bob',
    'identity.entity.id': data.id,
  });
});
