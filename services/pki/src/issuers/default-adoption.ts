import { type MountScope } from '@keelson/engine';
import type { Transaction } from '@keelson/storage';
import { type Arrivals, nextDefaults } from './domain/defaults.ts';
import { loadDefaults, writeDefaults } from './issuer-records.ts';

/** Makes a new issuer the default where the settings say so; returns warnings. */
export const adoptAsDefault = async (
  tx: Transaction,
  mount: MountScope,
  arrivals: Arrivals,
): Promise<readonly string[]> => {
  const before = await loadDefaults(tx, mount);
  const { defaults, warnings } = nextDefaults(before, arrivals);
  if (defaults.issuerId !== before.issuerId) writeDefaults(tx, mount, defaults);
  return warnings;
};
