import type { JobTemplate } from './job-manifest.ts';

const is = {
  text: (value: unknown): boolean => typeof value === 'string' && value !== '',
  group: (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
  list: (value: unknown): boolean => Array.isArray(value),
  seconds: (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0,
};

/** The kind of each entry, and whether it may be absent. */
const ENTRIES: {
  readonly [name in keyof Required<JobTemplate>]: readonly [keyof typeof is, boolean];
} = {
  namespace: ['text', false],
  image: ['text', false],
  imagePullPolicy: ['text', true],
  imagePullSecrets: ['list', true],
  serviceAccountName: ['text', false],
  labels: ['group', true],
  nodeSelector: ['group', true],
  tolerations: ['list', true],
  resources: ['group', false],
  folderSize: ['text', false],
  deadlineSeconds: ['seconds', false],
};

/**
 * Reads the operator's choices for Jobs, JSON.
 * @param origin names the file in messages
 * @throws Error naming an entry that is missing, wrong or unknown
 */
export const readJobTemplate = (text: string, origin: string): JobTemplate => {
  const refuse = (problem: string): Error => new Error(`${origin}: ${problem}`);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  if (!is.group(given)) throw refuse('it is not a JSON object');
  const entries = given as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(entries))
    if (!Object.hasOwn(ENTRIES, name)) throw refuse(`${name} is not known`);
  for (const [name, [kind, isOptional]] of Object.entries(ENTRIES)) {
    if (entries[name] === undefined && isOptional) continue;
    if (!is[kind](entries[name])) throw refuse(`${name} is missing or wrong (${kind})`);
  }
  return entries as unknown as JobTemplate;
};
