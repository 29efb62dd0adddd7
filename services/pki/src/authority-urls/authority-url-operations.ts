import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import type { MountScope } from '../mounts/mount-records.ts';
import {
  loadClusterAddress,
  loadUrls,
  writeClusterAddress,
  writeUrls,
} from './authority-url-records.ts';
import {
  type AuthorityUrls,
  type ClusterAddress,
  checkUrls,
  isUrlWithHost,
  templateObstacle,
} from './domain/authority-urls.ts';

/** Changes the URLs of a mount. The warnings say why certificates could not be issued with them. */
export const updateUrls = (
  store: Store,
  mount: MountScope,
  change: (before: AuthorityUrls) => AuthorityUrls,
): Promise<{ readonly urls: AuthorityUrls; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const urls = change(await loadUrls(tx, mount));
    checkUrls(urls);
    writeUrls(tx, mount, urls);
    const obstacle = templateObstacle(urls, await loadClusterAddress(tx, mount));
    return {
      urls,
      warnings:
        obstacle === undefined ? [] : [`issuance may fail until this is corrected: ${obstacle}`],
    };
  });

/** Changes this cluster's addresses. */
export const updateClusterAddress = (
  store: Store,
  mount: MountScope,
  change: (before: ClusterAddress) => ClusterAddress,
): Promise<ClusterAddress> =>
  store.transact(async (tx) => {
    const address = change(await loadClusterAddress(tx, mount));
    for (const url of [address.path, address.aiaPath])
      if (url !== '' && !isUrlWithHost(url))
        throw new KeelsonError('request.invalid', {
          text: `invalid, non-URL path given to cluster: ${url}`,
        });
    writeClusterAddress(tx, mount, address);
    return address;
  });
