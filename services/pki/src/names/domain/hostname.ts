/** Host names as certificates hold them: ASCII, IDNA-converted, of bounded length. */
import { domainToASCII } from 'node:url';

const LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
// oxlint-disable-next-line keelson/linear-expressions -- two constants; judged as a whole
const HOSTNAME = new RegExp(`^(?:\\*\\.)?(?:${LABEL}\\.)*${LABEL}\\.?$`);
const RELAXED_LABEL = '(?:\\w|\\w[\\w-]*\\w)';
// oxlint-disable-next-line keelson/linear-expressions -- two constants; judged as a whole
const RELAXED_HOSTNAME = new RegExp(`^(?:\\*\\.)?(?:${RELAXED_LABEL}\\.)*${RELAXED_LABEL}\\.?$`);
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
const BEYOND_ASCII = /[^ -~]/;
const WILDCARD_LABEL = /^(?:[a-zA-Z0-9][a-zA-Z0-9-]*)?\*(?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const MAX_HOSTNAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** ASCII form of a host name, undefined when it has none. A leading wildcard label is kept. */
export const toAsciiHostname = (name: string): string | undefined => {
  // The conversion drops some control characters: another name would come out.
  if (name.length > 4 * MAX_HOSTNAME_LENGTH || CONTROL.test(name)) return undefined;
  if (!BEYOND_ASCII.test(name)) return name;
  const wildcard = name.startsWith('*.') ? '*.' : '';
  const converted = domainToASCII(name.slice(wildcard.length));
  return converted === '' ? undefined : wildcard + converted;
};

const isNameOf = (form: RegExp, name: string): boolean => {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  return (
    bare.length <= MAX_HOSTNAME_LENGTH &&
    form.test(name) &&
    bare.split('.').every((label) => label.length <= MAX_LABEL_LENGTH)
  );
};

/** True for ASCII text that is a host name, with or without a leading wildcard label. */
export const isHostname = (name: string): boolean => isNameOf(HOSTNAME, name);

/** The same with underscores, which DNS has and host names do not (RFC 2181 §11). */
export const isRelaxedHostname = (name: string): boolean => isNameOf(RELAXED_HOSTNAME, name);

/** `*`, `*x`, `x*` or `x*y`. */
export const isWildcardLabel = (label: string): boolean =>
  label.length <= MAX_LABEL_LENGTH && WILDCARD_LABEL.test(label);
