/**
 * Versions of the provisioning tool: an exact one, `latest`, or a constraint such as `~> 1.5.0, != 1.5.3`
 * that selects the newest release satisfying it.
 */
type Version = readonly [major: number, minor: number, patch: number, prerelease: string];

const VERSION = /^v?(\d{1,5})(?:\.(\d{1,5}))?(?:\.(\d{1,5}))?(?:-([0-9A-Za-z.-]{1,40}))?$/;

const parseVersion = (text: string): { version: Version; parts: number } | undefined => {
  const found = VERSION.exec(text);
  if (found === null) return undefined;
  const [, major, minor, patch, prerelease = ''] = found;
  return {
    version: [Number(major), Number(minor ?? 0), Number(patch ?? 0), prerelease],
    parts: patch === undefined ? (minor === undefined ? 1 : 2) : 3,
  };
};

const compareVersions = (a: Version, b: Version): number =>
  a[0] - b[0] ||
  a[1] - b[1] ||
  a[2] - b[2] ||
  // A pre-release is older than its release.
  Number(b[3] !== '') * 2 - Number(a[3] !== '') * 2 ||
  (a[3] < b[3] ? -1 : Number(a[3] > b[3]));

type Condition = (version: Version) => boolean;

const parseCondition = (text: string): Condition | undefined => {
  const [, operator = '=', rest = ''] = /^(=|!=|>=|<=|>|<|~>)?\s*(\S+)$/.exec(text.trim()) ?? [];
  const parsed = parseVersion(rest);
  if (parsed === undefined) return undefined;
  const { version: bound, parts } = parsed;
  const order = (version: Version) => compareVersions(version, bound);
  switch (operator) {
    case '!=':
      return (version) => order(version) !== 0;
    case '>':
      return (version) => order(version) > 0;
    case '>=':
      return (version) => order(version) >= 0;
    case '<':
      return (version) => order(version) < 0;
    case '<=':
      return (version) => order(version) <= 0;
    case '~>':
      // The last part given may grow, the ones before it stand.
      return (version) =>
        order(version) >= 0 &&
        (parts < 2 || version[0] === bound[0]) &&
        (parts < 3 || version[1] === bound[1]);
    default:
      return (version) => order(version) === 0;
  }
};

/** @param text an exact version, as `least` is */
export const isAtLeast = (text: string, least: string): boolean => {
  const [version, bound] = [parseVersion(text), parseVersion(least)];
  return version !== undefined && bound !== undefined
    ? compareVersions(version.version, bound.version) >= 0
    : false;
};

export const isExactVersion = (text: string): boolean => parseVersion(text)?.parts === 3;

/** Releases, newest first. */
export const sortReleases = (releases: readonly string[]): readonly string[] =>
  [...releases].filter(isExactVersion).sort((a, b) => {
    const [left, right] = [parseVersion(a), parseVersion(b)];
    return left && right ? compareVersions(right.version, left.version) : 0;
  });

/**
 * The release that a workspace's version stands for; undefined when there is none.
 * An exact version need not be among the releases.
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
