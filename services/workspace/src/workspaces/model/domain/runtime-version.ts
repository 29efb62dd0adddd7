/**
 * Versions of the provisioning tool: an exact one, `latest`, or a constraint such as `~> 1.5.0, != 1.5.3`
 * that selects the newest release satisfying it.
 */
import semver, { type SemVer } from 'semver';

const VERSION = /^v?(\d{1,5}(?:\.\d{1,5}){0,2})(-[0-9A-Za-z.-]{1,40})?$/;

/** A version, with 0 for the parts that are absent, and the number of parts that are present. */
const parseVersion = (text: string): { version: SemVer; parts: number } | undefined => {
  const [, numbers = '', prerelease = ''] = VERSION.exec(text) ?? [];
  const parts = numbers.split('.');
  const version = semver.parse(`${[...parts, '0', '0'].slice(0, 3).join('.')}${prerelease}`);
  return version === null ? undefined : { version, parts: parts.length };
};

type Condition = (version: SemVer) => boolean;

/** One condition of a constraint. The `~>` of the provisioning tool is not an operator of semver. */
const parseCondition = (text: string): Condition | undefined => {
  const [, operator = '=', rest = ''] = /^(=|!=|>=|<=|>|<|~>)?\s*(\S+)$/.exec(text.trim()) ?? [];
  const parsed = parseVersion(rest);
  if (parsed === undefined) return undefined;
  const { version: bound, parts } = parsed;
  if (operator !== '~>')
    return (version) => semver.cmp(version, operator as Parameters<typeof semver.cmp>[1], bound);
  // `~>` lets only the last given part increase.
  return (version) =>
    semver.gte(version, bound) &&
    (parts < 2 || version.major === bound.major) &&
    (parts < 3 || version.minor === bound.minor);
};

/** @param text an exact version, like `least` */
export const isAtLeast = (text: string, least: string): boolean => {
  const [version, bound] = [parseVersion(text), parseVersion(least)];
  return version !== undefined && bound !== undefined && semver.gte(version.version, bound.version);
};

export const isExactVersion = (text: string): boolean => parseVersion(text)?.parts === 3;

/** Releases, newest first. */
export const sortReleases = (releases: readonly string[]): readonly string[] =>
  semver.rsort(releases.filter(isExactVersion));

/**
 * The release that a workspace's version setting resolves to; undefined when there is none. An exact version
 * need not be a known release.
 */
export const resolveRuntimeVersion = (
  text: string,
  releasesNewestFirst: readonly string[],
): string | undefined => {
  if (text === 'latest') return releasesNewestFirst[0];
  if (isExactVersion(text)) return text;
  const conditions = text.split(',').map(parseCondition);
  if (conditions.includes(undefined)) return undefined;
  return releasesNewestFirst.find((release) => {
    const parsed = parseVersion(release);
    return parsed !== undefined && conditions.every((condition) => condition?.(parsed.version));
  });
};
