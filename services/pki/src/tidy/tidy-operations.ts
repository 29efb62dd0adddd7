/** The work of tidying. Each operation goes step by step, so that it can be paused and cancelled. */

import type { Clock } from '@keelson/clock';
import type { MountScope, ThisCluster } from '@keelson/engine';
import { type Fence, readableOnly, type Store, type Transaction } from '@keelson/storage';
import { parseCertificate } from '@keelson/x509';
import type { CertificateTables } from '../certificates/certificate-projections.ts';
import {
  certificatesPrefix,
  findCertificate,
  metadataRecords,
} from '../certificates/certificate-records.ts';
import { pendingRecords, revocationRecords } from '../certificates/revocation-records.ts';
import { revocationsOf, revokingIssuerIds } from '../certificates/revocation-search.ts';
import {
  clusterRevocationRecords,
  confirmationRecords,
  requestRecords,
} from '../clusters/cluster-records.ts';
import type { CrlBuilder } from '../crl/build/crl-builder.ts';
import { deleteIssuer } from '../issuers/issuer-operations.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import { rolesNaming } from '../roles/role-operations.ts';
import { tidyAcme } from './acme-tidy-operations.ts';
import { stepSize, type TidyOperation, type TidySettings } from './domain/tidy-settings.ts';
import type { TidyCounts } from './tidy-records.ts';

export interface TidyParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly clock: Clock;
  readonly cluster: () => ThisCluster;
}

export interface TidyRun {
  readonly mount: MountScope;
  readonly settings: TidySettings;
  readonly fence: Fence;
  /** Called after each step with its counts; throws when the run has to end. */
  advance(done: Partial<TidyCounts>): Promise<void>;
}

/**
 * Deletes the rows of a table whose certificates expired before the buffer, step by step.
 * @param remove part of the transaction of one step
 * @param counts name under which the deleted rows are counted
 * @returns whether anything was deleted
 */
const deleteExpired = async (
  { store, clock }: TidyParts,
  run: TidyRun,
  table: 'pki_certificate' | 'pki_revocation',
  {
    bufferSeconds,
    counts,
    remove,
  }: {
    readonly bufferSeconds: number;
    readonly counts: keyof TidyCounts;
    readonly remove: (tx: Transaction, serial: string) => void;
  },
): Promise<boolean> => {
  const { mount, settings, fence } = run;
  const beforeMs = clock.nowMs() - bufferSeconds * 1000;
  for (let isChanged = false; ; isChanged = true) {
    const rows = await store.select<CertificateTables, { serial: string }>((tables) =>
      tables
        .selectFrom(table)
        .select('serial')
        .where('mount_uuid', '=', mount.uuid)
        .where('not_after', '<', beforeMs)
        .orderBy('not_after')
        .limit(stepSize(settings)),
    );
    if (rows.length === 0) return isChanged;
    await store.transact(
      (tx) => {
        for (const { serial } of rows) remove(tx, serial);
      },
      { fence },
    );
    await run.advance({ [counts]: rows.length });
  }
};

const deleteExpiredCertificates = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  const { mount, settings } = run;
  await deleteExpired(parts, run, 'pki_certificate', {
    bufferSeconds: settings.safetyBufferSeconds,
    counts: 'certificates',
    remove: (tx, serial) => tx.delete(certificatesPrefix(mount) + serial),
  });
};

const deleteExpiredRevocations = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  const { mount, settings } = run;
  const isListChanged = await deleteExpired(parts, run, 'pki_revocation', {
    bufferSeconds: settings.revokedSafetyBufferSeconds ?? settings.safetyBufferSeconds,
    counts: 'revocations',
    remove: (tx, serial) => {
      revocationRecords(mount).delete(tx, serial);
      pendingRecords(mount).delete(tx, serial);
      tx.delete(certificatesPrefix(mount) + serial);
    },
  });
  if (isListChanged) await parts.crlBuilder.rebuild(mount);
};

/** Names the issuer in revocations that were recorded before it was known, or under one since deleted. */
const associateIssuers = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  const { store, authorities } = parts;
  const { mount, fence, settings } = run;
  const authority = await authorities.of(mount);
  const known = new Set(authority.issuers.map(({ issuer }) => issuer.id));
  let isListChanged = false;
  for await (const issuerId of revokingIssuerIds(store, mount)) {
    if (known.has(issuerId) || authority.damagedIssuers.has(issuerId)) continue;
    for await (const page of revocationsOf(store, mount, issuerId, 'own', stepSize(settings))) {
      let missing = 0;
      await store.transact(
        async (tx) => {
          missing = 0;
          for (const { serial } of page) {
            const revocation = await revocationRecords(mount).find(readableOnly(tx), serial);
            const der = await findCertificate(tx, mount, serial);
            if (revocation === undefined) continue;
            const signer = der && authority.findSigner(parseCertificate(der));
            if (signer === undefined) missing++;
            else
              revocationRecords(mount).write(tx, serial, {
                ...revocation,
                issuerId: signer.issuer.id,
              });
          }
        },
        { fence },
      );
      isListChanged ||= missing < page.length;
      await run.advance({ missingIssuers: missing });
    }
  }
  if (isListChanged) await parts.crlBuilder.rebuild(mount);
};

