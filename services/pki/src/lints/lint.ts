/** Checks that run on every certificate before it is signed; one rule per file, with its source. */
import type { BasicConstraints, CertificateFields, GeneralName } from '@keelson/x509';

export interface LintSubject {
  readonly fields: CertificateFields;
  /** undefined when the certificate has none. */
  readonly constraints: BasicConstraints | undefined;
  /** Alternative names; undefined when the certificate has no such extension. */
  readonly alternatives: readonly GeneralName[] | undefined;
  /** Path length of the signing certificate; undefined if it has no limit, or signs itself. */
  readonly issuerPathLength: number | undefined;
}

export interface Lint {
  /** Document and section that demand it. */
  readonly citation: string;
  /** The finding; undefined when there is none. */
  check(subject: LintSubject): string | undefined;
}
