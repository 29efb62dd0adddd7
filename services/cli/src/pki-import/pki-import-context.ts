/** The context of an import of certificates. */
import type { Attempts } from '../importing/attempts.ts';
import type { SecretsApi } from './secrets-api.ts';

export interface PkiImportContext extends Attempts {
  readonly source: SecretsApi;
  readonly target: SecretsApi;
  /** Mount at the source. */
  readonly from: string;
  /** Mount here, created if it does not exist. */
  readonly to: string;
  /** Private keys of issuers in PEM; empty if none were given. */
  readonly keys: string;
  /** A dry run: reads both servers and writes to neither. */
  readonly isDryRun: boolean;
  readonly isMountThere: boolean;
}
