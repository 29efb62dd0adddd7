/**
 * Turns this cluster into a secondary: all its data is cleared, and its keys are replaced by those of the
 * primary. Nothing is cleared before the primary has answered over the link.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { ReplicationMember } from '@keelson/cluster-member';
import { hasCode, KeelsonError } from '@keelson/errors';
import {
  type AdoptedKeyring,
  finishActivation,
  generateLinkKeyPair,
  type LinkKeyPair,
  type ReplicationKind,
  removeReplicated,
  requireNoNewerPrimary,
} from '@keelson/replication';
import type { Barrier, Store, Transaction } from '@keelson/storage';
import { keepFormerRootKeys } from '../seal/root-key-replacement.ts';
import { wrapRootKey } from '../seal/root-key-wrap.ts';
import type { Seal } from '../seal/seal.ts';
import { type SealRecord, sealRecords } from '../seal/seal-records.ts';
import { writeTokenSalt } from '../tokens/token-records.ts';
import {
  addressIn,
  encodePublicKey,
  isSealedBundle,
  loadRoots,
  openBundle,
  type TrustedRoots,
  unwrapBundle,
} from './activation-token.ts';
import { type ActivationBundle, requireUsable } from './domain/activation-bundle.ts';
import { requireNoCredentials } from './domain/cluster-address.ts';
import {
  type PendingActivation,
  pendingActivation,
  pendingKeys,
  type SecondaryRoleRecord,
  writeRole,
} from './replication-records.ts';
import { newGeneration, type ReplicationState, toReplicationRoles } from './replication-state.ts';

export interface ActivationParts {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly barrier: Barrier;
  readonly seal: Seal;
  readonly member: ReplicationMember;
  readonly clock: Clock;
  /** Software version of this cluster. */
  readonly version: string;
}

export interface ActivationRequest extends TrustedRoots {
  readonly token: string;
  /** Empty means the address in the token. */
  readonly primaryApiAddress: string;
}

export interface ConsumedActivation {
  readonly bundle: ActivationBundle;
  readonly keys: LinkKeyPair;
  /** PEM; verify the certificates of the primary's NATS server. */
  readonly trustedRoots?: readonly string[] | undefined;
}

const TOKEN_SALT_BYTES = 32;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Returns a public key for `secondary_public_key` of the primary; replaces the key made before. */
export const generatePublicKey = async (
  { store, seal }: ActivationParts,
  kind: ReplicationKind,
): Promise<string> => {
  const keys = generateLinkKeyPair();
  await store.transact((tx) => pendingKeys[kind].write(tx, seal.requireRootKey(), keys));
  return encodePublicKey(keys.publicKey);
};

/** The contents of an activation token, which cannot be used again. */
export const takeBundle = async (
  { store, seal, clock, version }: ActivationParts,
  kind: ReplicationKind,
  { token, primaryApiAddress, ...roots }: ActivationRequest,
): Promise<ConsumedActivation> => {
  if (token === '') refuse('missing token');
  requireNoCredentials('primary_api_addr', [primaryApiAddress]);
  const requireUsableHere = (bundle: ActivationBundle): ActivationBundle => {
    requireNoNewerPrimary(bundle.version, version);
    return requireUsable(bundle, { kind, nowMs: clock.nowMs() });
  };
  // Read first: an unreadable file must not use up the token.
  const trustedRoots = await loadRoots(roots);
  if (isSealedBundle(token)) {
    if (primaryApiAddress !== '')
      refuse(
        'primary_api_addr cannot be used with a token that is encrypted to the public key of this cluster, which is opened without the primary',
      );
    const keys = await pendingKeys[kind].find(store, seal.requireRootKey());
    if (keys === undefined)
      return refuse('the token was not made for the public key of this cluster');
    const bundle = requireUsableHere(openBundle(token, keys));
    await store.transact((tx) => pendingKeys[kind].delete(tx));
    return { bundle, keys, trustedRoots };
  }
  const address = primaryApiAddress === '' ? addressIn(token) : primaryApiAddress;
  const bundle = requireUsableHere(await unwrapBundle(token, address, trustedRoots));
  return bundle.secondaryKeys === undefined
    ? refuse('the token is not a secondary activation token')
    : { bundle, keys: bundle.secondaryKeys, trustedRoots };
};

export const toSecondaryRole = (
  { bundle, keys, trustedRoots }: ConsumedActivation,
  activation: string,
  previousRootKey: Uint8Array,
): SecondaryRoleRecord => ({
  role: 'secondary',
  clusterId: bundle.clusterId,
  generation: newGeneration(),
  primaryClusterAddress: bundle.primaryClusterAddress,
  link: {
    secondaryId: bundle.secondaryId,
    keys,
    primaryPublicKey: bundle.primaryPublicKey,
    addresses: [bundle.primaryClusterAddress],
    ...(trustedRoots !== undefined && { trustedRoots }),
  },
  activation,
  previousRootKey: Buffer.from(previousRootKey).toString('base64'),
});

