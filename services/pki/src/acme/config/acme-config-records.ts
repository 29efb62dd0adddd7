import { sharedSetting } from '@keelson/engine';
import { acmeConfigShape } from './domain/acme-config.ts';

/** Replicated to all clusters. */
export const acmeConfigRecord = sharedSetting('acme', { version: 1, shape: acmeConfigShape });
