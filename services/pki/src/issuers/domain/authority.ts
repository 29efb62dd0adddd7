/**
 * The authority of one mount as of the start of a request: its issuers with their parsed certificates, keys and
 * chains, and its settings. Built from records, never changed.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isDamage, KeelsonError } from '@keelson/errors';
import { isSamePublicKey, isSignedBy, type ParsedCertificate } from '@keelson/x509';
import {
  type AuthorityUrls,
  type ClusterAddress,
  resolveUrls,
} from '../../authority-urls/domain/authority-urls.ts';
import type { CrlConfig } from '../../crl-config/domain/crl-config.ts';
import { type DamagedReferences, NO_DAMAGE } from '../../keys/domain/damaged-references.ts';
import type { MountKeys } from '../../keys/domain/mount-keys.ts';
import { buildChain, type ChainGraph, pathsAbove } from './chain.ts';
import { chainRulesOf } from './chain-check.ts';
import type { Issuer } from './issuer.ts';
import { IssuerInUse } from './issuer-in-use.ts';
import type { SigningIssuer } from './signing-issuer.ts';

export type { IssuerInUse } from './issuer-in-use.ts';

/** A member whose record is damaged throws KeelsonError `barrier.damaged_value` when it is read. */
export interface MountSettings {
  /** "" when there is none. */
  readonly defaultIssuerId: string;
  readonly defaultFollowsLatestIssuer: boolean;
  readonly urls: AuthorityUrls;
  readonly cluster: ClusterAddress;
  readonly crl: CrlConfig;
  /** Undefined means never. */
  readonly issuersChangedAtMs: number | undefined;
}

export interface AuthorityRecords {
  /** The keys that can be decrypted. */
  readonly issuers: readonly Issuer[];
  readonly damagedIssuers?: DamagedReferences;
  readonly keys: MountKeys;
  readonly settings: MountSettings;
}

const byId = (a: Issuer, b: Issuer): number => (a.id < b.id ? -1 : 1);

const isParent = (child: IssuerInUse, candidate: IssuerInUse): boolean =>
  candidate !== child &&
  Buffer.from(candidate.certificate.subject).equals(child.certificate.issuer) &&
  isSignedBy(child.certificate, candidate.certificate.publicKeyDer);

/**
 * Same name and key: the issuer was issued again, or certified by another authority. Either may be the
 * parent of what the other signed.
 */
const isTwin = (one: IssuerInUse, other: IssuerInUse): boolean =>
  other !== one &&
  Buffer.from(other.certificate.subject).equals(one.certificate.subject) &&
  isSamePublicKey(other.certificate.publicKeyDer, one.certificate.publicKeyDer);

const isReissue = (one: IssuerInUse, other: IssuerInUse): boolean =>
  isTwin(one, other) && Buffer.from(other.certificate.issuer).equals(one.certificate.issuer);

/** Cross-signed issuers multiply the paths to a root; no client tries more than a few. */
const MAX_PATHS = 32;

