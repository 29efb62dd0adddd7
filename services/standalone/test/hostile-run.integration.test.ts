/**
 * A run that tries everything, in an installation of each form that a machine can start (docs/hostile-run.md). It is
 * made in namespaces of its own, by the real runner of a real process; the attempts are in
 * `libs/testkit/src/hostile-run`, and each is judged from outside where that is possible.
 */
import { FORMS_OF_TEST, tryHostileRun, wronglyHeld } from '@keelson/testkit/hostile-run';
import { test } from 'vitest';

const SLOW_MS = 1_800_000;
// Each form waits most of its time, for runs that are killed or must not end.
test.concurrent.for(FORMS_OF_TEST)(
  'a hostile run reaches what is listed as open in the form %s, and nothing else',
  {
    timeout: SLOW_MS,
  },
  async (form, { expect }) => {
    const { attempts, broken } = await tryHostileRun(form);
    const { wrong, count } = wronglyHeld(form, attempts);
    expect(broken).toEqual([]);
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(180);
  },
);

// Its sandbox and its executor are those of the built-in runner: one plan shows that it uses them.
test.concurrent.for(['root', 'user'] as const)(
  'a hostile run of an agent started by %s reaches nothing',
  { timeout: SLOW_MS },
  async (form, { expect }) => {
    const { attempts, broken } = await tryHostileRun(form, ['--agent']);
    const { wrong, count } = wronglyHeld(form, attempts);
    expect(broken).toEqual([]);
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(100);
  },
);
