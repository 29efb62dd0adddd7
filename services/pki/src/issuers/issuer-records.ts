import type { Clock } from '@keelson/clock';
import {
  localSettingsPrefix,
  type MountScope,
  sharedPrefix,
  sharedRecords,
  sharedSetting,
  sharedSettingsPrefix,
} from '@keelson/engine';
import { deriveView, type Reads, type Store, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { loadClusterAddress, loadUrls } from '../authority-urls/authority-url-records.ts';
import { loadCrlConfig } from '../crl-config/crl-config-records.ts';
import { DamagedReferences } from '../keys/domain/damaged-references.ts';
import { keyRecords, loadKeyRing } from '../keys/key-records.ts';
import { whenUsed } from '../mounts/damaged-settings.ts';
import { Authority, type MountSettings } from './domain/authority.ts';
import { type Defaults, defaultsShape, NO_DEFAULTS } from './domain/defaults.ts';
import { issuerShape } from './domain/issuer.ts';

export const issuerRecords = sharedRecords('issuers', { version: 1, shape: issuerShape });

const defaultsRecord = sharedSetting('defaults', { version: 1, shape: defaultsShape });

export const loadDefaults = async (reads: Reads, mount: MountScope): Promise<Defaults> =>
  (await defaultsRecord(mount).find(reads)) ?? NO_DEFAULTS;

export const writeDefaults = (tx: Transaction, mount: MountScope, defaults: Defaults): void =>
  defaultsRecord(mount).write(tx, defaults);

/** When an issuer or the default last changed, for clients that ask whether their copy is current. */
export const issuerChangeShape = Type.Object({ atMs: Type.Number() });

const changeRecord = sharedSetting('issuer-change', { version: 1, shape: issuerChangeShape });

/** Every transaction that changes the content of fetched issuers calls this. */
export const recordIssuerChange = (tx: Transaction, mount: MountScope, clock: Clock): void =>
  changeRecord(mount).write(tx, { atMs: clock.nowMs() });

const loadSettings = async (reads: Reads, mount: MountScope): Promise<MountSettings> => {
  const defaults = await whenUsed(loadDefaults(reads, mount));
  const urls = await whenUsed(loadUrls(reads, mount));
  const crl = await whenUsed(loadCrlConfig(reads, mount));
  const cluster = await whenUsed(loadClusterAddress(reads, mount));
  const change = await whenUsed(changeRecord(mount).find(reads));
  return {
    get defaultIssuerId() {
      return defaults().issuerId;
    },
    get defaultFollowsLatestIssuer() {
      return defaults().followsLatestIssuer;
    },
    get urls() {
      return urls();
    },
    get crl() {
      return crl();
    },
    get cluster() {
      return cluster();
    },
    get issuersChangedAtMs() {
      return change()?.atMs;
    },
  };
};

/** The authority as these reads see it. */
export const loadAuthority = async (reads: Reads, mount: MountScope): Promise<Authority> => {
  const { entries, damaged } = await issuerRecords(mount).readableEntries(reads);
  return new Authority({
    issuers: entries.map(([, issuer]) => issuer),
    damagedIssuers: new DamagedReferences(issuerRecords(mount), damaged),
    keys: await loadKeyRing(reads, mount),
    settings: await loadSettings(reads, mount),
  });
};

/**
 * Id of an issuer of the mount that has this key; undefined if none has it.
 * @throws KeelsonError `barrier.damaged_value` where a damaged issuer may have it
 */
export const issuerWithKey = async (
  reads: Reads,
  mount: MountScope,
  keyId: string,
): Promise<string | undefined> =>
  (await issuerRecords(mount).entries(reads)).find(([, issuer]) => issuer.keyId === keyId)?.[0];

/** Authorities of all mounts, each rebuilt only when its records changed. */
export interface Authorities {
  of(mount: MountScope): Promise<Authority>;
  /** Forgets everything, private keys included. */
  clear(): void;
}

export const createAuthorities = (store: Store): Authorities => {
  const views = new Map<string, () => Promise<Authority>>();
  return {
    of: (mount) => {
      const key = sharedPrefix(mount);
      let view = views.get(key);
      if (view === undefined) {
        const prefixes = [
          issuerRecords(mount).prefix,
          keyRecords(mount).prefix,
          sharedSettingsPrefix(mount),
          localSettingsPrefix(mount),
        ];
        view = deriveView(store, prefixes, (reads) => loadAuthority(reads, mount));
        views.set(key, view);
      }
      return view();
    },
    clear: () => views.clear(),
  };
};
