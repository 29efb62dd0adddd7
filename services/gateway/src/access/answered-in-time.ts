/** Questions to services for which nobody waits long: those of probes, and those before a handshake of TLS. */
import { type Clock, pause } from '@keelson/clock';

/**
 * Time limit for each service. Probes give up after one to five seconds, and learn nothing then; a database
 * that hangs is noticed only after ten.
 */
export const ANSWER_WITHIN_MS = 1500;

/** @returns `late` if the work takes longer than a probe waits */
export const answeredInTime = async <T>(clock: Clock, work: Promise<T>, late: T): Promise<T> => {
  const end = new AbortController();
  const limit = pause(clock, ANSWER_WITHIN_MS, end.signal).then(() => late);
  try {
    return await Promise.race([work, limit]);
  } finally {
    end.abort();
  }
};
