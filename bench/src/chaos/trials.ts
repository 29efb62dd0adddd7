import { acmeInput } from './acme-input/acme-input.ts';
import type { Chaos } from './chaos.ts';
import { pkiInput } from './pki-input/pki-input.ts';

export const TRIALS: readonly Chaos[] = [pkiInput, acmeInput];
