import type { Clock } from '@keelson/clock';
import {
  deriveView,
  jsonRecords,
  type Reads,
  type RecordCollection,
  type Store,
  type Transaction,
} from '@keelson/storage';
import {
  type AuthorityUrls,
  type ClusterAddress,
  NO_URLS,
} from '../authority-urls/domain/authority-urls.ts';
import { type CrlConfig, DEFAULT_CRL_CONFIG } from '../crl/domain/crl-config.ts';
import { localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import { Authority, type Key, type MountSettings } from './domain/authority.ts';
import { type Defaults, NO_DEFAULTS } from './domain/defaults.ts';
import type { Issuer } from './domain/issuer.ts';

export const issuerRecords = (mount: MountScope): RecordCollection<Issuer> =>
  jsonRecords(`${sharedPrefix(mount)}issuers/`);

export const keyRecords = (mount: MountScope): RecordCollection<Key> =>
  jsonRecords(`${sharedPrefix(mount)}keys/`);

const NO_ADDRESS: ClusterAddress = { path: '', aiaPath: '' };

const sharedSettings = (mount: MountScope) => `${sharedPrefix(mount)}config/`;
const localSettings = (mount: MountScope) => `${localPrefix(mount)}config/`;

export const defaultsRecords = (mount: MountScope): RecordCollection<Defaults> =>
  jsonRecords(sharedSettings(mount));
export const urlsRecords = (mount: MountScope): RecordCollection<AuthorityUrls> =>
  jsonRecords(sharedSettings(mount));
export const crlConfigRecords = (mount: MountScope): RecordCollection<CrlConfig> =>
  jsonRecords(sharedSettings(mount));

/** When issuers or the default one changed last: clients ask whether what they fetched still holds. */
export interface IssuerChange {
  readonly atMs: number;
}

export const issuerChangeRecords = (mount: MountScope): RecordCollection<IssuerChange> =>
  jsonRecords(sharedSettings(mount));
export const clusterRecords = (mount: MountScope): RecordCollection<ClusterAddress> =>
  jsonRecords(localSettings(mount));

/** Keys of the settings below their prefixes. */
export const SETTING = {
  defaults: 'defaults',
  urls: 'urls',
  crl: 'crl',
  cluster: 'cluster',
  issuerChange: 'issuer-change',
} as const;

/** To be called by every transaction that changes what fetching of issuers answers. */
export const noteIssuerChange = (tx: Transaction, mount: MountScope, clock: Clock): void =>
  issuerChangeRecords(mount).write(tx, SETTING.issuerChange, { atMs: clock.nowMs() });

export const loadDefaults = async (reads: Reads, mount: MountScope): Promise<Defaults> =>
  (await defaultsRecords(mount).find(reads, SETTING.defaults)) ?? NO_DEFAULTS;

export const loadSettings = async (reads: Reads, mount: MountScope): Promise<MountSettings> => {
  const defaults = await loadDefaults(reads, mount);
  return {
    defaultIssuerId: defaults.issuerId,
    defaultFollowsLatestIssuer: defaults.followsLatestIssuer,
    defaultKeyId: defaults.keyId,
    urls: (await urlsRecords(mount).find(reads, SETTING.urls)) ?? NO_URLS,
    crl: (await crlConfigRecords(mount).find(reads, SETTING.crl)) ?? DEFAULT_CRL_CONFIG,
    cluster: (await clusterRecords(mount).find(reads, SETTING.cluster)) ?? NO_ADDRESS,
    issuersChangedAtMs: (await issuerChangeRecords(mount).find(reads, SETTING.issuerChange))?.atMs,
  };
};

const values = <T>(entries: readonly (readonly [string, T])[]): readonly T[] =>
  entries.map(([, value]) => value);

/** The authority as these reads see it. */
export const loadAuthority = async (reads: Reads, mount: MountScope): Promise<Authority> =>
  new Authority({
    issuers: values(await issuerRecords(mount).entries(reads)),
    keys: values(await keyRecords(mount).entries(reads)),
    settings: await loadSettings(reads, mount),
  });

/** Authorities of all mounts, each built again only when its records changed. */
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
          sharedSettings(mount),
          localSettings(mount),
        ];
        view = deriveView(store, prefixes, (reads) => loadAuthority(reads, mount));
        views.set(key, view);
      }
      return view();
    },
    clear: () => views.clear(),
  };
};
