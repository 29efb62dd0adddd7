import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import {
  loadClusterAddress,
  loadUrls,
  NO_ADDRESS,
  writeClusterAddress,
  writeUrls,
} from './authority-url-records.ts';
import {
  type AuthorityUrls,
  type ClusterAddress,
  checkUrls,
  isUrlWithHost,
  NO_URLS,
  templateObstacle,
} from './domain/authority-urls.ts';

/** Changes the URLs of a mount. The warnings say why certificates could not be issued with them. */
export const updateUrls = (
  store: Store,
  mount: MountScope,
  change: (before: AuthorityUrls) => AuthorityUrls,
): Promise<{ readonly urls: AuthorityUrls; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const { before, warnings } = await settingsBefore(loadUrls(tx, mount), NO_URLS);
    const urls = change(before);
    checkUrls(urls);
    writeUrls(tx, mount, urls);
    const obstacle = templateObstacle(urls, await loadClusterAddress(tx, mount));
    return {
      urls,
      warnings:
        obstacle === undefined
          ? warnings
          : [...warnings, `issuance may fail until this is corrected: ${obstacle}`],
    };
  });

/** Changes this cluster's addresses. */
export const updateClusterAddress = (
  store: Store,
  mount: MountScope,
  change: (before: ClusterAddress) => ClusterAddress,
): Promise<{ readonly address: ClusterAddress; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const { before, warnings } = await settingsBefore(loadClusterAddress(tx, mount), NO_ADDRESS);
    const address = change(before);
    for (const url of [address.path, address.aiaPath])
      if (url !== '' && !isUrlWithHost(url))
        throw new KeelsonError('request.invalid', {
          text: `invalid, non-URL path given to cluster: ${url}`,
        });
    writeClusterAddress(tx, mount, address);
    return { address, warnings };
  });
