/** Builds the lists of one group of issuers and replaces the old ones. */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { hasCode } from '@keelson/errors';
import { type Fence, loadRestoration, type Store } from '@keelson/storage';
import {
  authorityKeyIdentifier,
  type CrlEntries,
  createCrl,
  crlNumber,
  deltaCrlIndicator,
  type Extension,
  freshestCrl,
} from '@keelson/x509';
import {
  type PendingRevocation,
  type RevocationScope,
} from '../../certificates/revocation-records.ts';
import { deltaValiditySeconds } from '../../crl-config/domain/crl-config.ts';
import type { Authority, IssuerInUse } from '../../issuers/domain/authority.ts';
import {
  type CrlKind,
  type CrlRecord,
  crlRecords,
  deleteCrlParts,
  type StoredCrl,
  writeCrlParts,
} from '../crl-records.ts';
import { type CrlGroup, crlSignerOf } from '../domain/crl-group.ts';
import { completeEntries, deltaEntries } from './crl-entries.ts';

export interface CrlBuild {
  readonly store: Store;
  readonly clock: Clock;
  readonly mount: MountScope;
  readonly authority: Authority;
  /** Fence of the lease under which the build runs. */
  readonly fence: Fence;
  readonly scope: RevocationScope;
}

export type PendingEntries = readonly (readonly [string, PendingRevocation])[];

interface NewCrl {
  readonly validitySeconds: number;
  readonly group: CrlGroup;
  readonly signer: IssuerInUse;
  readonly kind: CrlKind;
  readonly number: number;
  readonly extensions: readonly Extension[];
  readonly entries: CrlEntries;
}

const makeCrl = async (build: CrlBuild, crl: NewCrl): Promise<StoredCrl> => {
  const { store, clock } = build;
  const { group, signer, number, validitySeconds } = crl;
  const thisUpdateMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const nextUpdateMs = thisUpdateMs + validitySeconds * 1000;
  const der = await createCrl(
    {
      issuer: signer.certificate.subject,
      thisUpdateMs,
      nextUpdateMs,
      extensions: [
        authorityKeyIdentifier(signer.keyIdentifier),
        crlNumber(BigInt(number)),
        ...crl.extensions,
      ],
    },
    crl.entries,
    signer.revocationSigner(),
  );
  const place = { ...build, groupId: group.id, kind: crl.kind };
  const partCount = await writeCrlParts(store, place, { number, der }, build.fence);
  return { number, thisUpdateMs, nextUpdateMs, partCount, storedAtMs: clock.nowMs() };
};

const makeDelta = (
  build: CrlBuild,
  crl: Pick<NewCrl, 'group' | 'signer' | 'number'>,
  baseNumber: number,
  pending: PendingEntries,
): Promise<StoredCrl> =>
  makeCrl(build, {
    ...crl,
    kind: 'delta',
    validitySeconds: deltaValiditySeconds(build.authority.settings.crl),
    extensions: [deltaCrlIndicator(BigInt(baseNumber))],
    entries: build.authority.settings.crl.disable
      ? []
      : deltaEntries(pending, crl.group, build.authority),
  });

/** Makes the new lists current, then removes the old ones. */
const replace = async (
  build: CrlBuild,
  groupId: string,
  next: CrlRecord,
  replaced: readonly (readonly [CrlKind, StoredCrl | undefined])[],
): Promise<void> => {
  const { store, mount, scope } = build;
  await store.transact((tx) => crlRecords(mount, scope).write(tx, groupId, next), {
    fence: build.fence,
  });
  for (const [kind, crl] of replaced)
    if (crl !== undefined) await deleteCrlParts(store, { mount, scope, groupId, kind }, crl.number);
};

const noSigner = (group: CrlGroup): string =>
  `no CRL was built for issuer ${group.members[0]?.issuer.id}: it has no key or lacks the crl-signing usage`;

/** The location of the delta list; URLs that cannot be resolved yet are left out with a warning. */
const freshestExtension = (
  { authority }: CrlBuild,
  signer: IssuerInUse,
  warnings: string[],
): readonly Extension[] => {
  if (!authority.settings.crl.enableDelta) return [];
  try {
    const { deltaCrlDistributionPoints: urls } = authority.urlsOf(signer);
    return urls.length === 0 ? [] : [freshestCrl(urls)];
  } catch (error) {
    if (!hasCode(error, 'request.invalid')) throw error;
    warnings.push(`the CRL does not name its delta CRL: ${String(error)}`);
    return [];
  }
};

/**
 * The number of the newest list. The lists of this cluster and of all clusters may be served on one path, so
 * they share a sequence, which only grows (RFC 5280 §5.2.3). A store restored from an older copy does not know
 * the lists published since that copy, so its numbers continue from the Unix time of the restoration, which no
 * count of lists can have reached.
 */
const lastNumber = async ({ store, mount }: CrlBuild, group: CrlGroup): Promise<number> => {
  const records = await Promise.all([
    crlRecords(mount).find(store, group.id),
    crlRecords(mount, 'all').find(store, group.id),
  ]);
  const restoredAtMs = (await loadRestoration(store))?.atMs ?? 0;
  const floor = Math.floor(restoredAtMs / 1000);
  return Math.max(floor, ...records.map((record) => record?.lastNumber ?? 0));
};

/**
 * A complete list and, if enabled, its delta list. `pending` are revocations that are
 * possibly missing from the complete list. Returns warnings.
 */
export const buildComplete = async (
  build: CrlBuild,
  group: CrlGroup,
  pending: () => Promise<PendingEntries>,
): Promise<readonly string[]> => {
  const { store, mount, authority, scope } = build;
  const signer = crlSignerOf(group, authority);
  if (signer === undefined) return [noSigner(group)];
  const previous = await crlRecords(mount, scope).find(store, group.id);
  const warnings: string[] = [];
  const { crl: config } = authority.settings;
  const number = (await lastNumber(build, group)) + 1;
  const complete = await makeCrl(build, {
    group,
    signer,
    kind: 'complete',
    validitySeconds: config.expirySeconds,
    number,
    extensions: freshestExtension(build, signer, warnings),
    entries: config.disable ? [] : completeEntries(store, mount, group, authority, scope),
  });
  const delta = config.enableDelta
    ? // RFC 5280 §5.2.3: lists of the same time have the same number.
      await makeDelta(build, { group, signer, number }, number, await pending())
    : undefined;
  const next = { complete, delta, lastNumber: number };
  await replace(build, group.id, next, [
    ['complete', previous?.complete],
    ['delta', previous?.delta],
  ]);
  return warnings;
};

/** A new delta list to the complete list there is; returns warnings. */
export const buildDelta = async (
  build: CrlBuild,
  group: CrlGroup,
  pending: PendingEntries,
): Promise<readonly string[]> => {
  const { store, mount, authority, scope } = build;
  const signer = crlSignerOf(group, authority);
  if (signer === undefined) return [noSigner(group)];
  const previous = await crlRecords(mount, scope).find(store, group.id);
  if (previous === undefined) return buildComplete(build, group, () => Promise.resolve(pending));
  const number = (await lastNumber(build, group)) + 1;
  const base = previous.complete.number;
  const delta = await makeDelta(build, { group, signer, number }, base, pending);
  const next = { complete: previous.complete, delta, lastNumber: number };
  await replace(build, group.id, next, [['delta', previous.delta]]);
  return [];
};
