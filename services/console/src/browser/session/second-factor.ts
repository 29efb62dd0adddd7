/** The second factor that a login waits for. */
import type { PasskeyQuestion } from './passkey.ts';

export interface FactorMethod {
  readonly id: string;
  readonly name: string;
  readonly uses_passcode: boolean;
  /** The question for a passkey; null if the person has none, absent for passcodes. */
  readonly options?: PasskeyQuestion | null;
}

/** One of the methods is enough. */
export interface Constraint {
  readonly name: string;
  readonly methods: readonly FactorMethod[];
}

/** One passcode or passkey for each method that is used, by its id. */
export type FactorAnswers = Readonly<Record<string, readonly (string | object)[]>>;

export interface SecondFactor {
  /** Names the login to the server. */
  readonly requestId: string;
  readonly namespace: string;
  readonly constraints: readonly Constraint[];
}

/** Called with the second factor that a login waits for; undefined if it waits for none. */
export type OnFactor = (factor: SecondFactor | undefined) => void;

export interface Login {
  readonly auth: {
    readonly client_token: string;
    readonly mfa_requirement: {
      readonly mfa_request_id: string;
      readonly mfa_constraints: Readonly<Record<string, { readonly any: readonly FactorMethod[] }>>;
    } | null;
  };
}

/** Undefined for a login that has its token. */
export const secondFactorOf = ({ auth }: Login, namespace: string): SecondFactor | undefined => {
  const requirement = auth.mfa_requirement;
  return requirement === null
    ? undefined
    : {
        requestId: requirement.mfa_request_id,
        namespace,
        constraints: Object.entries(requirement.mfa_constraints).map(([name, { any }]) => ({
          name,
          methods: any,
        })),
      };
};
