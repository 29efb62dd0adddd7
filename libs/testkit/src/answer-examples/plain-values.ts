/**
 * Answers of tests as examples for people: lists are short, and what differs from run to run or looks like a
 * secret is replaced by a value of the same form.
 */

/** Longer texts are cut. */
const MAX_CHARACTERS = 160;
const MOMENT_S = 1_767_323_045;
const YEAR_2001_S = 1e9;
const YEAR_2100_S = 4.1e9;

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g,
    '-----BEGIN $1-----\nMIIB…\n-----END $1-----',
  ],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-01-02T03:04:05'],
  [/(?<=:\d\d)\.\d+(?=Z|[+-]\d\d)/g, '.000'],
  [
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    '00000000-0000-4000-8000-000000000001',
  ],
  [/(?:[0-9a-f]{2}[:-]){7,}[0-9a-f]{2}/g, '1a:2b:3c:4d:5e:6f:70:81'],
  [/\b(hv[sbr]|s|b)\.[\w-]{20,}/g, '$1.EXAMPLE'],
  [/\b\w{14}\.atlasv1\.\w+/g, 'EXAMPLE.atlasv1.EXAMPLE'],
  [/\b([a-z]+)-[A-Za-z0-9]{16}\b/g, '$1-EXAMPLEexample01'],
  // The address of a command that logs in is on the computer of its user.
  [
    /https?:\/\/(?:127\.0\.0\.1|localhost|keelson\.test)(?!:\d+\/login\b)(?::\d+)?/g,
    'https://keelson.example.com',
  ],
  [/([?&]code=)[\w-]{43}/g, '$1EXAMPLE'],
  [/eyJ[\w-]{20,}(?:\.[\w-]+)*…?/g, 'EXAMPLE'],
  [/(?<![\w-])[0-9a-f]{32,}(?![\w-])/g, 'EXAMPLE'],
  [/(.)\1{19,}/g, '$1'],
  [/\/tmp\/[\w./-]+/g, '/var/lib/keelson/example'],
  [/^(?!\/)(?=.*\d)[A-Za-z0-9+/_=-]{40,}$/, 'EXAMPLE'],
];

const plainText = (text: string): string => {
  const replaced = REPLACEMENTS.reduce((left, [what, by]) => left.replace(what, by), text);
  return replaced.length > MAX_CHARACTERS ? `${replaced.slice(0, MAX_CHARACTERS)}…` : replaced;
};

const plainNumber = (value: number): number => {
  const seconds = Number.isInteger(value) ? value : Math.trunc(value);
  return seconds > YEAR_2001_S && seconds < YEAR_2100_S ? MOMENT_S : value;
};

/** The first element of each list, and plain values. */
export const plainDocument = (value: unknown): unknown => {
  if (typeof value === 'string') return plainText(value);
  if (typeof value === 'number') return plainNumber(value);
  if (Array.isArray(value)) return value.slice(0, 1).map(plainDocument);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [plainText(name), plainDocument(member)]),
  );
};

/** How much an example shows: the number of its members that have a value, warnings apart. */
export const membersOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + membersOf(one), 0);
  if (typeof value !== 'object' || value === null) return value === null || value === '' ? 0 : 1;
  return Object.entries(value).reduce(
    (sum, [name, member]) => (name === 'warnings' ? sum : sum + membersOf(member)),
    0,
  );
};
