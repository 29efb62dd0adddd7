import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { clusterRecords, loadSettings, SETTING, urlsRecords } from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import {
  type AuthorityUrls,
  type ClusterAddress,
  checkUrls,
  isUrlWithHost,
  templateObstacle,
} from './domain/authority-urls.ts';

/** Changes the URLs of a mount; warns of what stands in the way of certificates under them. */
export const updateUrls = (
  store: Store,
  mount: MountScope,
  change: (before: AuthorityUrls) => AuthorityUrls,
): Promise<{ readonly urls: AuthorityUrls; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const settings = await loadSettings(tx, mount);
    const urls = change(settings.urls);
    checkUrls(urls);
    urlsRecords(mount).write(tx, SETTING.urls, urls);
    const obstacle = templateObstacle(urls, settings.cluster);
    return {
      urls,
      warnings:
        obstacle === undefined ? [] : [`issuance may fail until this is put right: ${obstacle}`],
    };
  });

/** Changes this cluster's addresses. */
export const updateClusterAddress = (
  store: Store,
  mount: MountScope,
  change: (before: ClusterAddress) => ClusterAddress,
): Promise<ClusterAddress> =>
  store.transact(async (tx) => {
    const address = change((await loadSettings(tx, mount)).cluster);
    for (const url of [address.path, address.aiaPath])
      if (url !== '' && !isUrlWithHost(url))
        throw new KeelsonError('request.invalid', {
          text: `invalid, non-URL path given to cluster: ${url}`,
        });
    clusterRecords(mount).write(tx, SETTING.cluster, address);
    return address;
  });
