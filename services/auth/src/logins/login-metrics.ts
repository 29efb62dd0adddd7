/** Counters of logins, and of users that are locked, for Prometheus; see docs/metrics.md. No label names anybody. */
import type { Clock } from '@keelson/clock';
import { Counter, type MetricsRegistry, registerSampled } from '@keelson/metrics';
import type { Logins } from './login-operations.ts';

/**
 * `token`: it has its token; `second_factor`: it waits for one; `refused`; `limited`: too many at a time; `failed`: the
 * server is at fault.
 */
const RESULTS = ['token', 'second_factor', 'refused', 'limited', 'failed'] as const;
type LoginResult = (typeof RESULTS)[number];

const RESULT_OF_STATUS: ReadonlyMap<number, LoginResult> = new Map([[429, 'limited']]);
const MIN_REFUSAL = 400;
const MIN_FAILURE = 500;
const METHOD_NOT_ALLOWED = 405;

/** Requests below a mount that end a login. Whoever polls is refused until there is an answer. */
const ENDS_A_LOGIN = /^\/(?:login(?:\/|$)|oidc\/callback$)/;

export interface LoginMetrics {
  /** Counts the logins of a method for which sys makes tokens. */
  counting(method: string, logins: Logins): Logins;
  /** Counts a request that was answered. @param path below the mount */
  answered(method: string, path: string, status: number): void;
}

const hasRequirement = (authJson: string): boolean => {
  const { mfa_requirement: requirement } = JSON.parse(authJson) as {
    readonly mfa_requirement?: object | null;
  };
  return requirement !== undefined && requirement !== null;
};

export const createLoginMetrics = (
  registry: MetricsRegistry,
  methods: readonly string[],
): LoginMetrics => {
  const counter = new Counter({
    name: 'keelson_logins_total',
    help: 'Logins by their method and result.',
    labelNames: ['method', 'result'],
    registers: [registry],
  });
  // A rate needs a value before the first login.
  for (const method of methods)
    for (const result of RESULTS) counter.labels({ method, result }).inc(0);
  return {
    counting: (method, logins) => ({
      login: async (request) => {
        const answer = await logins.login(request);
        const result = hasRequirement(answer.authJson) ? 'second_factor' : 'token';
        counter.labels({ method, result }).inc();
        return answer;
      },
    }),
    answered: (method, path, status) => {
      if (status < MIN_REFUSAL || status === METHOD_NOT_ALLOWED || !ENDS_A_LOGIN.test(path)) return;
      const result = RESULT_OF_STATUS.get(status) ?? (status >= MIN_FAILURE ? 'failed' : 'refused');
      counter.labels({ method, result }).inc();
    },
  };
};

/** @param countLocked of all mounts */
export const registerLockedUsers = (
  registry: MetricsRegistry,
  clock: Clock,
  countLocked: () => Promise<number>,
): void =>
  registerSampled(
    registry,
    clock,
    { keelson_users_locked: { help: 'Users that too many failed logins have locked.' } },
    async () => ({ keelson_users_locked: await countLocked() }),
  );
