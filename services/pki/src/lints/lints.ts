import { KeelsonError } from '@keelson/errors';
import {
  type CertificateFields,
  createCertificate,
  EXTENSION,
  findExtension,
  parseBasicConstraints,
  parseGeneralNames,
  type Signer,
} from '@keelson/x509';
import { alternativeNameFormsLint } from './alternative-name-forms.ts';
import { authorityOnlyExtensionsLint } from './authority-only-extensions.ts';
import { caKeyUsageLint } from './ca-key-usage.ts';
import { criticalExtensionsLint } from './critical-extensions.ts';
import { emptySequencesLint } from './empty-sequences.ts';
import { emptySubjectLint } from './empty-subject.ts';
import { keyIdentifiersLint } from './key-identifiers.ts';
import { leafKeyUsageLint } from './leaf-key-usage.ts';
import type { Lint, LintSubject } from './lint.ts';
import { nonCriticalExtensionsLint } from './non-critical-extensions.ts';
import { pathLengthLint } from './path-length.ts';
import { serialNumberLint } from './serial-number.ts';
import { subjectLengthsLint } from './subject-lengths.ts';
import { uniqueExtensionsLint } from './unique-extensions.ts';
import { validityOrderLint } from './validity-order.ts';

const LINTS: readonly Lint[] = [
  serialNumberLint,
  validityOrderLint,
  uniqueExtensionsLint,
  emptySubjectLint,
  caKeyUsageLint,
  pathLengthLint,
  leafKeyUsageLint,
  keyIdentifiersLint,
  criticalExtensionsLint,
  nonCriticalExtensionsLint,
  authorityOnlyExtensionsLint,
  emptySequencesLint,
  alternativeNameFormsLint,
  subjectLengthsLint,
];

/**
 * Signs a certificate that passes every lint.
 * @param issuerPathLength of the signing certificate; undefined if it has no limit, or signs itself
 * @throws KeelsonError `pki.lint_failed`
 */
export const signLinted = async (
  fields: CertificateFields,
  signer: Signer,
  issuerPathLength: number | undefined,
): Promise<Uint8Array> => {
  const constraints = findExtension(fields.extensions, EXTENSION.basicConstraints);
  const alternatives = findExtension(fields.extensions, EXTENSION.subjectAltName);
  const subject: LintSubject = {
    fields,
    constraints: constraints && parseBasicConstraints(constraints.value),
    alternatives: alternatives && parseGeneralNames(alternatives.value),
    issuerPathLength,
  };
  for (const lint of LINTS) {
    const finding = lint.check(subject);
    if (finding !== undefined)
      throw new KeelsonError('pki.lint_failed', { finding, citation: lint.citation });
  }
  return createCertificate(fields, signer);
};
