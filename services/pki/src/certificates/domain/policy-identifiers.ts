/** Certificate policies as requests and roles name them. */
import { KeelsonError } from '@keelson/errors';
import { type CertificatePolicy, isObjectIdentifier } from '@keelson/x509';

/**
 * Policies as they are written: plain identifiers, or JSON objects that carry qualifiers.
 * @throws KeelsonError `request.invalid`
 */
export const parsePolicyIdentifiers = (values: readonly string[]): readonly CertificatePolicy[] =>
  values.map((value) => {
    if (isObjectIdentifier(value)) return { oid: value };
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch {
      parsed = undefined;
    }
    const { oid, cps, notice } = (parsed ?? {}) as Record<string, unknown>;
    if (typeof oid !== 'string' || !isObjectIdentifier(oid))
      throw new KeelsonError('request.invalid', {
        text: `policy identifier "${value}" is not an object identifier`,
      });
    return {
      oid,
      cps: typeof cps === 'string' ? cps : undefined,
      notice: typeof notice === 'string' ? notice : undefined,
    };
  });
