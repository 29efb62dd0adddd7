/** Creates a root: a key (new or existing), its self-signed certificate, and the issuer record. */

import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { randomSerialNumber, toSerialKey } from '@keelson/x509';
import {
  hasUrls,
  NO_URLS,
  NO_URLS_WARNING,
  resolveUrls,
} from '../authority-urls/domain/authority-urls.ts';
import { writeCertificate } from '../certificates/certificate-records.ts';
import type { ListRebuilding } from '../crl-config/list-rebuilding.ts';
import { type Key } from '../keys/domain/mount-keys.ts';
import { chooseKey, type KeyChoice, storeKey } from '../keys/key-operations.ts';
import { adoptDefaultKey } from '../keys/key-records.ts';
import { signLinted } from '../lints/lints.ts';
import { checkFreeName } from '../mounts/reference-name.ts';
import { adoptAsDefault } from './default-adoption.ts';
import type { Authority, IssuerInUse } from './domain/authority.ts';
import { buildRootCertificate, type CaSubject } from './domain/ca-certificate.ts';
import { type Issuer, newIssuer } from './domain/issuer.ts';
import {
  type Authorities,
  issuerRecords,
  loadAuthority,
  recordIssuerChange,
} from './issuer-records.ts';

export interface RootParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: ListRebuilding;
  readonly clock: Clock;
}

export interface GenerateRootRequest {
  readonly mount: MountScope;
  readonly issuerName: string;
  readonly key: KeyChoice;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly subject: CaSubject;
  /** Undefined means no limit. */
  readonly pathLength: number | undefined;
}

export interface GeneratedRoot {
  readonly issuer: IssuerInUse;
  readonly key: Key;
  readonly warnings: readonly string[];
}

const rootUrls = (authority: Authority, warnings: string[]) => {
  const { urls, cluster } = authority.settings;
  const text = JSON.stringify(urls);
  if (urls.enableTemplating && text.includes('{{issuer_id}}')) {
    warnings.push(
      'the AIA URLs name {{issuer_id}}, which a root does not have yet; they are omitted',
    );
    return NO_URLS;
  }
  if (!hasUrls(urls)) warnings.push(NO_URLS_WARNING);
  return resolveUrls(urls, '', cluster);
};

/** Generates a root, stores it as an issuer and builds its first list. */
export const generateRoot = async (
  parts: RootParts,
  request: GenerateRootRequest,
): Promise<GeneratedRoot> => {
  const { mount } = request;
  const warnings: string[] = [];
  const before = await parts.authorities.of(mount);
  const { key, isNew, signer } = await chooseKey(parts.store, mount, before.keys, request.key);
  const fields = buildRootCertificate({
    subject: request.subject,
    pathLength: request.pathLength,
    serialNumber: randomSerialNumber(),
    notBeforeMs: request.notBeforeMs,
    notAfterMs: request.notAfterMs,
    publicKeyDer: Buffer.from(key.publicKey, 'base64'),
    urls: rootUrls(before, warnings),
  });
  const der = await signLinted(fields, signer, undefined);
  const issuer: Issuer = {
    ...newIssuer(
      { ...fields, der },
      {
        id: randomUUID(),
        name: request.issuerName,
        keyId: key.id,
        revocationScheme: signer.scheme,
      },
    ),
    isGeneratedRoot: true,
  };
  await parts.store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    checkFreeName(
      'issuer',
      issuer.name,
      authority.issuers.map((other) => other.issuer),
    );
    if (isNew) storeKey(tx, mount, authority.keys, key);
    issuerRecords(mount).write(tx, issuer.id, issuer);
    recordIssuerChange(tx, mount, parts.clock);
    writeCertificate(tx, mount, toSerialKey(fields.serialNumber), der);
    await adoptAsDefault(tx, mount, { issuerIds: [issuer.id], completedIssuerIds: [] });
    await adoptDefaultKey(tx, mount, [key.id]);
  });
  warnings.push(...(await parts.crlBuilder.rebuild(mount)));
  const authority = await parts.authorities.of(mount);
  return { issuer: authority.requireIssuer(issuer.id), key, warnings };
};
