/**
 * Activation of a secondary: removes the content of the store, then replaces our keyring with the one of
 * the primary. An activation is done once; if interrupted, it starts again from the beginning.
 */
import {
  type Barrier,
  collection,
  type Fence,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { Type } from 'typebox';
import type { ReplicationKind } from '../domain/crossing.ts';

const KEYRING_PATH = 'node/core/keyring';
const PATHS_PER_COMMIT = 1000;
/** Source of the removals, which come from no log. */
const NO_LOG = 'none';

/** Key: the kind. */
const activations = collection('replication/activations', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ activation: Type.String() }),
});

/** Whether this cluster has completed `activation`; "" means that there is none. */
export const isActivated = async (
  store: Store,
  kind: ReplicationKind,
  activation: string,
): Promise<boolean> =>
  activation === '' || (await activations.find(store, kind))?.activation === activation;

/**
 * Removes all records but those of the node. The barrier is open with the keyring they are sealed under.
 * @param fence of the replica that does it, if other replicas compete
 */
export const removeReplicated = async (store: Store, fence?: Fence): Promise<void> => {
  for (const tree of ['replicated', 'local'] as const)
    for (;;) {
      const paths = await store.stored.listPaths(tree, '', PATHS_PER_COMMIT);
      if (paths.length === 0) break;
      await store.applyRecords(
        NO_LOG,
        paths.map((path) => ({ path, stored: undefined })),
        { ...(fence !== undefined && { fence }) },
      );
    }
};

export interface AdoptedKeyring {
  readonly rootKey: Uint8Array;
  readonly wrappedKeyring: Uint8Array;
}

export interface ActivationCommit {
  /** Further records of the same commit. */
  readonly alsoWrite?: (tx: Transaction) => void | Promise<void>;
  readonly fence?: Fence;
}

/**
 * Commits the adoption of the primary's set by this store.
 * @throws KeelsonError `barrier.wrong_root_key`
 */
export const finishActivation = async (
  store: Store,
  barrier: Barrier,
  kind: ReplicationKind,
  activation: string,
  { rootKey, wrappedKeyring }: AdoptedKeyring,
  { alsoWrite, fence }: ActivationCommit = {},
): Promise<void> => {
  barrier.unseal(rootKey, wrappedKeyring);
  await store.transact(
    async (tx) => {
      tx.write(KEYRING_PATH, wrappedKeyring);
      activations.write(tx, kind, { activation });
      await alsoWrite?.(tx);
    },
    { ...(fence !== undefined && { fence }) },
  );
};
