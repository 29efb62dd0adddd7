import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import type { CertificateTables } from '../certificates/certificate-projections.ts';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import {
  type AutoTidySettings,
  autoTidyWarnings,
  checkAutoTidy,
  DEFAULT_AUTO_TIDY,
} from './domain/tidy-settings.ts';
import { AUTO_TIDY, autoTidyRecords, type TidyStatus } from './tidy-records.ts';

export const findAutoTidy = async (store: Store, mount: MountScope): Promise<AutoTidySettings> =>
  (await autoTidyRecords(mount).find(store, AUTO_TIDY)) ?? DEFAULT_AUTO_TIDY;

export const updateAutoTidy = (
  store: Store,
  mount: MountScope,
  change: (before: AutoTidySettings) => AutoTidySettings,
): Promise<{ readonly settings: AutoTidySettings; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const { before, warnings } = await settingsBefore(
      autoTidyRecords(mount).find(tx, AUTO_TIDY),
      DEFAULT_AUTO_TIDY,
    );
    const changed = checkAutoTidy(change(before ?? DEFAULT_AUTO_TIDY));
    autoTidyRecords(mount).write(tx, AUTO_TIDY, changed);
    return { settings: changed, warnings: [...warnings, ...autoTidyWarnings(changed)] };
  });

/** Whether an automatic run is to begin now; `backoff` is a share of the range, from 0 to 1. */
export const isTidyDue = (
  settings: AutoTidySettings,
  status: TidyStatus | undefined,
  times: { readonly nowMs: number; readonly serviceStartedAtMs: number; readonly backoff: number },
): boolean => {
  if (!settings.enabled) return false;
  const { minStartupBackoffSeconds: min, maxStartupBackoffSeconds: max } = settings;
  const fromMs = times.serviceStartedAtMs + 1000 * (min + (max - min) * times.backoff);
  const lastMs = status?.finishedAtMs ?? status?.startedAtMs;
  const dueAtMs = lastMs === undefined ? fromMs : lastMs + settings.intervalSeconds * 1000;
  return times.nowMs >= Math.max(fromMs, dueAtMs);
};

/** How many certificates and revocations the mount has. */
export const countStored = async (store: Store, { uuid }: MountScope) => {
  const count = async (table: keyof CertificateTables): Promise<number> => {
    const [row] = await store.select<CertificateTables, { count: number }>((tables) =>
      tables
        .selectFrom(table)
        .select((build) => build.fn.countAll<number>().as('count'))
        .where('mount_uuid', '=', uuid),
    );
    return Number(row?.count ?? 0);
  };
  return {
    certificates: await count('pki_certificate'),
    revocations: await count('pki_revocation'),
  };
};
