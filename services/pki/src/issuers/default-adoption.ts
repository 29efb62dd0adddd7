import type { Transaction } from '@keelson/storage';
import type { MountScope } from '../mounts/mount-records.ts';
import { type Arrivals, nextDefaults } from './domain/defaults.ts';
import { defaultsRecords, loadDefaults, SETTING } from './issuer-records.ts';

const NOTHING: Arrivals = { issuerIds: [], completedIssuerIds: [], keyIds: [] };

/** Makes what arrived the default where that is due; returns warnings. */
export const adoptAsDefault = async (
  tx: Transaction,
  mount: MountScope,
  arrivals: Partial<Arrivals>,
): Promise<readonly string[]> => {
  const before = await loadDefaults(tx, mount);
  const { defaults, warnings } = nextDefaults(before, { ...NOTHING, ...arrivals });
  if (defaults.issuerId !== before.issuerId || defaults.keyId !== before.keyId)
    defaultsRecords(mount).write(tx, SETTING.defaults, defaults);
  return warnings;
};
