import { type PasscodeUse, passcodeUseShape, UNUSED } from '@keelson/credentials';
import { collection, deriveView, type Reads, type Store, type Transaction } from '@keelson/storage';
import type { OnDamage } from '../damage/damage-register.ts';
import { isUuid } from '../identity/entity-records.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type LoginEnforcement, loginEnforcementShape } from './domain/login-enforcement.ts';
import { type MfaMethod, mfaMethodShape } from './domain/mfa-method.ts';
import { type TotpSecret, totpSecretShape } from './domain/totp-method.ts';

/** Keys: "<namespace id>/<id>". */
const methods = collection('mfa-methods', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: mfaMethodShape,
  owner: OF_NAMESPACE,
});

/** Keys: "<namespace id>/<name>". */
const enforcements = collection('mfa-enforcements', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: loginEnforcementShape,
  owner: OF_NAMESPACE,
});

/** Keys: "<namespace id of the entity>/<entity id>/<method id>". */
const secrets = collection('mfa-totp-secrets', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: totpSecretShape,
  owner: OF_NAMESPACE,
});

/** Keys as of the secrets. The primary of a performance set counts for all of its clusters. */
const uses = collection('mfa-passcode-uses', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: passcodeUseShape,
  owner: OF_NAMESPACE,
});

export const listMethods = async (
  reads: Reads,
  namespaceId: string,
): Promise<readonly MfaMethod[]> =>
  (await methods.below(namespaceId).entries(reads)).map(([, method]) => method);

export const findMethod = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<MfaMethod | undefined> =>
  isUuid(id) ? methods.find(reads, `${namespaceId}/${id}`) : undefined;

export const writeMethod = (tx: Transaction, method: MfaMethod): void =>
  methods.write(tx, `${method.namespaceId}/${method.id}`, method);

export const deleteMethodRecord = (tx: Transaction, { namespaceId, id }: MfaMethod): void =>
  methods.delete(tx, `${namespaceId}/${id}`);

export interface LoginEnforcements {
  readonly all: readonly LoginEnforcement[];
  /** Ids of the namespaces with enforcements that cannot be read. */
  readonly damagedIn: ReadonlySet<string>;
}

/** The enforcements of all namespaces that can be read. */
export const listEnforcements = async (reads: Reads): Promise<readonly LoginEnforcement[]> =>
  (await enforcements.readableEntries(reads)).entries.map(([, enforcement]) => enforcement);

export const findEnforcement = (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<LoginEnforcement | undefined> => enforcements.find(reads, `${namespaceId}/${name}`);

export const writeEnforcement = (tx: Transaction, enforcement: LoginEnforcement): void =>
  enforcements.write(tx, `${enforcement.namespaceId}/${enforcement.name}`, enforcement);

export const deleteEnforcementRecord = (
  tx: Transaction,
  { namespaceId, name }: Pick<LoginEnforcement, 'namespaceId' | 'name'>,
): void => enforcements.delete(tx, `${namespaceId}/${name}`);

/**
 * The enforcements of all namespaces, as of each call.
 * @param onDamage called with the keys of damaged enforcements at every read
 */
export const followEnforcements = (
  store: Store,
  onDamage: OnDamage,
): (() => Promise<LoginEnforcements>) =>
  deriveView(store, [enforcements.prefix], async (reads) => {
    const { entries, damaged } = await enforcements.readableEntries(reads);
    onDamage(damaged);
    return {
      all: entries.map(([, enforcement]) => enforcement),
      damagedIn: new Set(damaged.map((key) => key.slice(0, key.indexOf('/')))),
    };
  });

/** An entity at a method. */
export type SecretPlace = Pick<TotpSecret, 'namespaceId' | 'entityId' | 'methodId'>;

const keyOf = ({ namespaceId, entityId, methodId }: SecretPlace): string =>
  `${namespaceId}/${entityId}/${methodId}`;

export const findSecret = (reads: Reads, place: SecretPlace): Promise<TotpSecret | undefined> =>
  secrets.find(reads, keyOf(place));

/** The methods for which an entity has a key. */
export const listSecretMethodIds = (
  reads: Reads,
  { namespaceId, id }: { readonly namespaceId: string; readonly id: string },
): Promise<readonly string[]> => secrets.keys(reads, [namespaceId, id]);

export const writeSecret = (tx: Transaction, secret: TotpSecret): void =>
  secrets.write(tx, keyOf(secret), secret);

export const deleteSecret = (tx: Transaction, place: SecretPlace): void =>
  secrets.delete(tx, keyOf(place));

/** The records of passcodes, whose keys name the entity and the method. */
export const PASSCODE_RECORDS = [secrets, uses] as const;

export const findUse = async (reads: Reads, place: SecretPlace): Promise<PasscodeUse> =>
  (await uses.find(reads, keyOf(place))) ?? UNUSED;

export const writeUse = (tx: Transaction, place: SecretPlace, use: PasscodeUse): void =>
  uses.write(tx, keyOf(place), use);
