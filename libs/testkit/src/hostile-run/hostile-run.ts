/** A hostile run, in namespaces of its own, so that it harms neither the machine nor its other work. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnEndingWithUs } from '../ending-child.ts';
import { type Form, MACHINE, OPEN } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';

export { ABSENT, type Attempt, FORMS, type Form, MACHINE, OPEN } from './attempt.ts';
export { ATTEMPTS } from './attempts.ts';
export { NAMED_FOR_CONTAINER } from './container.ts';
export { FORMS_OF_TEST, hostilePage } from './hostile-page.ts';

const STAGE = fileURLToPath(new URL('stage-process.ts', import.meta.url));

export interface AttemptOutcome {
  readonly attempt: string;
  /** How its code was started: by a stand-in for the tool, or by the real one. */
  readonly way: 'stand-in' | 'module' | 'provider';
  readonly isReached: boolean;
  /** The end of what the program has printed. */
  readonly said: string;
  /** Status of its run. */
  readonly status: string;
  /** Why it could not be looked at from outside, which counts as reached. */
  readonly fault?: string;
}

export interface HostileRunOutcome {
  readonly attempts: readonly AttemptOutcome[];
  /** Runs of other organizations that were executed meanwhile. */
  readonly politeRuns: number;
  /** Promises about the runs of others that were broken. */
  readonly broken: readonly string[];
}

/** Tries everything in an installation of this form. @param given further arguments of the stage */
export const tryHostileRun = async (
  form: Form,
  given: readonly string[] = [],
  onOutcome: (outcome: AttemptOutcome) => void = () => undefined,
): Promise<HostileRunOutcome> => {
  const child = await spawnEndingWithUs(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      '--net',
      '--ipc',
      '--uts',
      process.execPath,
      STAGE,
      form,
      ...given,
    ],
    // The stage has a /tmp of its own, without the folder of the suite's temporary files.
    { env: { ...process.env, TMPDIR: '/tmp' } },
  );
  const attempts: AttemptOutcome[] = [];
  const broken: string[] = [];
  const faults: string[] = [];
  let politeRuns = 0;
  let isOver = false;
  const hear = (line: string): void => {
    const document = JSON.parse(line) as Partial<AttemptOutcome> & {
      readonly broken?: string;
      readonly over?: number;
      readonly polite?: string;
    };
    if (document.broken !== undefined) broken.push(document.broken);
    if (document.polite !== undefined) politeRuns += 1;
    if (document.over !== undefined) isOver = true;
    if (document.attempt === undefined) return;
    attempts.push(document as AttemptOutcome);
    onOutcome(document as AttemptOutcome);
  };
  createInterface({ input: child.stdout }).on('line', hear);
  createInterface({ input: child.stderr }).on('line', (line) => faults.push(line));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || !isOver)
    throw new Error(`the stage ended with ${code}:\n${faults.slice(-40).join('\n')}`);
  return { attempts, politeRuns, broken };
};

const wallOf = new Map(ATTEMPTS.map(({ name, walls }) => [name, walls]));

/** The attempts that are held although the page lists them as open, or the other way round. */
export const wronglyHeld = (
  form: Form,
  attempts: readonly AttemptOutcome[],
): { readonly wrong: readonly AttemptOutcome[]; readonly count: number } => {
  const compared = attempts.filter(({ attempt }) => wallOf.get(attempt)?.[form] !== MACHINE);
  const wrong = compared.filter(
    ({ attempt, isReached }) => isReached !== (wallOf.get(attempt)?.[form] === OPEN),
  );
  return { wrong, count: compared.length };
};