/** @throws KeelsonError `replication.bootstrap_failed`; `request.invalid` for a faulty token */
export const fetchKeyring = async (
  { member }: ActivationParts,
  kind: ReplicationKind,
  role: SecondaryRoleRecord,
): Promise<AdoptedKeyring> => {
  const [asked] = toReplicationRoles({ performance: undefined, dr: undefined, [kind]: role });
  try {
    if (asked === undefined) throw new KeelsonError('internal');
    return await member.fetchKeyring(asked);
  } catch (cause) {
    if (hasCode(cause, 'replication.not_admitted'))
      return refuse('the token was revoked: its primary does not know this secondary');
    if (hasCode(cause, 'replication.superseded_primary')) throw cause;
    const reason = KeelsonError.from(cause).message;
    const address = role.link?.addresses.join(', ') ?? role.primaryClusterAddress;
    throw new KeelsonError('replication.bootstrap_failed', { address, reason }, { cause });
  }
};

/** The seal of a secondary: its shares are those of the primary. */
const adoptSeal = async (
  { seal }: ActivationParts,
  { seal: { shares, threshold, wrappedForShares } }: ActivationBundle,
  rootKey: Uint8Array,
): Promise<SealRecord> => {
  const ofShares = { shares, threshold, wrappedForShares };
  const unsealKey = await seal.unsealKey();
  if (unsealKey === undefined) return { type: 'shamir', ...ofShares };
  const wrappedForKeyFiles = [wrapRootKey(unsealKey, rootKey)];
  unsealKey.fill(0);
  return { type: 'static', ...ofShares, wrappedForKeyFiles };
};

const carryOut = async (
  parts: ActivationParts,
  pending: PendingActivation,
  taken: AdoptedKeyring,
): Promise<void> => {
  const { store, barrier, seal, member } = parts;
  const { bundle, activation } = pending;
  const { kind } = bundle;
  const role = toSecondaryRole(pending, activation, seal.requireRootKey());
  const sealRecord = await adoptSeal(parts, bundle, taken.rootKey);
  member.gate.close('all', 'replication.switching');
  await member.stop();
  // Stops replicas that have not noticed the change from committing data of the former cluster.
  await member.gate.takeTurn(store, `activation ${activation}`);
  await removeReplicated(store);
  const alsoWrite = async (tx: Transaction): Promise<void> => {
    sealRecords.write(tx, sealRecord);
    await keepFormerRootKeys(tx, seal.requireRootKey(), taken.rootKey);
    writeRole(tx, taken.rootKey, kind, role);
    if (kind === 'performance') {
      // A DR secondary receives these records from the primary.
      writeTokenSalt(tx, randomBytes(TOKEN_SALT_BYTES));
    }
    pendingActivation.delete(tx);
  };
  await finishActivation(store, barrier, kind, activation, taken, { alsoWrite });
  seal.replaceRootKey(taken.rootKey);
};

/** @throws KeelsonError `replication.bootstrap_failed`, `request.invalid`; nothing was cleared then */
export const activate = async (
  parts: ActivationParts,
  state: ReplicationState,
  kind: ReplicationKind,
  request: ActivationRequest,
): Promise<void> => {
  const { performance, dr } = await state.roles();
  const inUse = [performance && 'performance', dr && 'DR'].filter((one) => one !== undefined);
  if (inUse.length > 0)
    refuse(
      inUse.length === 1
        ? `${inUse.join()} replication is enabled on this cluster: disable it first`
        : `${inUse.join(' and ')} replication are enabled on this cluster: disable them first`,
    );
  const taken = await takeBundle(parts, kind, request);
  const pending: PendingActivation = { ...taken, activation: randomUUID() };
  const { store, seal } = parts;
  // Detects an unreadable key file before anything is cleared.
  await adoptSeal(parts, taken.bundle, seal.requireRootKey());
  const keyring = await fetchKeyring(parts, kind, toSecondaryRole(pending, '', new Uint8Array(0)));
  await state.switching(async () => {
    await store.transact((tx) => pendingActivation.write(tx, seal.requireRootKey(), pending));
    await carryOut(parts, pending, keyring);
    await state.apply();
  });
};

/** Resumes an activation that a crash interrupted. */
export const resumeActivation = async (parts: ActivationParts): Promise<void> => {
  const pending = await pendingActivation.find(parts.store, parts.seal.requireRootKey());
  if (pending === undefined) return;
  const { kind } = pending.bundle;
  const role = toSecondaryRole(pending, '', new Uint8Array(0));
  await carryOut(parts, pending, await fetchKeyring(parts, kind, role));
};
