/** The ways of operations on entities, groups and their aliases. */
import { type Body, dataAt, type Place, post, type Way } from './parameters-alone-way.ts';
import type { Document } from './sys-harness.ts';

const newEntity = async (place: Place, serial: string) => ({
  id: (await post(place, 'identity/entity', { name: serial })).data.id,
});

/** An alias at the mount of tokens, the entity of it, and another entity. */
const newAlias = async (place: Place, serial: string) => {
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const alias = { name: serial, mount_accessor: accessor };
  const { data } = await post(place, 'identity/entity-alias', alias);
  const { id: other } = (await post(place, 'identity/entity', { name: serial })).data;
  return { accessor, alias: data.id, entity: data.canonical_id, other };
};

/** Two entities with aliases at the mount of tokens. */
const newAliases = async (place: Place, serial: string) => {
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const make = async (name: string): Promise<Document> =>
    (await post(place, 'identity/entity-alias', { name, mount_accessor: accessor })).data;
  const [from, into] = [await make(`${serial}-from`), await make(`${serial}-into`)];
  return { from: from.canonical_id, into: into.canonical_id, first: from.id };
};

/** An internal group, an external one with an alias at the mount of tokens, and possible members. */
const newGroup = async (place: Place, serial: string) => {
  const make = async (kind: string, body: Body): Promise<string> =>
    (await post(place, `identity/${kind}`, body)).data.id;
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const external = `${serial}-external`;
  const externalId = await make('group', { name: external, type: 'external' });
  return {
    id: await make('group', { name: serial }),
    inner: await make('group', { name: `${serial}-inner` }),
    entity: await make('entity', { name: serial }),
    alias: await make('group-alias', {
      name: external,
      mount_accessor: accessor,
      canonical_id: externalId,
    }),
    accessor,
    external,
    externalId,
  };
};

export const IDENTITY_WAYS: readonly Way[] = [
  {
    route: /^POST \/identity\/entity(?:\/(?:id|name)\/\{\w+\})?$/,
    prepare: newEntity,
    at: (path, { id = '', serial }) => path.replace('{id}', id).replace('{name}', serial),
    values: ({ id, serial }) => ({
      id: { telling: id, beside: { policies: ['web'] } },
      name: `${serial}-renamed`,
    }),
    observe: async (place, path, _, { id = '' }) => {
      const { keys = [] } = (await place.cluster.asRoot('LIST', 'identity/entity/name')).body.data;
      return { ...(await dataAt(place, `identity/entity/id/${id}`)), keys, path };
    },
  },
  {
    route: /^POST \/identity\/entity\/batch-delete$/,
    prepare: newEntity,
    values: ({ id }) => ({ entity_ids: [id] }),
    observe: (place, _, __, { id = '' }) => dataAt(place, `identity/entity/id/${id}`),
  },
  {
    route: /^POST \/identity\/entity\/merge$/,
    prepare: newAliases,
    least: ({ from, into }) => ({ from_entity_ids: [from], to_entity_id: into }),
    values: ({ first }) => ({
      from_entity_ids: ['another'],
      to_entity_id: 'another',
      force: true,
      conflicting_alias_ids_to_keep: [first],
    }),
    observe: async (place, _, __, { into = '', serial }) => ({
      aliases: ((await dataAt(place, `identity/entity/id/${into}`)).aliases ?? []).map(
        ({ name }: Document) => name.replace(serial, ''),
      ),
    }),
  },
  {
    route: /^POST \/identity\/lookup\/entity$/,
    prepare: newAlias,
    values: ({ entity, alias, serial, accessor }) => ({
      id: entity,
      name: `entity_${entity?.slice(0, 8)}`,
      alias_id: alias,
      alias_name: { telling: serial, beside: { alias_mount_accessor: accessor } },
      alias_mount_accessor: { telling: accessor, beside: { alias_name: serial } },
    }),
  },
  {
    route: /^POST \/identity\/entity-alias(?:\/id\/\{id\})?$/,
    prepare: newAlias,
    at: (path, { alias = '' }) => path.replace('{id}', alias),
    least: ({ serial, accessor }) => ({ name: serial, mount_accessor: accessor }),
    values: ({ alias, serial, other }) => ({
      id: 'another',
      name: `${serial}-renamed`,
      mount_accessor: 'another',
      canonical_id: other,
      entity_id: other,
      custom_metadata: { alias: alias ?? '' },
    }),
    observe: async (place, _, answer, { entity }) => {
      const { id, canonical_id } = answer.data ?? {};
      const { name, custom_metadata } = await dataAt(place, `identity/entity-alias/id/${id}`);
      return { name, custom_metadata, isMoved: canonical_id !== entity };
    },
  },
  {
    route: /^POST \/identity\/group(?:\/(?:id|name)\/\{\w+\})?$/,
    prepare: newGroup,
    at: (path, { id = '', serial }) => path.replace('{id}', id).replace('{name}', serial),
    least: ({ serial }) => ({ name: serial }),
    values: ({ id, serial, entity, inner }) => ({
      id: { telling: id, beside: { name: `${serial}-renamed` } },
      name: `${serial}-renamed`,
      member_entity_ids: [entity],
      member_group_ids: [inner],
    }),
    observe: async (place, _, answer, { id = '' }) => {
      const { keys = [] } = (await place.cluster.asRoot('LIST', 'identity/group/name')).body.data;
      const { name, policies, member_entity_ids, member_group_ids, metadata } = await dataAt(
        place,
        `identity/group/id/${id}`,
      );
      const members = { entities: member_entity_ids?.length, groups: member_group_ids?.length };
      return {
        name,
        policies,
        metadata,
        members,
        made: keys.length,
        isOld: answer.data?.id === id,
      };
    },
  },
  {
    route: /^POST \/identity\/lookup\/group$/,
    prepare: newGroup,
    values: ({ id, alias, serial, external, accessor }) => ({
      id,
      name: serial,
      alias_id: alias,
      alias_name: { telling: external, beside: { alias_mount_accessor: accessor } },
      alias_mount_accessor: { telling: accessor, beside: { alias_name: external } },
    }),
  },
  {
    route: /^POST \/identity\/group-alias(?:\/id\/\{id\})?$/,
    prepare: newGroup,
    at: (path, { alias = '' }) => path.replace('{id}', alias),
    least: ({ external, accessor, externalId }) => ({
      name: external,
      mount_accessor: accessor,
      canonical_id: externalId,
    }),
    values: ({ external, serial }) => ({
      id: 'another',
      name: `${external}-${serial}`,
      mount_accessor: 'another',
      canonical_id: 'another',
    }),
    observe: async (place, _, answer, { external }) => {
      const { name } = await dataAt(place, `identity/group-alias/id/${answer.data?.id}`);
      return { isRenamed: name !== external };
    },
  },
];
