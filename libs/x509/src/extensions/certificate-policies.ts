/** Certificate policies with their two standard qualifiers (RFC 5280 §4.2.1.4). */
import { ia5String, sequence, utf8String } from '../der/der-types.ts';
import type { Der } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { EXTENSION, type Extension, extension } from './extension.ts';

const CPS_QUALIFIER = '1.3.6.1.5.5.7.2.1';
const USER_NOTICE_QUALIFIER = '1.3.6.1.5.5.7.2.2';

export interface CertificatePolicy {
  readonly oid: string;
  /** URL of the certification practice statement. */
  readonly cps?: string | undefined;
  /** Text shown to a relying party. */
  readonly notice?: string | undefined;
}

const qualifiers = ({ cps, notice }: CertificatePolicy): readonly Der[] => [
  ...(cps ? [sequence(objectIdentifier(CPS_QUALIFIER), ia5String(cps))] : []),
  ...(notice
    ? [sequence(objectIdentifier(USER_NOTICE_QUALIFIER), sequence(utf8String(notice)))]
    : []),
];

/** RFC 5280 §4.2.1.4, with the qualifiers of policies that have any. */
export const certificatePolicies = (policies: readonly CertificatePolicy[]): Extension =>
  extension(
    EXTENSION.certificatePolicies,
    sequence(
      ...policies.map((policy) => {
        const found = qualifiers(policy);
        return sequence(
          objectIdentifier(policy.oid),
          ...(found.length > 0 ? [sequence(...found)] : []),
        );
      }),
    ),
  );