export class Authority {
  readonly settings: MountSettings;
  readonly keys: MountKeys;
  readonly damagedIssuers: DamagedReferences;
  readonly #byId: ReadonlyMap<string, IssuerInUse>;
  readonly #chains = new Map<IssuerInUse, readonly IssuerInUse[]>();
  readonly #signing = new Map<IssuerInUse, SigningIssuer>();
  readonly #parents = new Map<IssuerInUse, readonly IssuerInUse[]>();
  readonly #paths = new Map<IssuerInUse, readonly (readonly IssuerInUse[])[]>();
  readonly #graph: ChainGraph<IssuerInUse> = {
    parentsOf: (child) => this.#parentsOf(child),
    reissuesOf: (one) => this.issuers.filter((other) => isReissue(one, other)),
  };

  constructor({ issuers, damagedIssuers = NO_DAMAGE, keys, settings }: AuthorityRecords) {
    this.settings = settings;
    this.damagedIssuers = damagedIssuers;
    this.keys = keys;
    const keyById = new Map(keys.all.map((key) => [key.id, key]));
    const privateKeyOf = (id: string): KeyObject | undefined => {
      const key = keyById.get(id);
      return (
        key &&
        createPrivateKey({
          key: Buffer.from(key.privateKey, 'base64'),
          format: 'der',
          type: 'pkcs8',
        })
      );
    };
    this.#byId = new Map(
      issuers
        .toSorted(byId)
        .map((issuer) => [
          issuer.id,
          new IssuerInUse(issuer, privateKeyOf(issuer.keyId), () =>
            keys.damaged.refuseId(issuer.keyId),
          ),
        ]),
    );
  }

  get issuers(): readonly IssuerInUse[] {
    return [...this.#byId.values()];
  }

  /** @throws KeelsonError `barrier.damaged_value` when it, or the choice of it, cannot be decrypted */
  get defaultIssuer(): IssuerInUse | undefined {
    const { defaultIssuerId } = this.settings;
    this.damagedIssuers.refuseId(defaultIssuerId);
    return this.#byId.get(defaultIssuerId);
  }

  /** Whether this is the default issuer; false where that cannot be read. */
  isDefault({ issuer }: IssuerInUse): boolean {
    try {
      return this.settings.defaultIssuerId === issuer.id;
    } catch (error) {
      if (isDamage(error)) return false;
      throw error;
    }
  }

  /**
   * By id, name, or the literal `default`.
   * @throws KeelsonError `barrier.damaged_value` when it has this id and is damaged
   */
  findIssuer(reference: string): IssuerInUse | undefined {
    if (reference === 'default') return this.defaultIssuer;
    this.damagedIssuers.refuseId(reference);
    return (
      this.#byId.get(reference) ?? this.issuers.find(({ issuer }) => issuer.name === reference)
    );
  }

  /** @throws KeelsonError `pki.issuer_not_found`, `pki.no_default_issuer`, `barrier.damaged_value` */
  requireIssuer(reference: string): IssuerInUse {
    const found = reference === '' ? undefined : this.findIssuer(reference);
    if (found !== undefined) return found;
    if (reference === 'default') throw new KeelsonError('pki.no_default_issuer');
    this.damagedIssuers.refuse(reference);
    throw new KeelsonError('pki.issuer_not_found', { reference });
  }

  /** The issuer and those above it, from its manual chain or as found by name and key. */
  chainOf(start: IssuerInUse): readonly IssuerInUse[] {
    const known = this.#chains.get(start);
    if (known !== undefined) return known;
    const chain =
      start.issuer.manualChain.length > 0
        ? start.issuer.manualChain.flatMap((id) => this.#byId.get(id) ?? [])
        : buildChain(start, this.#graph);
    this.#chains.set(start, chain);
    return chain;
  }

  /**
   * The part of an issuer that making certificates needs.
   * @throws KeelsonError `request.invalid` when it has no key, or a template of its URLs lacks a value
   */
  signingIssuerOf(inUse: IssuerInUse): SigningIssuer {
    const known = this.#signing.get(inUse);
    if (known !== undefined) return known;
    const { issuer, certificate, keyIdentifier, pathLength } = inUse;
    const signing: SigningIssuer = {
      privateKey: inUse.requirePrivateKey(),
      // Copies: a view would be sent to other threads with its whole buffer.
      name: Uint8Array.from(certificate.subject),
      keyIdentifier: Uint8Array.from(keyIdentifier),
      pathLength,
      notAfterMs: certificate.notAfterMs,
      leafNotAfterBehavior: issuer.leafNotAfterBehavior,
      urls: this.urlsOf(inUse),
      chainRules: chainRulesOf(inUse, [...pathsAbove(inUse, this.#graph, MAX_PATHS)]),
    };
    this.#signing.set(inUse, signing);
    return signing;
  }

  /**
   * Paths from a certificate of this issuer to a root, each member certifying the one before it: its manual
   * chain, or those through it and through other certificates of its name and key.
   */
  pathsOf(start: IssuerInUse): readonly (readonly IssuerInUse[])[] {
    if (start.issuer.manualChain.length > 0) return [this.chainOf(start)];
    const known = this.#paths.get(start);
    if (known !== undefined) return known;
    const paths = [start, ...this.issuers.filter((other) => isTwin(start, other))]
      .flatMap((one) => [...pathsAbove(one, this.#graph, MAX_PATHS)])
      .slice(0, MAX_PATHS);
    this.#paths.set(start, paths);
    return paths;
  }

  /** URLs for certificates signed by this issuer: its own when it has any, else the mount's. */
  urlsOf({ issuer }: IssuerInUse): AuthorityUrls {
    return resolveUrls(issuer.urls ?? this.settings.urls, issuer.id, this.settings.cluster);
  }

  /** The issuer whose key signed this certificate. */
  findSigner(certificate: ParsedCertificate): IssuerInUse | undefined {
    return this.issuers.find(
      (candidate) =>
        Buffer.from(candidate.certificate.subject).equals(certificate.issuer) &&
        isSignedBy(certificate, candidate.certificate.publicKeyDer),
    );
  }

  #parentsOf(child: IssuerInUse): readonly IssuerInUse[] {
    const known = this.#parents.get(child);
    if (known !== undefined) return known;
    const parents = this.issuers.filter((candidate) => isParent(child, candidate));
    this.#parents.set(child, parents);
    return parents;
  }
}
