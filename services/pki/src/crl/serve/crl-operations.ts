import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { type RevocationScope } from '../../certificates/revocation-records.ts';
import type { IssuerInUse } from '../../issuers/domain/authority.ts';
import { type CrlKind, crlRecords, readCrlParts, type StoredCrl } from '../crl-records.ts';
import { crlGroupId } from '../domain/crl-group.ts';

export interface CurrentCrl {
  readonly der: Uint8Array;
  /** When it became the current list. */
  readonly storedAtMs: number;
  readonly nextUpdateMs: number;
}

// The store hands out the same record object until the lists change, and forgets it when sealed.
const loaded = new WeakMap<StoredCrl, CurrentCrl>();

/** The current list of an issuer; undefined before the first is built. */
export const findCrl = async (
  store: Store,
  mount: MountScope,
  issuer: IssuerInUse,
  kind: CrlKind = 'complete',
  scope: RevocationScope = 'own',
): Promise<CurrentCrl | undefined> => {
  const groupId = crlGroupId(issuer);
  const records = crlRecords(mount, scope);
  const current = (await records.find(store, groupId))?.[kind];
  if (current === undefined) return undefined;
  const known = loaded.get(current);
  if (known !== undefined) return known;
  // Record and parts are read in one transaction, in case the list is replaced meanwhile.
  return store.transact(async (tx) => {
    const stored = (await records.find(tx, groupId))?.[kind];
    if (stored === undefined) return undefined;
    const der = await readCrlParts(tx, { mount, scope, groupId, kind }, stored);
    const { storedAtMs, nextUpdateMs } = stored;
    const crl = { der, storedAtMs, nextUpdateMs };
    loaded.set(stored, crl);
    return crl;
  });
};
