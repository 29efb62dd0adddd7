import { ATTRIBUTE, attributeValues, parseName } from '@keelson/x509';
import type { Lint } from './lint.ts';

/** Upper bounds in characters (RFC 5280 Appendix A.1). */
const UPPER_BOUNDS: readonly (readonly [type: string, name: string, bound: number])[] = [
  [ATTRIBUTE.commonName, 'common name', 64],
  [ATTRIBUTE.organization, 'organization', 64],
  [ATTRIBUTE.organizationalUnit, 'organizational unit', 64],
  [ATTRIBUTE.locality, 'locality', 128],
  [ATTRIBUTE.province, 'province', 128],
  [ATTRIBUTE.serialNumber, 'serial number', 64],
  [ATTRIBUTE.emailAddress, 'e-mail address', 255],
];

export const subjectLengthsLint: Lint = {
  citation: 'RFC 5280 Appendix A.1',
  check: ({ fields: { subject } }) => {
    const name = parseName(subject);
    for (const [type, what, bound] of UPPER_BOUNDS)
      if (attributeValues(name, type).some((value) => Array.from(value).length > bound))
        return `the ${what} of the subject is longer than ${bound} characters`;
    return attributeValues(name, ATTRIBUTE.country).some((value) => !/^[A-Za-z]{2}$/.test(value))
      ? 'the country of the subject is not a code of two letters'
      : undefined;
  },
};
