import type { GeneralName } from '@keelson/x509';
import type { Lint } from './lint.ts';

const MAX_DNS_NAME_LENGTH = 253;
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:./;

const finding = (name: GeneralName): string | undefined => {
  switch (name.kind) {
    case 'dns':
      if (name.value.trim() === '' || name.value.length > MAX_DNS_NAME_LENGTH)
        return 'a DNS name is empty or too long';
      return name.value.endsWith('.') ? 'a DNS name ends with a dot' : undefined;
    case 'email':
      return /^[^@\s]+@[^@\s]+$/.test(name.value)
        ? undefined
        : 'an e-mail address is not a valid mailbox';
    case 'uri':
      return ABSOLUTE_URI.test(name.value) ? undefined : 'a URI is not absolute';
    case 'ip':
    case 'other':
    case 'registeredId':
    case 'directory':
    case 'raw':
      return undefined;
  }
};

export const alternativeNameFormsLint: Lint = {
  citation: 'RFC 5280 §4.2.1.6',
  check: ({ alternatives }) => {
    for (const name of alternatives ?? []) {
      const found = finding(name);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};
