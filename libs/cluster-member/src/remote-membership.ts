/** The members of a replication set, for services other than sys, which ask sys on each use. */
import { KeelsonError } from '@keelson/errors';
import type { ReplicationSetsDefinition } from '@keelson/proto/sys/v1/replication';
import type { EpochKey, Membership, ReplicationKind } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';

export const remoteMembership = (
  sets: RpcService<typeof ReplicationSetsDefinition>,
  kind: ReplicationKind,
  service: string,
): Membership => {
  const findEpoch = async (wanted: number): Promise<EpochKey | undefined> => {
    const { epoch, key } = await sets.findEpoch({ kind, epoch: BigInt(wanted) });
    return key.length === 0 ? undefined : { epoch: Number(epoch), key };
  };
  return {
    identity: async () => {
      const found = await sets.identity({ kind, service });
      const { clusterId, logId, publicKey, privateKey, promotion } = found;
      return {
        clusterId,
        logId,
        keys: { publicKey, privateKey },
        promotion: Number(promotion),
      };
    },
    currentEpoch: async () => {
      const found = await findEpoch(0);
      if (found === undefined) throw new KeelsonError('replication.not_ready');
      return found;
    },
    findEpoch,
    findSecondary: async (id) => {
      const found = await sets.findSecondary({ kind, id });
      return found.id === ''
        ? undefined
        : { id: found.id, publicKey: found.publicKey, firstEpoch: Number(found.firstEpoch) };
    },
    unfilteredSecondaries: async () => {
      const { secondaries } = await sets.listUnfiltered({ kind });
      return secondaries.map(({ firstEpoch, ...one }) => ({
        ...one,
        firstEpoch: Number(firstEpoch),
      }));
    },
    renewLog: async () => {
      await sets.renewLog({ kind, service });
    },
    findFilter: async (secondaryId, groups) => {
      const { generation, withheldGroups } = await sets.findFilter({
        kind,
        secondaryId,
        groups: [...(groups ?? [])],
        all: groups === undefined,
      });
      return generation === '' ? undefined : { generation, withheldGroups };
    },
    filteredSecondaries: async () => (await sets.listFiltered({ kind })).ids,
  };
};

/** The RPC service through which sys gives the other services the membership of a set. */
export const replicationSets = (
  membershipOf: (kind: ReplicationKind, service?: string) => Membership,
  supersede: (kind: ReplicationKind, promotion: number) => Promise<void>,
): RpcService<typeof ReplicationSetsDefinition> => ({
  identity: async ({ kind, service }) => {
    const found = await membershipOf(parseKind(kind), service).identity();
    const { clusterId, logId, keys, promotion } = found;
    return { clusterId, logId, ...keys, promotion: BigInt(promotion) };
  },
  findEpoch: async ({ kind, epoch }) => {
    const membership = membershipOf(parseKind(kind));
    const found =
      epoch === 0n ? await membership.currentEpoch() : await membership.findEpoch(Number(epoch));
    return found === undefined
      ? { epoch, key: Buffer.alloc(0) }
      : { epoch: BigInt(found.epoch), key: Buffer.from(found.key) };
  },
  findSecondary: async ({ kind, id }) => {
    const found = await membershipOf(parseKind(kind)).findSecondary(id);
    return found === undefined
      ? { id: '', publicKey: '', firstEpoch: 0n }
      : { id, publicKey: found.publicKey, firstEpoch: BigInt(found.firstEpoch) };
  },
  listUnfiltered: async ({ kind }) => {
    const found = await membershipOf(parseKind(kind)).unfilteredSecondaries();
    return {
      secondaries: found.map(({ id, publicKey, firstEpoch }) => ({
        id,
        publicKey,
        firstEpoch: BigInt(firstEpoch),
      })),
    };
  },
  renewLog: async ({ kind, service }) => {
    await membershipOf(parseKind(kind), service).renewLog();
    return {};
  },
  supersede: async ({ kind, promotion }) => {
    await supersede(parseKind(kind), Number(promotion));
    return {};
  },
  findFilter: async ({ kind, secondaryId, groups, all }) => {
    const membership = membershipOf(parseKind(kind));
    const found = await membership.findFilter(secondaryId, all ? undefined : groups);
    return {
      generation: found?.generation ?? '',
      withheldGroups: [...(found?.withheldGroups ?? [])],
    };
  },
  listFiltered: async ({ kind }) => ({
    ids: [...(await membershipOf(parseKind(kind)).filteredSecondaries())],
  }),
});

/** @throws KeelsonError `request.invalid` */
export const parseKind = (kind: string): ReplicationKind => {
  if (kind !== 'performance' && kind !== 'dr')
    throw new KeelsonError('request.invalid', { text: 'no kind of replication' });
  return kind;
};
