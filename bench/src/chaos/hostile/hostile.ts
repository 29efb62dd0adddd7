/** A hostile run again and again, while three other organizations have runs. */
import { ATTEMPTS, MACHINE, OPEN, tryHostileRun } from '@keelson/testkit/hostile-run';
import type { Chaos } from '../chaos.ts';

/** With that of the attacker there are four organizations. */
const POLITE_ORGANIZATIONS = 3;
const FORM = 'root';

const wallOf = new Map(ATTEMPTS.map(({ name, walls }) => [name, walls[FORM]]));

export const hostile: Chaos = {
  name: 'hostile',
  promise:
    'a run that tries everything reaches nothing that its form holds, and the runs of others are executed meanwhile',
  unit: 'cases',
  counts: { full: 3, short: 1 },
  isApart: true,
  run: async ({ count, say }) => {
    const given = ['--rounds', String(count), '--polite', String(POLITE_ORGANIZATIONS)];
    const { attempts, politeRuns, broken } = await tryHostileRun(FORM, given, (outcome) =>
      say(`${outcome.isReached ? 'reached' : 'held'}: ${outcome.attempt}`),
    );
    const open = attempts.filter(({ isReached }) => isReached);
    const reached = open
      .filter(({ attempt }) => ![OPEN, MACHINE].includes(wallOf.get(attempt) ?? ''))
      .map(({ attempt, said }) => `reached: ${attempt}: ${said}`);
    return {
      broken: [...broken, ...reached],
      figures: {
        attempts: attempts.length,
        'not held, as documented': open.length - reached.length,
        'runs of other organizations': politeRuns,
      },
    };
  },
};
