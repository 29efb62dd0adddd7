import { acmeInput } from './acme-input/acme-input.ts';
import type { Chaos } from './chaos.ts';
import { kills } from './faults/kills.ts';
import { outages } from './faults/outages.ts';
import { partition } from './faults/partition.ts';
import { pkiInput } from './pki-input/pki-input.ts';

export const TRIALS: readonly Chaos[] = [pkiInput, acmeInput, kills, outages, partition];
