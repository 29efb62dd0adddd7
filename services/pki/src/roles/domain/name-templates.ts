/**
 * Templates in the names that a role allows: with `{{identity.entity.name}}.example.com`, each caller has a name of
 * its own. A value fills in one part of a name and nothing more, because it may have been set by somebody who must not
 * choose names: the caller, or a provider that knows the caller.
 */
import { KeelsonError } from '@keelson/errors';

/** The part of a role that may have templates. */
interface AllowedNames {
  readonly allowedDomains: readonly string[];
  readonly allowedDomainsTemplate: boolean;
  readonly allowedUriSans: readonly string[];
  readonly allowedUriSansTemplate: boolean;
}

/** By parameter, such as `identity.entity.name`. */
export type TemplateValues = Readonly<Record<string, string>>;

const TEMPLATE = /\{\{([^{}]*)\}\}/g;
const PARAMETER = /^identity\.(?:entity|groups)\.\S/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** The text before a template that is in the authority of a URI. */
const BEFORE_AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*$/i;

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i;
const LOCAL_PART = /^[a-z0-9_.+-]+$/i;
const URI_PART = /^[a-z0-9_.~@+-]+$/i;

/** The text around a template, which decides what may fill it. */
interface Place {
  readonly isWhole: boolean;
  readonly before: string;
  readonly after: string;
}

/** A host name, or an address of e-mail. */
const isName = (value: string): boolean => {
  const locals = value.split('@');
  const host = locals.pop() ?? '';
  return (
    locals.length <= 1 &&
    locals.every((local) => LOCAL_PART.test(local)) &&
    host.split('.').every((label) => LABEL.test(label))
  );
};

const fitsDomain = (value: string, { isWhole, after }: Place): boolean => {
  if (isWhole) return isName(value);
  return after.includes('@') ? LOCAL_PART.test(value) : LABEL.test(value);
};

const fitsUri = (value: string, { before }: Place): boolean =>
  BEFORE_AUTHORITY.test(before)
    ? LABEL.test(value)
    : URI_PART.test(value) && value !== '.' && value !== '..';

/** Undefined if a template has no value, or one that does not fit. */
const fill = (
  entry: string,
  values: TemplateValues,
  fits: (value: string, place: Place) => boolean,
): string | undefined => {
  let isFilled = true;
  const filled = entry.replaceAll(TEMPLATE, (whole, name: string, at: number) => {
    const parameter = name.trim();
    const value = Object.hasOwn(values, parameter) ? values[parameter] : undefined;
    const place = {
      isWhole: whole === entry,
      before: entry.slice(0, at).replaceAll(TEMPLATE, ''),
      after: entry.slice(at + whole.length).replaceAll(TEMPLATE, ''),
    };
    if (value === undefined || !fits(value, place)) isFilled = false;
    return value ?? '';
  });
  return isFilled ? filled : undefined;
};

const isTemplated = (entry: string): boolean => entry.includes('{{');

/** Entries that are names or globs as they stand: templates that nobody has filled in allow nothing. */
export const withoutTemplates = (
  entries: readonly string[],
  hasTemplates: boolean,
): readonly string[] => (hasTemplates ? entries.filter((one) => !isTemplated(one)) : entries);

const templatedEntries = (role: AllowedNames): readonly string[] => [
  ...(role.allowedDomainsTemplate ? role.allowedDomains : []),
  ...(role.allowedUriSansTemplate ? role.allowedUriSans : []),
];

/** The parameters in the names that a role allows, without duplicates. */
export const templateParametersOf = (role: AllowedNames): readonly string[] => [
  ...new Set(
    templatedEntries(role).flatMap((entry) =>
      [...entry.matchAll(TEMPLATE)].map(([, name = '']) => name.trim()),
    ),
  ),
];

const fillAll = (
  entries: readonly string[],
  values: TemplateValues,
  fits: (value: string, place: Place) => boolean,
): string[] => entries.flatMap((entry) => fill(entry, values, fits) ?? []);

/** The role with the names of one caller; those whose templates have no value are left out. */
export const fillTemplates = <T extends AllowedNames>(role: T, values: TemplateValues): T => ({
  ...role,
  ...(role.allowedDomainsTemplate && {
    allowedDomains: fillAll(role.allowedDomains, values, fitsDomain),
    allowedDomainsTemplate: false,
  }),
  ...(role.allowedUriSansTemplate && {
    allowedUriSans: fillAll(role.allowedUriSans, values, fitsUri),
    allowedUriSansTemplate: false,
  }),
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const checkEntry = (name: string, entry: string): void => {
  for (const [template, parameter = ''] of entry.matchAll(TEMPLATE))
    if (!PARAMETER.test(parameter.trim()))
      refuse(
        `${name}: "${template}" is not a parameter of an identity, such as {{identity.entity.name}}`,
      );
  if (/\{\{|\}\}/.test(entry.replaceAll(TEMPLATE, '')))
    refuse(`${name}: "${entry}" has braces that are not of a template`);
};

/**
 * Refuses templates that could never be filled in, and those that would leave the scheme of a URI open.
 * @throws KeelsonError `request.invalid`
 */
export const checkTemplates = (role: AllowedNames): void => {
  if (role.allowedDomainsTemplate)
    for (const entry of role.allowedDomains) checkEntry('allowed_domains', entry);
  if (!role.allowedUriSansTemplate) return;
  for (const entry of role.allowedUriSans) {
    checkEntry('allowed_uri_sans', entry);
    if (isTemplated(entry) && !SCHEME.test(entry))
      refuse(`allowed_uri_sans: "${entry}" must begin with a scheme, such as "spiffe:"`);
  }
};