const deleteExpiredIssuers = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  const { mount, settings } = run;
  const beforeMs = parts.clock.nowMs() - settings.issuerSafetyBufferSeconds * 1000;
  const authority = await parts.authorities.of(mount);
  const expired = authority.issuers.filter(
    (issuer) => issuer !== authority.defaultIssuer && issuer.certificate.notAfterMs < beforeMs,
  );
  for (const { issuer } of expired) {
    await deleteIssuer({ ...parts, rolesNaming }, mount, issuer.id);
    await run.advance({});
  }
  if (expired.length > 0) await parts.crlBuilder.rebuild(mount);
};

const deleteExpiredMetadata = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  const { store, clock } = parts;
  const { mount, settings, fence } = run;
  const beforeMs = clock.nowMs() - settings.safetyBufferSeconds * 1000;
  const records = metadataRecords(mount);
  let after: string | undefined;
  for (;;) {
    const page = await records.entries(readableOnly(store), {
      limit: stepSize(settings),
      ...(after !== undefined && { after }),
    });
    const expired = page.filter(([, { notAfterMs }]) => notAfterMs < beforeMs);
    await store.transact(
      (tx) => {
        for (const [serial] of expired) records.delete(tx, serial);
      },
      { fence },
    );
    after = page.at(-1)?.[0];
    if (after === undefined) return;
    await run.advance({ metadata: expired.length });
  }
};

const deleteExpiredClusterRevocations = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  // The primary tidies replicated records.
  if (parts.cluster().isSecondary) return;
  const { store, clock } = parts;
  const { mount, settings, fence } = run;
  const beforeMs = clock.nowMs() - settings.safetyBufferSeconds * 1000;
  const records = clusterRevocationRecords(mount);
  let isListChanged = false;
  for (;;) {
    const rows = await store.select<CertificateTables, { serial: string; cluster: string }>(
      (tables) =>
        tables
          .selectFrom('pki_cluster_revocation')
          .select(['serial', 'cluster'])
          .where('mount_uuid', '=', mount.uuid)
          .where('not_after', '<', beforeMs)
          .orderBy('not_after')
          .limit(stepSize(settings)),
    );
    if (rows.length === 0) break;
    await store.transact(
      (tx) => {
        for (const { serial, cluster } of rows) {
          records.delete(tx, `${serial}/${cluster}`);
          pendingRecords(mount, 'all').delete(tx, serial);
        }
      },
      { fence },
    );
    isListChanged = true;
    await run.advance({ clusterRevocations: rows.length });
  }
  if (isListChanged) await parts.crlBuilder.rebuild(mount);
};

/** Requests between clusters, whether answered or not. */
const deleteOldRequests = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  if (parts.cluster().isSecondary) return;
  const { store, clock } = parts;
  const { mount, settings, fence } = run;
  const beforeMs = clock.nowMs() - settings.revocationQueueSafetyBufferSeconds * 1000;
  let after: string | undefined;
  for (;;) {
    const page = await requestRecords(mount).entries(readableOnly(store), {
      limit: stepSize(settings),
      ...(after !== undefined && { after }),
    });
    const old = page.filter(([, { requestedAtMs }]) => requestedAtMs < beforeMs);
    await store.transact(
      (tx) => {
        for (const [serialKey] of old) {
          requestRecords(mount).delete(tx, serialKey);
          confirmationRecords(mount).delete(tx, serialKey);
        }
      },
      { fence },
    );
    after = page.at(-1)?.[0];
    if (after === undefined) return;
    await run.advance({ requests: old.length });
  }
};

type Work = (parts: TidyParts, run: TidyRun) => Promise<void>;

/**
 * Operations with something to do here, in the order they run. The others are accepted and find
 * nothing: there is no old bundle to move, no CMP state, and nothing that cannot be parsed is ever
 * stored.
 */
const WORK: Readonly<Partial<Record<TidyOperation, Work>>> = {
  tidy_cert_store: deleteExpiredCertificates,
  tidy_revoked_cert_issuer_associations: associateIssuers,
  tidy_revoked_certs: deleteExpiredRevocations,
  tidy_expired_issuers: deleteExpiredIssuers,
  tidy_acme: tidyAcme,
  tidy_cert_metadata: deleteExpiredMetadata,
  tidy_revocation_queue: deleteOldRequests,
  tidy_cross_cluster_revoked_certs: deleteExpiredClusterRevocations,
};

/** Runs all operations that the settings enable. */
export const tidyMount = async (parts: TidyParts, run: TidyRun): Promise<void> => {
  for (const [operation, work] of Object.entries(WORK))
    if (run.settings.operations.includes(operation as TidyOperation)) await work(parts, run);
};
