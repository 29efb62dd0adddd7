/** Settings of a configuration of dynamic credentials: environment variables of the workspace, with a tag or without. */

export interface Settings {
  /** Name of the configuration in messages to people: "VAULT", "VAULT_TAG". */
  readonly name: string;
  /** The value of `TFC_…`; "" if there is none. */
  read(name: string): string;
  /** @throws Error for people, if there is none or it has other characters */
  require(name: string, allowed?: RegExp): string;
  /** The value for this phase: `TFC_VAULT_PLAN_ROLE`, else `TFC_VAULT_RUN_ROLE`. @throws Error for people */
  requireOfPhase(toName: (phase: string) => string, allowed?: RegExp): string;
}

const withTag = (name: string, tag: string): string => (tag === '' ? name : `${name}_${tag}`);

export const settingsOf = (
  environment: Readonly<Record<string, string>>,
  { purpose, tag }: { readonly purpose: string; readonly tag: string },
  phase: 'plan' | 'apply',
): Settings => {
  const read = (name: string): string =>
    environment[withTag(name, tag)] ?? environment[name.replace('TFC_', 'TFC_DEFAULT_')] ?? '';
  const requireAllowed = (name: string, value: string, allowed?: RegExp): string => {
    if (value === '')
      throw new Error(
        `${withTag(name, tag)} is not set, which ${withTag(`TFC_${purpose}_PROVIDER_AUTH`, tag)} needs.`,
      );
    if (allowed !== undefined && !allowed.test(value))
      throw new Error(`${withTag(name, tag)} has characters that it may not have.`);
    return value;
  };
  return {
    name: withTag(purpose, tag),
    read,
    require: (name, allowed) => requireAllowed(name, read(name), allowed),
    requireOfPhase: (toName, allowed) => {
      const own = toName(phase.toUpperCase());
      const name = read(own) === '' ? toName('RUN') : own;
      return requireAllowed(name, read(name), allowed);
    },
  };
};
