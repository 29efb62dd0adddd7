/** Recognizes a browser and its system in what it states of itself; the first that matches is it. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

const firstOf = (
  names: readonly (readonly [mark: string, name: string])[],
  text: string,
): string | undefined => names.find(([mark]) => text.includes(mark))?.[1];

/** "Firefox on Linux" for a browser, and the first word of what another program states. */
export const programOf = (userAgent: string | null): string => {
  if (userAgent === null) return 'an unnamed program';
  const [browser, system] = [firstOf(BROWSERS, userAgent), firstOf(SYSTEMS, userAgent)];
  if (browser === undefined) return userAgent.split(' ', 1)[0] ?? userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
};
