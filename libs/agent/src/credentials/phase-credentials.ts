/** With what a phase signs in elsewhere: the tokens of its run, and what is made of them before its code is executed. */
import type { PhaseAttributes, WorkloadToken } from '../control-plane.ts';

export interface PhaseCredentials {
  /** Variables of the tool, which those of the workspace do not replace. */
  readonly environment: Readonly<Record<string, string>>;
  /** Texts that do not belong in the log. */
  readonly secrets: readonly string[];
}

export const NO_CREDENTIALS: PhaseCredentials = { environment: {}, secrets: [] };

const nameOf = ({ purpose, tag }: WorkloadToken): string => {
  const name =
    purpose === 'WORKLOAD_IDENTITY'
      ? 'TFC_WORKLOAD_IDENTITY_AUDIENCE'
      : `TFC_${purpose}_WORKLOAD_IDENTITY_AUDIENCE`;
  return tag === '' ? name : `${name}_${tag}`;
};

const requireIssued = (token: WorkloadToken): void => {
  if (token.token === '')
    throw new Error(
      `There is no workload identity token for ${nameOf(token)}: an audience has 1 to 1024 characters, and a phase has up to 32 tokens.`,
    );
};

/** The credentials of a phase. @throws Error for people, if one of them cannot be had */
export const obtainCredentials = (attributes: PhaseAttributes): PhaseCredentials => {
  const tokens = attributes['workload-identity-tokens'] ?? [];
  tokens.forEach(requireIssued);
  const ofRun = tokens.filter(({ purpose }) => purpose === 'WORKLOAD_IDENTITY');
  return {
    environment: Object.fromEntries(
      ofRun.map(({ tag, token }) => [
        tag === '' ? 'TFC_WORKLOAD_IDENTITY_TOKEN' : `TFC_WORKLOAD_IDENTITY_TOKEN_${tag}`,
        token,
      ]),
    ),
    secrets: tokens.map(({ token }) => token),
  };
};
