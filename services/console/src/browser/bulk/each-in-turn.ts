/** One change for each of many things, one after the other. */
import { ApiProblem, messageOf } from '../api/api-problem.ts';
import { isSameSession, readSession } from '../api/session.ts';

export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly text: string }
  /** It was not attempted, because the person stopped or the session had ended. */
  | { readonly kind: 'unsent' };

/** Status of the rate limits of both APIs. */
const BUSY_STATUS = 429;
/** The rate limits of both APIs reset within a second. */
const BUSY_MS = 1_000;

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const isBusy = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === BUSY_STATUS;

/** Attempts one change, and again while the server has too many requests of this token. */
const attempt = async (change: () => Promise<unknown>, signal: AbortSignal): Promise<Outcome> => {
  while (!signal.aborted) {
    try {
      await change();
      return { kind: 'done' };
    } catch (error) {
      if (!isBusy(error)) return { kind: 'failed', text: messageOf(error) };
      await wait(BUSY_MS, signal);
    }
  }
  return { kind: 'unsent' };
};

/**
 * Changes one thing after the other. One that fails does not stop the others; the end of the session does, since the
 * others would fail for the same reason or be sent for another person.
 * @param signal aborted to stop after the change that is under way
 * @param onOutcome called as soon as the outcome of one is known
 */
export const eachInTurn = async <Thing>(
  things: readonly Thing[],
  change: (thing: Thing) => Promise<unknown>,
  signal: AbortSignal,
  onOutcome: (thing: Thing, outcome: Outcome) => void,
): Promise<void> => {
  const session = readSession();
  for (const thing of things)
    onOutcome(
      thing,
      isSameSession(readSession(), session)
        ? await attempt(() => change(thing), signal)
        : { kind: 'unsent' },
    );
};
